package comment

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// TestTitleOfAWaitingHead holds that the title of a head tells of the command that applies it, or of the merge where none does.
func TestTitleOfAWaitingHead(t *testing.T) {
	t.Parallel()
	plan := func(behind *Behind) ProjectStatus {
		return ProjectStatus{Name: "app", Standing: Ready, Plan: someHash, Counts: counting.Counts{Add: 1}, Behind: behind}
	}
	missing := unknownTree()
	held := plan(nil)
	held.Required = &missing
	own := plan(&Behind{On: []string{"net"}, Left: []string{"net"}, OnMerge: []string{"net"}})
	destroyed := plan(&Behind{On: []string{"net"}, Left: []string{"net"}, OnMerge: []string{"net"}, Destroys: true})
	onMerge := ProjectStatus{Name: "net", Standing: OnMerge, ByMerge: true, Plan: someHash, Counts: counting.Counts{Add: 1}}
	const waits, merge = "Waits for lockstep apply: ", "To be applied after the merge: "
	for _, test := range []struct {
		projects []ProjectStatus
		enforced bool
		want     string
	}{
		{[]ProjectStatus{plan(nil), onMerge}, false, waits + "1 of 2 projects, 1 to add, 0 to change, 0 to destroy"},
		{[]ProjectStatus{own, onMerge}, false, merge + "1 of 2 projects, 1 to add, 0 to change, 0 to destroy"},
		{[]ProjectStatus{own, onMerge}, true, "The order has to be merged first: 1 of 2 projects, 1 to add, 0 to change, 0 to destroy"},
		{[]ProjectStatus{destroyed, onMerge}, true, merge + "1 of 2 projects, 1 to add, 0 to change, 0 to destroy"},
		{[]ProjectStatus{own, plan(nil), onMerge}, true, waits + "1 of 3 projects, 1 to add, 0 to change, 0 to destroy"},
		{[]ProjectStatus{held, onMerge}, true, waits + "1 of 2 projects, 1 to add, 0 to change, 0 to destroy"}, // GitHub asks for what is missing
	} {
		h := Head{Status: Status{Projects: test.projects}, Standing: HeadWaiting, Enforced: test.enforced}
		if got := h.Title(255); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestTitleOfFailures holds that the title of a head tells of each kind of failure.
func TestTitleOfFailures(t *testing.T) {
	t.Parallel()
	plan, apply, left, done := ProjectStatus{Standing: PlanFailed}, ProjectStatus{Standing: ApplyFailed}, ProjectStatus{Standing: NotApplied}, ProjectStatus{Standing: Applied}
	for _, test := range []struct {
		at       HeadStanding
		projects []ProjectStatus
		want     string
	}{
		{HeadPlanFailed, []ProjectStatus{plan, done}, "Planning failed: 1 of 2 projects"},
		{HeadPlanFailed, []ProjectStatus{plan, apply, apply}, "Planning failed: 1 of 3 projects; 2 with a failed apply"},
		{HeadPlanFailed, []ProjectStatus{plan, left}, "Planning failed: 1 of 2 projects; 1 merged, but not applied"},
		{HeadApplyFailed, []ProjectStatus{apply, plan, left}, "The apply failed: 1 of 3 projects; 1 not planned; 1 merged, but not applied"},
		{HeadPlanFailed, []ProjectStatus{plan, {Standing: Blocked}}, "Planning failed: 1 of 2 projects; 1 blocked"},
		{HeadApplied, []ProjectStatus{done}, "Applied: 1 project, 0 added, 0 changed, 0 destroyed"},
	} {
		if got := (Head{Status: Status{Projects: test.projects}, Standing: test.at}).Title(255); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
