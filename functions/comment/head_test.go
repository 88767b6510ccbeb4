package comment

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// TestVerdictOnHead holds that the title of a head, and the headline of the comment, count the projects by their states: failures and denials
// first, then those that need a person.
func TestVerdictOnHead(t *testing.T) {
	t.Parallel()
	plan := func(s Standing) ProjectStatus {
		return ProjectStatus{Name: "app", Standing: s, PlanSummary: PlanSummary{Hash: someHash, Counts: counting.Counts{Add: 1}}}
	}
	lacks := func(why Standing) ProjectStatus {
		rule := map[Standing]rulings.Ruling{
			Denied:        {Rule: rulings.Policy, Outcome: rulings.Fails, Wanted: []string{"ranges"}, Against: []rulings.Against{{Why: rulings.Denied}}},
			needsApproval: {Rule: rulings.Approvals, Outcome: rulings.Fails, Want: 1},
			waiting:       {Rule: rulings.Labels, Outcome: rulings.Fails, Wanted: []string{"go"}},
			held:          {Rule: rulings.MaxChanges, Outcome: rulings.Fails, Want: 1},
		}[why]
		p := plan(Ready)
		p.Required = &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{rule}}
		return p
	}
	after := plan(Ready)
	after.Behind = &Behind{On: []string{"net"}, Left: []string{"net"}, OnMerge: []string{"net"}}
	lock := plan(Blocked)
	lock.Locked, lock.LockedBy = true, 8
	both := lacks(Denied)
	both.Standing, both.BlockedBy = Blocked, 8
	const sum = " – 1 to add, 0 to change, 0 to destroy"
	for _, test := range []struct {
		projects []ProjectStatus
		want     string
	}{
		{[]ProjectStatus{plan(Ready)}, "1 project ready to apply" + sum},
		{[]ProjectStatus{plan(Ready), plan(NoChanges), plan(NoChanges)}, "1 project ready to apply (1 to add, 0 to change, 0 to destroy), 2 up to date"},
		{[]ProjectStatus{plan(Ready), plan(OnMerge)}, "1 project ready to apply, 1 applies on merge"},
		{[]ProjectStatus{after, plan(OnMerge), plan(OnMerge)}, "2 projects apply on merge, 1 ready to apply after the merge"},
		{[]ProjectStatus{plan(Applied)}, "1 project applied – 0 added, 0 changed, 0 destroyed"},
		{[]ProjectStatus{plan(NoChanges), plan(NoChanges)}, "2 projects up to date"},
		{[]ProjectStatus{plan(NotApplied), plan(PlanFailed), plan(ApplyFailed), plan(ApplyFailed)}, "2 projects failed to apply, 1 failed to plan, 1 merged, not applied"},
		{[]ProjectStatus{plan(Ready), lock, plan(Blocked), lacks(held), lacks(waiting), lacks(needsApproval), lacks(Denied), plan(PlanFailed)},
			"1 project failed to plan, 1 denied, 1 needs approval, 1 locked by another pull request, 2 blocked, 1 waiting for a requirement, 1 ready to apply"},
		{[]ProjectStatus{lacks(Denied), both}, "2 projects denied – 2 to add, 0 to change, 0 to destroy"},
	} {
		if got := (Head{Status: Status{Projects: test.projects}, Standing: HeadWaiting}).Title(255); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	for _, test := range []struct {
		p    ProjectStatus
		want string
	}{
		{lacks(Denied), "Denied by policy ranges" + sum}, {both, "Denied by policy ranges" + sum}, {lacks(needsApproval), "Needs approval" + sum},
		{lacks(waiting), "Waiting for label go" + sum}, {lacks(held), "Blocked by the limit max_changes" + sum}, {lock, "Locked by #8" + sum},
	} {
		if got := (Check{ProjectStatus: test.p}).Title(255); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	if got := (Check{ProjectStatus: ProjectStatus{Standing: Awaiting, Queueing: Queueing{After: []string{strings.Repeat("ä", 300)}}}}).Title(255); len(got) > 255 || !utf8.ValidString(got) {
		t.Errorf("a long title is %q", got)
	}
}
