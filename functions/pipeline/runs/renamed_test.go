package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestRenamedByBase is the table of runs whose projects the base branch has by another name, and of what becomes of them once they are
// planned by that.
func TestRenamedByBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what           string
		run            Run
		renamed, ended Phase // New: it stays as it is
	}{
		{"planned", Run{Phase: Planned}, Stale, Superseded},
		{"failed", Run{Phase: PlanFailed}, PlanFailed, Superseded},
		{"out of date", Run{Phase: Stale}, Stale, Superseded},
		{"failed to apply", Run{Phase: ApplyFailed}, ApplyFailed, Superseded},
		{"stopped", Run{Phase: Stopped}, Stopped, Superseded},
		{"applied", Run{Phase: Applied}, Applied, New},
		{"merged", Run{Phase: Dropped, End: End{Was: Planned, Fate: Merged}}, Dropped, Superseded},
		{"merged, applied", Run{Phase: Dropped, End: End{Was: Applied, Fate: Merged}}, Dropped, New},
		{"merged, failed to apply", Run{Phase: Dropped, End: End{Was: ApplyFailed, Fate: Merged}}, Dropped, Superseded},
		{"gone before", Run{Phase: Superseded, End: End{Fate: Gone}}, Superseded, New},
		{"to be planned", Run{Phase: Queued}, New, New},
		{"being planned", Run{Phase: Planning}, New, New},
		{"to be applied", Run{Phase: ApplyQueued}, New, New},
		{"being applied", Run{Phase: Applying}, New, New},
		{"handed over", Run{Phase: Continuing}, New, New},
		{"removed", Run{Phase: Planned, Spec: Spec{Removed: true}}, New, New},
		{"known", Run{Phase: Stale, End: End{EndSummary: comment.EndSummary{Renamed: "network"}}}, New, Superseded},
	} {
		r, ok := RenamedByBase(test.run, "network")
		if ok != (test.renamed != New) || ok && (r.Phase != test.renamed || r.End.Renamed != "network" || r.End.Fate == Gone) {
			t.Errorf("%s: %+v, %v", test.what, r, ok)
		}
		over, ok := SupersededByRename(r)
		if ok != (test.ended != New) || ok && over.Phase != test.ended {
			t.Errorf("%s: its end: %+v, %v", test.what, over, ok)
		}
	}
}

// TestRenamedInOrder holds that a plan under a former name keeps back what depends on the project, and that one that is applied does not.
func TestRenamedInOrder(t *testing.T) {
	t.Parallel()
	for run, want := range map[[2]Phase]bool{
		{Stale}: true, {ApplyFailed}: true, {Stopped}: true, {Applied}: false, {Superseded}: false, {Dropped, Planned}: true, {Dropped, Applied}: false,
	} {
		o := NewOrder()
		o.Base = map[string][]string{"app": {"network"}}
		o.Add(Run{ID: ID{Project: "net"}, Phase: run[0], Spec: Spec{Head: "1"}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}, End: End{Was: run[1], Fate: Merged, EndSummary: comment.EndSummary{Renamed: "network"}}}, "1")
		app := Run{ID: ID{Project: "app"}, Phase: Planned, Spec: Spec{Head: "1"}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
		o.Add(app, "1")
		if _, left, again := o.before(app, o.Edges()); (len(left) == 1 && len(again) == 1) != want {
			t.Errorf("%v: %v is left, %v to be planned again", run, left, again)
		}
	}
}

// TestCounted is the table of runs that stand for a project of a head.
func TestCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		run  Run
		want bool
	}{
		{Run{Phase: Planned, Spec: Spec{Head: "1"}}, true},
		{Run{Phase: Planned, Spec: Spec{Head: "0"}}, false},
		{Run{Phase: Planned, Spec: Spec{Head: "1", Beside: true}}, false},
		{Run{Phase: Superseded, Spec: Spec{Head: "1"}}, false},
		{Run{Phase: Superseded, Spec: Spec{Head: "1"}, End: End{Fate: Gone}}, true},
		{Run{Phase: Superseded, Spec: Spec{Head: "1"}, End: End{EndSummary: comment.EndSummary{Renamed: "network"}}}, false},
		{Run{Phase: Stale, Spec: Spec{Head: "1"}, End: End{EndSummary: comment.EndSummary{Renamed: "network"}}}, true},
	} {
		if got := CountedAtHead(test.run, "1"); got != test.want {
			t.Errorf("%+v: %v", test.run, got)
		}
	}
}

// TestOnceMerged holds that what comes after a plan which nobody can apply before the merge is applied after it, too, and that no other is.
func TestOnceMerged(t *testing.T) {
	t.Parallel()
	o := NewOrder()
	o.Base = map[string][]string{"app": {"network"}, "web": {"app"}, "dns": {"db"}}
	net := Run{ID: ID{Project: "network"}, Phase: Planned, Spec: Spec{Head: "1"}, Address: Address{Owner: "net"}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
	all := []Run{net}
	for _, name := range []string{"app", "web", "db", "dns"} {
		all = append(all, Run{ID: ID{Project: name}, Phase: Planned, Spec: Spec{Head: "1"}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}})
	}
	all[1].Spec.ApplyOn = project.OnMerge
	for _, r := range all {
		o.Add(r, "1")
	}
	for i, want := range []comment.Standing{comment.OnceMerged, comment.OnceMerged, comment.OnceMerged, comment.Ready, comment.Ready} {
		p := Status(all[i])
		ComesAfter(&p, o.PredecessorsOf()(all[i]))
		if p.Standing != want {
			t.Errorf("%s: %s, want %s", all[i].Project, p.Standing, want)
		}
	}
}
