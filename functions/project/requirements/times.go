package requirements

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a Lambda function may lack time zone data
)

// A Window is a weekly time span on some days, such as "Mon-Fri 08:00-17:00 Europe/Berlin". It is stored as
// text.
type Window struct{ Text string }

// A Freeze is a time span in which a command is not allowed, with the reason. It is stored as text.
type Freeze struct{ Text string }

// days are the days of the week, as they are written.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// week is a parsed Window.
type week struct {
	on       [7]bool
	from, to time.Duration // since midnight; if to is not after from, it is on the next day
	zone     *time.Location
}

const windowForm = `DAYS HH:MM-HH:MM ZONE, as in "Mon-Fri 08:00-17:00 Europe/Berlin" or "daily 22:00-04:00 UTC"`

// parseWindow parses the text of a Window.
func parseWindow(text string) (w week, err error) {
	words := strings.Fields(text)
	if len(words) == 2 {
		words = append(words, "UTC")
	}
	if len(words) != 3 {
		return w, fmt.Errorf("%q is not %s", text, windowForm)
	}
	if w.on, err = parseDays(words[0]); err != nil {
		return w, err
	}
	from, to, ok := strings.Cut(words[1], "-")
	if !ok {
		return w, fmt.Errorf("%q is not a span of time: it has the form HH:MM-HH:MM", words[1])
	}
	if w.from, err = clock(from); err == nil {
		w.to, err = clock(to)
	}
	if err == nil && (w.from == w.to || w.from == 24*time.Hour) {
		err = fmt.Errorf("%q is no span of time: a whole day is 00:00-24:00", words[1])
	}
	if err != nil {
		return w, err
	}
	w.zone, err = zone(words[2])
	return w, err
}

func parseDays(text string) (on [7]bool, err error) {
	if fold(text) == "daily" {
		return [7]bool{true, true, true, true, true, true, true}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, span := strings.Cut(part, "-")
		if !span {
			last = first
		}
		from, to := day(first), day(last)
		if from < 0 || to < 0 {
			return on, fmt.Errorf("%q is no day: they are Mon, Tue, Wed, Thu, Fri, Sat, Sun and daily, in lists with commas and spans with a hyphen", part)
		}
		for d := from; ; d = (d + 1) % 7 {
			if on[d] = true; d == to {
				break
			}
		}
	}
	return on, nil
}

func day(text string) int {
	for i, d := range days {
		if fold(text) == d {
			return i
		}
	}
	return -1
}

func clock(text string) (time.Duration, error) {
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time of the day: it has the form HH:MM", text)
	}
	return t.Sub(t.Truncate(24 * time.Hour)), nil
}

func zone(name string) (*time.Location, error) {
	if name == "Local" || name == "" {
		return nil, fmt.Errorf("%q is not a time zone: write one as Europe/Berlin, or UTC", name)
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time zone: write one as Europe/Berlin, or UTC", name)
	}
	return z, nil
}

// Open reports whether a time is in the window, in the window's time zone. The beginning belongs to the window,
// the end does not. A window with an invalid text is never open.
func (w Window) Open(now time.Time) bool {
	x, err := parseWindow(w.Text)
	if err != nil {
		return false
	}
	now = now.In(x.zone)
	at := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute + time.Duration(now.Second())*time.Second
	today, yesterday := int(now.Weekday()), (int(now.Weekday())+6)%7
	if x.from < x.to {
		return x.on[today] && at >= x.from && at < x.to
	}
	return x.on[today] && at >= x.from || x.on[yesterday] && at < x.to
}

// span is a parsed Freeze; reason may be "".
type span struct {
	from, to time.Time
	reason   string
}

const freezeForm = `FROM/TO ZONE: REASON, as in "2026-12-20/2027-01-06 Europe/Berlin: year's end" or "2026-05-01T18:00/2026-05-02T06:00"`

// parseFreeze parses the text of a Freeze. If its end is a date, the whole day is included.
func parseFreeze(text string) (s span, err error) {
	head, reason, _ := strings.Cut(text, ": ")
	s.reason = strings.TrimSpace(reason)
	words := strings.Fields(head)
	if len(words) == 1 {
		words = append(words, "UTC")
	}
	from, to, ok := "", "", false
	if len(words) == 2 {
		from, to, ok = strings.Cut(words[0], "/")
	}
	if !ok {
		return s, fmt.Errorf("%q is not %s", text, freezeForm)
	}
	z, err := zone(words[1])
	if err != nil {
		return s, err
	}
	if s.from, err = moment(from, z, false); err == nil {
		s.to, err = moment(to, z, true)
	}
	if err == nil && !s.from.Before(s.to) {
		err = fmt.Errorf("%q ends before it begins", text)
	}
	return s, err
}

func moment(text string, z *time.Location, end bool) (time.Time, error) {
	if t, err := time.ParseInLocation("2006-01-02", text, z); err == nil {
		if end {
			t = t.AddDate(0, 0, 1)
		}
		return t, nil
	}
	t, err := time.ParseInLocation("2006-01-02T15:04", text, z)
	if err != nil {
		return t, fmt.Errorf("%q is not a day or a time: it has the form 2026-12-20 or 2026-12-20T18:00", text)
	}
	return t, nil
}

// Holds reports whether a time is in the freeze. A freeze with an invalid text includes every time.
func (f Freeze) Holds(now time.Time) bool {
	s, err := parseFreeze(f.Text)
	return err != nil || !now.Before(s.from) && now.Before(s.to)
}
