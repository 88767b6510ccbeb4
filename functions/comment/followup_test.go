package comment

import "testing"

// TestFollowUp holds when an issue is opened, and when nothing is left, for each standing of one project whose merge
// applies it.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	needed := map[Standing]bool{}
	for _, s := range []Standing{Ready, Blocked, Renewed, PlanFailed, PlanStopped, ApplyFailed, Stopped, Stale, NotApplied, PartPlanned, PartApplied} {
		needed[s] = true
	}
	done := map[Standing]bool{Applied: true, NoChanges: true, Previewed: true, Superseded: true, Closed: true}
	for _, s := range Standings() {
		f := FollowUp{Number: 7, Status: Status{Merged: true, Projects: []ProjectStatus{{Name: "app", Standing: s, MergeRole: MergeRole{MergeApplies: true}}}}}
		if f.Needed() != needed[s] {
			t.Errorf("%s: needed is %v", s, f.Needed())
		}
		if left := len(f.Left()) > 0; left == done[s] {
			t.Errorf("%s: left is %v", s, left)
		}
		if f.Merged = false; f.Needed() {
			t.Errorf("%s: needed before the merge", s)
		}
		f.Merged, f.Projects[0].MergeApplies = true, false
		if f.Needed() || len(f.Left()) > 0 {
			t.Errorf("%s: needed for a project that comments apply", s)
		}
	}
}
