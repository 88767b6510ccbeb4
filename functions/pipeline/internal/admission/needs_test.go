package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs/runstest"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// TestNeeds plays the loop of a caller: it reads what the gate asks for, until the gate has decided. The table says
// which facts were read, with a bar between two decisions. A caller that can read everything stands for the apply itself.
func TestNeeds(t *testing.T) {
	type change = func(*Request)
	const before = "base branch | last apply, mutual wait, reservation, shown at, copy of the state"
	const asked = before + " | order of applies, requirements | shown plan, saved plan"
	everywhere := func(Fact) bool { return true }
	queueing := func(f Fact) bool {
		return f != SavedPlan && f != PresentMerge && f != Removal && f != PresentFiles && f != StatePlace
	}
	nobody := func(q *Request) { q.Run = runs.Run{} }
	reader := func(q *Request) { q.Permission = github.ReadPermission }
	onMerge := func(q *Request) { q.Run.Spec.ApplyOn = project.OnMerge }
	verb := func(v comment.Verb) change { return func(q *Request) { q.Verb = v } }
	found := func(f Fact, c change) map[Fact]change { return map[Fact]change{f: c} }

	for _, test := range []struct {
		name     string
		asks     []change
		readable func(Fact) bool
		finds    map[Fact]change
		want     string
	}{
		{"apply", nil, everywhere, nil, asked + " | present merge | removal | present files | place of the state"},
		{"apply, before it is queued", nil, queueing, nil, before + " | order of applies, requirements | shown plan"},
		{"apply by a reader", []change{reader}, everywhere, nil, before},
		{"apply of no project", []change{nobody}, everywhere, nil, "base branch"},
		{"apply of the plan that the comment asks for", []change{func(q *Request) { q.Together = true }}, queueing,
			nil, before + ", unseen apply | order of applies, requirements"},
		{"apply of the plan that the comment asks for, which the base branch allows", []change{func(q *Request) { q.Together = true }}, queueing,
			found(UnseenApply, func(q *Request) { q.ApplyUnseen = true }), before + ", unseen apply | order of applies, requirements | shown plan"},
		{"apply of what the merge applies", []change{onMerge}, everywhere, nil, before + " | order of applies, requirements"},
		{"apply of what is locked", nil, everywhere, found(Reservation, func(q *Request) { q.Reserved = &runs.Reservation{Number: 8} }), before},
		{"apply that fails a requirement", nil, everywhere,
			found(Requirements, func(q *Request) { q.Required = &rulings.Ruling{Outcome: rulings.Fails} }), before + " | order of applies, requirements"},
		{"apply that waits for a project", nil, everywhere, found(ApplyOrder, func(q *Request) {
			q.Run.Project, q.Order = "app", runstest.Order("app>net", "app>net", "app:planned net:applying")
		}), asked},
		{"apply of an exchanged plan", nil, everywhere, found(SavedPlan, func(q *Request) { q.Saved = headTwo }), asked},
		{"apply of a commit that is gone", nil, everywhere, found(PresentFiles, func(q *Request) { q.Gone = "deleted" }), asked + " | present merge | removal | present files"},
		{"apply of a plan that is made again", nil, everywhere, found(PresentFiles, func(q *Request) { q.Around = []string{"x"} }),
			asked + " | present merge | removal | present files | place of the state"},
		{"apply of other files", nil, everywhere, found(PresentFiles, func(q *Request) { q.Differ = []string{"a.tf"} }), asked + " | present merge | removal | present files"},
		{"plan", []change{verb(comment.Plan)}, everywhere, nil, "base branch | last apply | requirements | present merge | removal | place of the state"},
		{"plan with a conflict", []change{verb(comment.Plan)}, everywhere, found(PresentMerge, func(q *Request) { q.Conflict = true }),
			"base branch | last apply | requirements | present merge"},
		{"plan of all projects", []change{verb(comment.Plan), nobody}, everywhere, nil, "base branch | present merge"},
		{"plan into another branch", []change{verb(comment.Plan), func(q *Request) { q.Pull.Base.Ref = "mine" }}, everywhere, nil, "base branch | last apply"},
		{"lock", []change{verb(comment.Lock)}, everywhere, nil, "base branch | last apply, reservation | requirements | place of the state"},
		{"unlock", []change{verb(comment.Unlock)}, everywhere, nil, "base branch | last apply | requirements | place of the state"},
		{"stop", []change{verb(comment.Stop)}, queueing, nil, "base branch | last apply | requirements"},
	} {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			q := allowed()
			q.Saved, q.OnGitHub, q.State = "", nil, nil
			for _, c := range test.asks {
				c(&q)
			}
			var read []string
			for {
				facts, d := Needs(q, test.readable)
				if len(facts) == 0 {
					if want := Decide(q); fmt.Sprint(d) != fmt.Sprint(want) {
						t.Errorf("the decision is %v, and Decide says %v", d, want)
					}
					break
				}
				var together []string
				for _, f := range facts {
					if c := test.finds[f]; c != nil {
						c(&q)
					}
					q.Read(f)
					together = append(together, string(f))
				}
				read = append(read, strings.Join(together, ", "))
			}
			if got := strings.Join(read, " | "); got != test.want {
				t.Errorf("read\n\t%s\nwant\n\t%s", got, test.want)
			}
		})
	}
}
