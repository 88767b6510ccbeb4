package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// An Ongoing is an apply or a plan in progress, as it was at one moment. It has addresses and times, and no values
// of attributes. The zero value means that nothing is known.
type Ongoing struct {
	// Progress counts the changes of an apply. For a plan, it counts the objects that are read and planned: resource
	// instances and data sources. For a plan, Of is an estimate, because the number of instances is known only at the
	// end; 0 means no estimate.
	Progress
	// Planning is set for a plan.
	Planning bool `json:",omitempty"`
	// Began is the time at which the apply began, in its first process, or at which the plan began. At is the moment
	// that the Ongoing describes.
	Began, At time.Time
	// UnderWay are the changes, or the reads of a plan, that have begun and not ended, the longest-running first, at
	// most MaxUnderWay. More is the number of the others.
	UnderWay []ChangeUnderWay
	More     int
	// Ends is about when the apply or the plan ends, estimated from earlier ones; zero if that is not known.
	Ends time.Time
	// Next is the time of the next update; zero if people need not know. NoNext is set if no further update is
	// available at present.
	Next   time.Time
	NoNext bool `json:",omitempty"`
	// Log has the latest log lines of the providers. Unlogged is the number of omitted lines. Last is set in
	// the last report of a plan or an apply: only then are all its secrets known. All three are for the page only.
	Log      []LogLine `json:",omitempty"`
	Unlogged int       `json:",omitempty"`
	Last     bool      `json:",omitempty"`
}

// A ChangeUnderWay is a change of one object, or the read of one object, that has begun and not ended.
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
	Reading    Doing = "reading"
)

// MaxUnderWay is the maximum number of changes that an [Ongoing] lists.
const MaxUnderWay = 5

// maxUnderWayAddress is the maximum length of an address in a [ChangeUnderWay], in bytes.
const maxUnderWayAddress = 200

// maxCounted is the largest number of objects that people read. No state has so many.
const maxCounted = 10_000_000

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
	o.Of = min(max(o.Of, 0), maxCounted)
	o.Done = min(max(o.Done, 0), maxCounted)
	if o.Of > 0 || !o.Planning {
		o.Done = min(o.Done, o.Of)
	}
	list := slices.Clone(o.UnderWay[:min(len(o.UnderWay), MaxUnderWay)])
	list = slices.DeleteFunc(list, func(c ChangeUnderWay) bool {
		return !slices.Contains([]Doing{Creating, Updating, Destroying, Invoking, Reading}, c.Action)
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
	o.Log, o.Unlogged = boundedLog(o.Log, now, hide), min(max(o.Unlogged, 0), maxCounted)
	o.UnderWay, o.More = list, min(max(o.More, 0), maxCounted)
	if !o.Planning {
		o.More = min(o.More, o.Of)
	}
	if o.Ends.Before(now) || o.Ends.After(now.Add(maxEstimate)) {
		o.Ends = time.Time{}
	}
	return o
}

// Same reports whether two Ongoings have the same changes done and under way. Their estimates may differ.
func (o Ongoing) Same(other Ongoing) bool {
	return o.Progress == other.Progress && o.Planning == other.Planning && o.More == other.More &&
		slices.EqualFunc(o.UnderWay, other.UnderWay, func(a, b ChangeUnderWay) bool {
			return a.Address == b.Address && a.Action == b.Action && a.Since.Equal(b.Since)
		})
}

// WithOngoing returns the reply r with the present progress o. It does so if r says that an apply is pending, and
// o is about an apply, or if both are about a plan. It returns any other reply unchanged.
func WithOngoing(r Reply, o Ongoing) Reply {
	if p, is := r.(Pending); is && p.Verb == map[bool]Verb{false: Apply, true: Plan}[o.Planning] {
		p.Ongoing = o
		return p
	}
	return r
}

// isOngoing reports whether a reply shows the progress of an apply or a plan.
func isOngoing(r Reply) bool {
	p, is := r.(Pending)
	return is && !p.Ongoing.Began.IsZero()
}

// ongoing returns those replies that show the progress of a plan, or those that show the progress of an apply.
func ongoing(replies []Reply, planning bool) (out []Pending) {
	for _, r := range replies {
		if isOngoing(r) && r.(Pending).Ongoing.Planning == planning {
			out = append(out, r.(Pending))
		}
	}
	return out
}

// maxInCell is the maximum number of changes under way that a line of a table lists.
const maxInCell = 2

// maxOngoing is the maximum number of applies in a table.
const maxOngoing = 50

// sumOfOngoing adds up applies in progress, or plans in progress. The sum ends when the last of them ends. Its number
// of objects is known only if the number of each of them is known.
func sumOfOngoing(all []Ongoing) Ongoing {
	sum := Ongoing{Planning: all[0].Planning, Began: all[0].Began}
	ends, total := true, true
	for _, o := range all {
		sum.Done, sum.Of, sum.At = sum.Done+o.Done, sum.Of+o.Of, o.At
		ends, total = ends && !o.Ends.IsZero(), total && o.Of > 0
		if o.Began.Before(sum.Began) {
			sum.Began = o.Began
		}
		if o.Ends.After(sum.Ends) {
			sum.Ends = o.Ends
		}
		if o.Next.After(sum.Next) {
			sum.Next = o.Next
		}
		sum.NoNext = sum.NoNext || o.NoNext
	}
	if !ends {
		sum.Ends = time.Time{}
	}
	if sum.Planning && !total {
		sum.Of = 0
	}
	return sum
}

// firstOf returns sentences about several applies or plans in progress.
func firstOf(sum Ongoing) string {
	return strings.Replace(sum.text(), "The "+sum.noun()+" began", "The first "+sum.noun()+" began", 1)
}

// ongoingTable returns one text about many applies or plans in progress: the sum of them, and a line for each.
func ongoingTable(all []Pending) string {
	var list []Ongoing
	for _, p := range all {
		list = append(list, p.Ongoing)
	}
	sum := sumOfOngoing(list)
	verb, counted := Apply, "changes done"
	if sum.Planning {
		verb, counted = Plan, "objects planned"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d projects are being %s. %s The results will appear here.\n\n", len(all), verb.Participle(), firstOf(sum))
	fmt.Fprintf(&b, "| project | %s | under way |\n|---|---|---|\n", counted)
	for _, p := range all[:min(len(all), maxOngoing)] {
		o := p.Ongoing
		if n := len(o.UnderWay); n > maxInCell {
			o.UnderWay, o.More = o.UnderWay[:maxInCell], o.More+n-maxInCell
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(p.Project), o.short(), o.underWay(cell))
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

// noun returns "apply" or "plan".
func (o Ongoing) noun() string { return map[bool]string{false: "apply", true: "plan"}[o.Planning] }

// short returns the progress as "80 of 200", for a plan as "80 of about 200" or "80"; "" if it is not known.
func (o Ongoing) short() string {
	switch {
	case o.Planning && o.Of > 0:
		return fmt.Sprintf("%d of about %d", o.Done, o.Of)
	case o.Planning && o.Done > 0:
		return strconv.Itoa(o.Done)
	case o.Planning:
		return ""
	}
	return o.Progress.short()
}

// far returns the progress as "80 of 200 changes are done" or "80 of about 200 objects are planned"; "" if it is not
// known.
func (o Ongoing) far() string {
	switch {
	case o.Planning && o.short() == "":
		return ""
	case o.Planning && (o.Of == 1 || o.Of == 0 && o.Done == 1):
		return o.short() + " object is planned"
	case o.Planning:
		return o.short() + " objects are planned"
	case o.Of == 1:
		return strings.Replace(o.Progress.text(), " done", " is done", 1)
	}
	return strings.Replace(o.Progress.text(), " done", " are done", 1)
}

// text returns sentences about the apply or the plan; "" if nothing is known.
func (o Ongoing) text() string {
	if o.Began.IsZero() {
		return ""
	}
	parts := []string{fmt.Sprintf("The %s began at %s.", o.noun(), o.clock(o.Began))}
	left := strings.TrimPrefix(o.left(), ", and ")
	switch far := o.far(); {
	case far != "":
		parts = append(parts, fmt.Sprintf("At %s, %s%s.", o.clock(o.At), far, o.left()))
	case left != "":
		parts = append(parts, fmt.Sprintf("At %s, %s.", o.clock(o.At), left))
	}
	if len(o.UnderWay) > 0 {
		parts = append(parts, "Under way: "+o.underWay(markdown.Code)+".")
	}
	if !o.Next.IsZero() {
		parts = append(parts, fmt.Sprintf("Next update at about %s.", o.clock(o.Next)))
	} else if o.NoNext {
		parts = append(parts, "Further updates wait until GitHub's limits allow them.")
	}
	return strings.Join(parts, " ")
}

// planningNotes returns what people read about plans in progress: a sentence for each project if they are few,
// otherwise one about all.
func (s Status) planningNotes() []string {
	var out []string
	var all []Ongoing
	for _, p := range s.Projects {
		if o := p.Ongoing; p.Standing == Planning && !o.Began.IsZero() {
			all = append(all, o)
			out = append(out, fmt.Sprintf("%s is being planned. %s", markdown.Code(p.Label()), o.text()))
		}
	}
	if len(all) <= fewAlike {
		return out
	}
	return []string{fmt.Sprintf("%d projects are being planned. %s", len(all), firstOf(sumOfOngoing(all)))}
}

// left returns the estimate of the rest: ", and about 6 min are left". It returns "" if there is no estimate, or
// if the apply or the plan already takes longer than estimated.
func (o Ongoing) left() string {
	left := o.Ends.Sub(o.At)
	switch {
	case o.Ends.IsZero() || left <= 0:
		return ""
	case left < time.Minute:
		return ", and less than 1 min is left"
	}
	if left < 90*time.Second {
		return ", and about 1 min is left"
	}
	return fmt.Sprintf(", and about %s are left", spell(left.Round(time.Minute)))
}

// clock returns a time for people. It has the date only if the apply or the plan takes longer than a day.
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
