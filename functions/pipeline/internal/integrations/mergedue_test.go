package integrations

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

const head, before = "2222222222222222222222222222222222222222", "1111111111111111111111111111111111111111"

// TestMergeDue is the table of the facts that stop a merge, each alone.
func TestMergeDue(t *testing.T) {
	t.Parallel()
	run := func(at string, phase runs.Phase, applyable bool) runs.Run {
		return runs.Run{Phase: phase, Spec: runs.Spec{Head: at}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: applyable}}}
	}
	part := run(head, runs.Applied, true)
	part.Spec.Options = grammar.Options{Targets: []string{"x.a"}}
	replaced := run(head, runs.Applied, true)
	replaced.Spec.Options = grammar.Options{Replaces: []string{"x.a"}}
	applied, unchanged := run(head, runs.Applied, true), run(head, runs.Planned, false)
	destroyed, looked := run(head, runs.Applied, true), run(head, runs.Planned, false)
	destroyed.Spec.Options, looked.Spec.Options = grammar.Options{Destroy: true}, grammar.Options{RefreshOnly: true}
	upheld := looked
	upheld.Plan.Upheld = true
	failed := upheld
	failed.Phase = runs.PlanFailed
	removed := destroyed
	removed.Spec.Removed = true
	type facts struct {
		pull github.PullRequest
		look ledger.Look
		runs []runs.Run
		kept map[string]bool
	}
	for name, test := range map[string]struct {
		change func(*facts)
		want   bool
	}{
		"all are applied":               {func(f *facts) {}, true},
		"one alone":                     {func(f *facts) { f.runs = f.runs[:1] }, true},
		"nothing was to do":             {func(f *facts) { f.runs = []runs.Run{unchanged} }, false},
		"planned again after the apply": {func(f *facts) { f.runs, f.kept = []runs.Run{unchanged}, map[string]bool{unchanged.Key(): true} }, true},
		"another one was applied":       {func(f *facts) { f.runs, f.kept = []runs.Run{unchanged}, map[string]bool{"x": true} }, false},
		"planned again, and there is a change": {func(f *facts) {
			f.runs, f.kept = []runs.Run{run(head, runs.Planned, true)}, map[string]bool{unchanged.Key(): true}
		}, false},
		"one has no plan of this head yet":      {func(f *facts) { f.look.Projects, f.runs = 2, []runs.Run{applied, run(before, runs.Applied, true)} }, false},
		"both have":                             {func(f *facts) { f.look.Projects = 2 }, true},
		"no projects":                           {func(f *facts) { f.runs = nil }, false},
		"it has mistakes in policies":           {func(f *facts) { f.look.Policies = "x" }, false},
		"it is closed":                          {func(f *facts) { f.pull.Open = false }, false},
		"it is merged":                          {func(f *facts) { f.pull.Open, f.pull.Merged = false, true }, false},
		"a draft":                               {func(f *facts) { f.pull.Draft = true }, false},
		"from a fork":                           {func(f *facts) { f.pull.Head.Repo.ID = 2 }, false},
		"a new head":                            {func(f *facts) { f.pull.Head.SHA = before }, false},
		"another base branch":                   {func(f *facts) { f.pull.Base.Ref = "release" }, false},
		"closed, and open again":                {func(f *facts) { f.look.Closed = true }, false},
		"a conflict":                            {func(f *facts) { f.look.Conflict = true }, false},
		"its projects are unknown":              {func(f *facts) { f.look.Problem = "x" }, false},
		"nothing of it is planned":              {func(f *facts) { f.look.Refused = "x" }, false},
		"a plan waits":                          {func(f *facts) { f.runs = append(f.runs, run(head, runs.Planned, true)) }, false},
		"a plan is made":                        {func(f *facts) { f.runs = append(f.runs, run(head, runs.Planning, false)) }, false},
		"a plan is queued":                      {func(f *facts) { f.runs = append(f.runs, run(head, runs.Queued, false)) }, false},
		"a plan failed":                         {func(f *facts) { f.runs = append(f.runs, run(head, runs.PlanFailed, false)) }, false},
		"an apply failed":                       {func(f *facts) { f.runs = append(f.runs, run(head, runs.ApplyFailed, true)) }, false},
		"an apply is queued":                    {func(f *facts) { f.runs = append(f.runs, run(head, runs.ApplyQueued, true)) }, false},
		"an apply is under way":                 {func(f *facts) { f.runs = append(f.runs, run(head, runs.Applying, true)) }, false},
		"an apply was stopped":                  {func(f *facts) { f.runs = append(f.runs, run(head, runs.Stopped, true)) }, false},
		"a plan is out of date":                 {func(f *facts) { f.runs = append(f.runs, run(head, runs.Stale, true)) }, false},
		"dropped when it was closed":            {func(f *facts) { f.runs = append(f.runs, run(head, runs.Dropped, true)) }, false},
		"applied for another branch":            {func(f *facts) { f.runs[0].Asked.Into = "release" }, false},
		"applied for this branch":               {func(f *facts) { f.runs[0].Asked.Into = "main" }, true},
		"a look at an applied head that failed": {func(f *facts) { f.runs = append(f.runs, failed) }, true},
		"a look at an applied head":             {func(f *facts) { f.runs = append(f.runs, upheld) }, true},
		"an apply of a part":                    {func(f *facts) { f.runs = append(f.runs, part) }, false},
		"an apply with -destroy":                {func(f *facts) { f.runs = append(f.runs, destroyed) }, false},
		"an apply of a removed project":         {func(f *facts) { f.runs = append(f.runs, removed) }, true},
		"a plan with -refresh-only":             {func(f *facts) { f.runs = append(f.runs, looked) }, false},
		"an apply with a replacement":           {func(f *facts) { f.runs = append(f.runs, replaced) }, true},
		"a project that the head leaves alone":  {func(f *facts) { f.runs = append(f.runs, run(before, runs.Superseded, true)) }, true},
		"a plan of an earlier head":             {func(f *facts) { f.runs = append(f.runs, run(before, runs.Planned, true)) }, true},
		"an apply of an earlier head":           {func(f *facts) { f.runs = append(f.runs, run(before, runs.Applying, true)) }, false},
	} {
		f := facts{
			github.PullRequest{Open: true, Head: github.Branch{Repo: github.Repo{ID: 1}, Ref: "b", SHA: head}, Base: github.Branch{Repo: github.Repo{ID: 1}, Ref: "main"}},
			ledger.Look{Head: head, Into: "main"}, []runs.Run{applied, unchanged}, nil,
		}
		test.change(&f)
		if got := mergeDue(f.pull, f.look, f.runs, f.kept); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
