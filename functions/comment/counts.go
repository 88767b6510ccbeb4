package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// toComeText returns the planned changes: "1 to add, 0 to change, 2 to destroy". applyable is set if the plan
// can be applied. The text then differs for a plan that changes no object, but outputs or addresses in the
// state.
func toComeText(c counting.Counts, applyable bool) string {
	switch {
	case c == (counting.Counts{}) && applyable:
		return "no changes to objects"
	case c == (counting.Counts{}):
		return "no changes"
	}
	return countsText(c, "%d to import", "%d to add", "%d to change", "%d to destroy", "%d to forget", "%d actions to invoke")
}

// sumOfPlans returns a text about planned changes, and sumOfApplies one about changes that applies have made.
// They have the same type, so that a caller can choose one.
func sumOfPlans(planned, _ counting.Counts, applyable bool) string {
	return toComeText(planned, applyable)
}
func sumOfApplies(_, done counting.Counts, _ bool) string { return madeText(done) }

// madeText returns the changes that applies have made: "1 added, 0 changed, 2 destroyed".
func madeText(c counting.Counts) string {
	text := countsText(c, "%d imported", "%d added", "%d changed", "%d destroyed", "%d forgotten", "%d actions invoked")
	if c.InvokeFailed > 0 {
		text += fmt.Sprintf(" (%d failed)", c.InvokeFailed)
	}
	return text
}

func countsText(c counting.Counts, imported, add, change, destroy, forget, invoke string) string {
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
	if c.Invoke == 1 {
		invoke = strings.Replace(invoke, "actions", "action", 1)
	}
	part(invoke, c.Invoke, false)
	return strings.Join(parts, ", ")
}

// farText returns the progress of an apply, such as "80 of 200 changes done"; "" if the progress is not known.
func farText(done, of int) string {
	switch of {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%d of 1 change done", done)
	}
	return fmt.Sprintf("%d of %d changes done", done, of)
}
