package runs_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs/runstest"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestBehinds is a table of orders, and of what comes before the apply of app: all, those that nobody is about to apply, and those
// of them that are planned again first.
func TestBehinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, runs, want string }{
		{"", "app:planned net:planned", "nothing"},
		{"app>net", "app:planned", "nothing"},
		{"app>net", "app:planned net:applied", "nothing"},
		{"app>net", "app:planned net:unchanged", "nothing"},
		{"app>net", "app:planned net:planned", "[net] [net] []"},
		{"app>net", "app:planned net:planned+", "[net] [] []"},
		{"app>net", "app:planned net:applying", "[net] [] []"},
		{"app>net", "app:planned net:plan-failed", "[net] [net] [net]"},
		{"app>net app>dns", "app:planned net:planned dns:planned+", "[dns net] [net] []"},
		{"app>net net>app", "app:planned net:planned", "circle [app net app]"},
		{"net>app", "-app:planned net:planned", "[net] [net] [] destroys"},
		{"app>net", "-app:planned net:planned", "nothing"},
	} {
		r := runs.Run{ID: runs.ID{Project: "app"}, Phase: runs.Planned, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
		r.Spec.Options.Destroy = c.runs[0] == '-'
		got := "nothing"
		if b := runstest.Order(c.base, "", c.runs).PredecessorsOf()(r); b != nil && b.Cycle != nil {
			got = fmt.Sprint("circle ", b.Cycle)
		} else if b != nil {
			got = fmt.Sprint(b.On, " ", b.Left, " ", b.Again)
			if b.Destroys {
				got += " destroys"
			}
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.base, c.runs, got, c.want)
		}
	}
	if (*runs.Order)(nil).PredecessorsOf()(runs.Run{}) != nil {
		t.Error("something comes first where there is no order")
	}
}

// TestBehindTheMerge holds that a plan which the merge applies waits for nobody who applies those that the merge applies before it,
// and for somebody where it does not.
func TestBehindTheMerge(t *testing.T) {
	t.Parallel()
	run := func(name string, on project.ApplyOn) runs.Run {
		return runs.Run{ID: runs.ID{Project: name}, Phase: runs.Planned, Spec: runs.Spec{Head: runstest.Head, ApplyOn: on}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
	}
	for _, c := range []struct {
		app, net project.ApplyOn
		left     int
	}{
		{project.OnMerge, project.OnMerge, 0}, {project.OnMerge, project.OnComment, 1}, {project.OnComment, project.OnMerge, 1}, {project.OnComment, project.OnComment, 1},
	} {
		o := runs.NewOrder()
		o.Base = runstest.Edges("app>net")
		o.Add(run("net", c.net), runstest.Head)
		o.Add(run("app", c.app), runstest.Head)
		if b := o.PredecessorsOf()(run("app", c.app)); b == nil || len(b.On) != 1 || len(b.Left) != c.left {
			t.Errorf("app %s, net %s: %+v", c.app, c.net, b)
		}
	}
}
