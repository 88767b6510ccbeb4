package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// An Ongoing is an apply in progress, as it was at one moment. It has addresses and times, and no values of
// attributes. The zero value means that nothing is known.
type Ongoing struct {
	Progress
	// Began is the time at which the apply began, in its first process. At is the moment that the Ongoing
	// describes.
	Began, At time.Time
	// UnderWay are the changes that have begun and not ended, the longest-running first, at most MaxUnderWay.
	// More is the number of the others.
	UnderWay []ChangeUnderWay
	More     int
	// Ends is about when the apply ends, estimated from earlier applies; zero if that is not known.
	Ends time.Time
	// Next is the time of the next update; zero if people need not know.
	Next time.Time
}

// A ChangeUnderWay is a change of one object that has begun and not ended.
type ChangeUnderWay struct {
	Address string
	Action  Doing
	Since   time.Time
}

// Doing is a word for a change under way, such as "creating". It is one of the constants below.
type Doing string

const (
	Creating   Doing = "creating"
	Updating   Doing = "updating"
	Destroying Doing = "destroying"
	Invoking   Doing = "invoking"
)

// MaxUnderWay is the maximum number of changes that an [Ongoing] lists.
const MaxUnderWay = 5

// maxUnderWayAddress is the maximum length of an address in a [ChangeUnderWay], in bytes.
const maxUnderWayAddress = 200

// maxEstimate is the longest estimate that people read.
const maxEstimate = 7 * 24 * time.Hour

// ListUnderWay adds the changes in all to o: it lists the longest-running, and counts the rest.
func (o Ongoing) ListUnderWay(all []ChangeUnderWay) Ongoing {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b ChangeUnderWay) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Address, b.Address))
	})
	n := min(len(all), MaxUnderWay)
	o.UnderWay, o.More = all[:n:n], len(all)-n
	return o
}

// Bounded returns o without everything that an honest process would not report. It limits the size of o, because
// an Ongoing can come from the process of a run, and programs of the run may control that process. hide removes
// secrets from addresses.
func (o Ongoing) Bounded(now time.Time, hide func(string) string) Ongoing {
	o.Of = max(o.Of, 0)
	o.Done = min(max(o.Done, 0), o.Of)
	list := slices.Clone(o.UnderWay[:min(len(o.UnderWay), MaxUnderWay)])
	list = slices.DeleteFunc(list, func(c ChangeUnderWay) bool {
		return !slices.Contains([]Doing{Creating, Updating, Destroying, Invoking}, c.Action)
	})
	for i, c := range list {
		c.Address = hide(c.Address)
		if len(c.Address) > maxUnderWayAddress {
			c.Address = c.Address[:maxUnderWayAddress-len("…")] + "…"
		}
		c.Address = strings.ToValidUTF8(c.Address, "")
		if c.Since.After(now) {
			c.Since = now
		}
		list[i] = c
	}
	o.UnderWay, o.More = list, min(max(o.More, 0), o.Of)
	if o.Ends.Before(now) || o.Ends.After(now.Add(maxEstimate)) {
		o.Ends = time.Time{}
	}
	return o
}

// Same reports whether two Ongoings have the same changes done and under way. Their estimates may differ.
func (o Ongoing) Same(other Ongoing) bool {
	return o.Progress == other.Progress && o.More == other.More &&
		slices.EqualFunc(o.UnderWay, other.UnderWay, func(a, b ChangeUnderWay) bool {
			return a.Address == b.Address && a.Action == b.Action && a.Since.Equal(b.Since)
		})
}

// WithOngoing returns the reply with the present progress, if it says that an apply is pending. It returns any
// other reply unchanged.
func WithOngoing(r Reply, o Ongoing) Reply {
	if p, is := r.(Pending); is && p.Verb == Apply {
		p.Ongoing = o
		return p
	}
	return r
}

// isOngoing reports whether a reply shows the progress of an apply.
func isOngoing(r Reply) bool {
	p, is := r.(Pending)
	return is && !p.Ongoing.Began.IsZero()
}

// ongoing returns those replies that show the progress of an apply.
func ongoing(replies []Reply) (out []Pending) {
	for _, r := range replies {
		if isOngoing(r) {
			out = append(out, r.(Pending))
		}
	}
	return out
}

// maxInCell is the maximum number of changes under way that a line of a table lists.
const maxInCell = 2

// maxOngoing is the maximum number of applies in a table.
const maxOngoing = 50

// ongoingTable returns one text about many applies in progress: the sum of their changes, and a line for each
// apply. It ends when the last of them ends.
func ongoingTable(all []Pending) string {
	sum := Ongoing{Began: all[0].Ongoing.Began}
	known := true
	for _, p := range all {
		o := p.Ongoing
		sum.Done, sum.Of, sum.At = sum.Done+o.Done, sum.Of+o.Of, o.At
		known = known && !o.Ends.IsZero()
		if o.Began.Before(sum.Began) {
			sum.Began = o.Began
		}
		if o.Ends.After(sum.Ends) {
			sum.Ends = o.Ends
		}
		if o.Next.After(sum.Next) {
			sum.Next = o.Next
		}
	}
	if !known {
		sum.Ends = time.Time{}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d projects are being applied. %s The results will appear here.\n\n", len(all), strings.Replace(sum.text(), "The apply began", "The first apply began", 1))
	b.WriteString("| project | changes done | under way |\n|---|---|---|\n")
	for _, p := range all[:min(len(all), maxOngoing)] {
		o := p.Ongoing
		if n := len(o.UnderWay); n > maxInCell {
			o.UnderWay, o.More = o.UnderWay[:maxInCell], o.More+n-maxInCell
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(p.Project), o.Progress.short(), o.underWay(cell))
	}
	if n := len(all) - maxOngoing; n > 0 {
		fmt.Fprintf(&b, "| and %d more | | |\n", n)
	}
	return b.String()
}

// underWay returns the changes under way. code returns an address as code.
func (o Ongoing) underWay(code func(string) string) string {
	var list []string
	for _, c := range o.UnderWay {
		list = append(list, fmt.Sprintf("%s (%s for %s)", code(c.Address), c.Action, spell(o.At.Sub(c.Since))))
	}
	text := strings.Join(list, ", ")
	if o.More > 0 {
		text += fmt.Sprintf(", and %d more", o.More)
	}
	return text
}

// text returns sentences about the apply; "" if nothing is known.
func (o Ongoing) text() string {
	if o.Began.IsZero() {
		return ""
	}
	parts := []string{fmt.Sprintf("The apply began at %s.", o.clock(o.Began))}
	if o.Of > 0 {
		be := "are"
		if o.Of == 1 {
			be = "is"
		}
		parts = append(parts, fmt.Sprintf("At %s, %s%s.", o.clock(o.At), strings.Replace(o.Progress.text(), " done", " "+be+" done", 1), o.left()))
	}
	if len(o.UnderWay) > 0 {
		parts = append(parts, "Under way: "+o.underWay(markdown.Code)+".")
	}
	if !o.Next.IsZero() {
		parts = append(parts, fmt.Sprintf("Next update at about %s.", o.clock(o.Next)))
	}
	return strings.Join(parts, " ")
}

// left returns the estimate of the rest: ", and about 6 min are left". It returns "" if it is not known, or if the
// apply takes longer than it was estimated.
func (o Ongoing) left() string {
	left := o.Ends.Sub(o.At)
	switch {
	case o.Ends.IsZero() || left <= 0:
		return ""
	case left < time.Minute:
		return ", and less than 1 min is left"
	}
	return fmt.Sprintf(", and about %s are left", spell(left.Round(time.Minute)))
}

// clock returns a time for people. It has the date only if the apply takes longer than a day.
func (o Ongoing) clock(t time.Time) string {
	if o.At.Sub(o.Began) >= 24*time.Hour {
		return t.UTC().Format("2 Jan 15:04 MST")
	}
	return t.UTC().Format("15:04 MST")
}

// spell returns a duration for people, such as "40 s", "4 min" or "1 h 10 min".
func spell(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	}
	return strings.TrimSuffix(fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute)), " 0 min")
}
