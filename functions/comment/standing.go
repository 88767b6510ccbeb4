package comment

import (
	"fmt"
	"strings"
)

// A Standing is how far a project of a pull request has come.
type Standing string

const (
	Queued      Standing = "queued" // to be planned
	Planning    Standing = "planning"
	Ready       Standing = "ready"    // planned, with something to do
	OnMerge     Standing = "on merge" // the same, and merging applies it
	NoChanges   Standing = "no changes"
	PlanFailed  Standing = "plan failed"
	ApplyQueued Standing = "apply queued"
	Applying    Standing = "applying"
	Applied     Standing = "applied"
	ApplyFailed Standing = "apply failed"
	OutOfDate   Standing = "out of date" // something moved since it was planned
	NotApplied  Standing = "not applied" // and the pull request is merged
	GivenUp     Standing = "given up"    // the pull request was closed
	Overtaken   Standing = "overtaken"   // a newer head is planned instead
)

// Counts are how many objects there are to do, or were done, of each kind.
type Counts struct{ Import, Add, Change, Destroy, Forget int }

// Plus returns the sum.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Import + d.Import, c.Add + d.Add, c.Change + d.Change, c.Destroy + d.Destroy, c.Forget + d.Forget}
}

// planned says what is to be done: "1 to add, 0 to change, 2 to destroy".
func (c Counts) planned() string {
	if c == (Counts{}) {
		return "no changes"
	}
	return c.text("%d to import", "%d to add", "%d to change", "%d to destroy", "%d to forget")
}

// done says what was done: "1 added, 0 changed, 2 destroyed".
func (c Counts) done() string {
	return c.text("%d imported", "%d added", "%d changed", "%d destroyed", "%d forgotten")
}

func (c Counts) text(imported, add, change, destroy, forget string) string {
	var parts []string
	part := func(format string, n int, always bool) {
		if always || n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	part(imported, c.Import, false)
	part(add, c.Add, true)
	part(change, c.Change, true)
	part(destroy, c.Destroy, true)
	part(forget, c.Forget, false)
	return strings.Join(parts, ", ")
}

func (p ProjectStatus) plan() string {
	switch p.Standing {
	case PlanFailed:
		return "no plan"
	case Queued, Planning, Overtaken:
		return "..."
	}
	return p.Counts.planned()
}

// calm is 0 for what somebody has to look at, and 1 for the rest.
func (p ProjectStatus) calm() int {
	switch p.Standing {
	case PlanFailed, ApplyFailed, OutOfDate, NotApplied:
		return 0
	}
	return 1
}

// standing says it in the table's last column.
func (p ProjectStatus) standing() string {
	by := ""
	if p.By != "" {
		by = " by " + Code(p.By)
	}
	switch p.Standing {
	case Queued:
		return "waits to be planned"
	case Planning:
		return "being planned"
	case Ready:
		return "waits for " + Code("lockstep apply")
	case OnMerge:
		return "is applied on merge"
	case NoChanges:
		return "nothing to do"
	case PlanFailed:
		return "**failed**"
	case ApplyQueued:
		return "waits to be applied, as asked" + by
	case Applying:
		return "being applied" + by
	case Applied:
		return "applied" + by
	case ApplyFailed:
		if p.Lost {
			return "**failed**, applied" + by + ": it did not come to its end"
		}
		if p.Remaining > 0 {
			return fmt.Sprintf("**failed**, applied%s; %s not begun", by, changes(p.Remaining))
		}
		return "**failed**, applied" + by
	case OutOfDate:
		return "**out of date**"
	case NotApplied:
		return "**not applied**"
	case GivenUp:
		return "closed, not applied"
	case Overtaken:
		return "superseded by a newer head"
	}
	panic(fmt.Sprintf("comment: there is no standing %q", p.Standing))
}
