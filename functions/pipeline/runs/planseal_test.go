package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// TestPlanSeal holds which records of a plan prove that Lockstep has made it. Somebody may have written the record.
func TestPlanSeal(t *testing.T) {
	seal := func(text []byte) string { return HashOf(append([]byte("key"), text...)) }
	made := Run{ID: ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 7}, Number: 12}, Project: "a", Workspace: "default"}, Spec: Spec{Head: "head"}, Artifacts: Artifacts{Begun: 2}, Asked: Asked{Attempt: 3}}
	made.Plan.Hash = "hash"
	made = made.SealPlan(seal)
	for name, test := range map[string]struct {
		change  func(*Run)
		attempt int
		want    bool
	}{
		"as it was made":              {func(*Run) {}, 3, true},
		"a late message":              {func(*Run) {}, 2, true},
		"checked since":               {func(r *Run) { r.Artifacts.Reserved = 9 }, 3, true},
		"an old record":               {func(*Run) {}, 4, false},
		"an old plan, a new record":   {func(r *Run) { r.Asked.Attempt = 4 }, 4, false},
		"an old plan, a late message": {func(r *Run) { r.Asked.Attempt = 4 }, 3, false},
		"another attempt":             {func(r *Run) { r.Asked.Attempt, r.Plan.Seal.Attempt = 4, 4 }, 4, false},
		"another hash":                {func(r *Run) { r.Plan.Hash = "other" }, 3, false},
		"no hash":                     {func(r *Run) { r.Plan.Hash = ""; *r = r.SealPlan(seal) }, 3, false},
		"no seal":                     {func(r *Run) { r.Plan.Seal.Seal = "" }, 3, false},
		"another number":              {func(r *Run) { r.Plan.Seal.Begun = 9 }, 3, false},
		"another plan of the project": {func(r *Run) { r.Artifacts.Begun = 1 }, 3, false},
		"another head":                {func(r *Run) { r.Spec.Head = "other" }, 3, false},
		"another project":             {func(r *Run) { r.Project = "b" }, 3, false},
		"another workspace":           {func(r *Run) { r.Workspace = "b" }, 3, false},
		"another pull request":        {func(r *Run) { r.Pull.Number = 13 }, 3, false},
		"another repository":          {func(r *Run) { r.Pull.Repo.ID = 8 }, 3, false},
	} {
		r := made
		test.change(&r)
		if got := r.PlanIsSealedFor(test.attempt, seal); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
