package dispatch_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const together = "lockstep plan\nlockstep apply"

// unseen are files whose settings let a comment ask for a plan and its apply.
func unseen(files githubtest.Files) githubtest.Files {
	files["lockstep.hcl"] = "apply_unseen = true\n" + files["lockstep.hcl"]
	return files
}

// TestPlanAndApply holds that an apply in the comment that asks for its plan waits for it, and is of it
// alone; and that it is answered where there is nothing to apply.
func TestPlanAndApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(githubtest.Files{"main.tf": resource("a", "1"), "app/main.tf": resource("app", "1")}))
	s.strict = true
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("both", s.say("alice", n, "lockstep plan -p . -target=terraform_data.b\nlockstep apply"),
		"**Planned** `.`: 1 to add", "**Applied** `.`: 1 added", "**Applied** `app`: 2 added")
	s.expect("both, again", s.say("alice", n, together), "**Planned** `.`: 1 to add", "**Applied** `.`: 1 added", "**Not applied** `app`", "The plan has no changes, so there is nothing to apply.")
	s.expect("by a reader", s.say("mallory", n, together), "**Not planned**", "**Not applied**")
	s.repo.Push("alice", "b", "Broken", githubtest.Files{"b.tf": "resource {"})
	s.settle()
	answer := s.say("alice", n, together)
	s.expect("of a broken head", answer, "**Failed to plan** `.", "**Not applied** `.`")
	if strings.Contains(answer, "The result will appear here") {
		t.Errorf("it waits for ever:\n%s", answer)
	}
	s.say("alice", n, "lockstep plan -p . -target=terraform_data.b")
	s.expect("a retry of what is broken still", s.say("alice", n, "lockstep retry\nlockstep apply"), "**Failed to plan** `.", "**Not applied** `.`")
	all, err := s.pipeline.Ledger().Runs(t.Context(), s.ref(n))
	if i := slices.IndexFunc(all, func(r ledger.Versioned) bool { return r.Project == "." }); err != nil || i < 0 || !all[i].Spec.Options.Partial() {
		t.Errorf("it is not tried again with its options: %v", err)
	}
	for _, plan := range []string{"lockstep plan --failed", "lockstep retry"} {
		answer := s.say("alice", n, plan+"\nlockstep apply --failed")
		s.expect("what has failed, by "+plan, answer, "**Failed to plan** `.", "**Not applied** `.`")
		s.lacks("what has failed, by "+plan, answer, "No project of this pull request has failed")
	}
	s.repo.Push("alice", "b", "Mended", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	s.expect("a retry of nothing", s.say("alice", n, "lockstep retry"), "**Not planned**", "No project of this pull request has failed.")
	s.expect("the other way round", s.say("alice", n, "lockstep apply -p app\nlockstep plan -p app"), "**Not applied** `app`", "**Planned** `app`: no changes")
}

// TestPlanAndApplyUnseen carries out an attack: somebody pushes between a comment that asks for a plan
// with its apply and its handling, or between the plan and the apply. It holds that commits which the
// author of the comment has not seen are not applied.
func TestPlanAndApplyUnseen(t *testing.T) {
	t.Parallel()
	evil := githubtest.Files{"evil.tf": resource("evil", "1")}
	for name, test := range map[string]struct {
		before string // the kind of message before whose handling it is pushed
		want   string
	}{
		"before the comment is read": {"", "You pushed after, or together with, this comment. Nobody has read the commits that Lockstep plans."},
		"before the plan":            {"plan", "**Not applied** `.`"},
		"before the apply":           {"apply", "**Not applied** `.`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, unseen(githubtest.Files{"main.tf": resource("a", "1")}))
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			id := s.repo.Comment("alice", n, together)
			pushed := false
			push := func() {
				if !pushed {
					s.repo.Push("bob", "b", "Evil", evil)
				}
				pushed = true
			}
			if test.before == "" {
				push()
			}
			for {
				sent, err := s.hub.Deliver(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				handled := s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
					if string(m.Kind) == test.before {
						push()
					}
					return s.pipeline.Handle(ctx, m)
				})
				if sent+handled == 0 {
					break
				}
			}
			answer := s.answerTo(n, id)
			s.expect("the answer", answer, test.want)
			if !pushed || strings.Contains(answer, "**Applied**") || strings.Contains(answer, "The result will appear here") {
				t.Errorf("pushed: %v\n%s", pushed, answer)
			}
		})
	}
}

// TestMergedBeforeItIsApplied holds that a wish for a plan and its apply at once is answered, too, if a merge has it applied first.
func TestMergedBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(onMerge()))
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
	id := s.repo.Comment("alice", n, together)
	var once sync.Once
	s.answered = func(r *http.Request, _ int) {
		if r.Method != http.MethodPatch || !strings.Contains(r.URL.Path, "/check-runs/") || s.run(n).Phase != runs.Planned || s.run(n).Asked.Attempt < 2 {
			return
		}
		once.Do(func() {
			s.repo.Merge("bob", n)
			s.meanwhile()
		})
	}
	s.settle()
	answer := s.answerTo(n, id)
	s.expect("the answer", answer, "**Planned** `net`", "**Not applied** `net`", "merged")
	if strings.Contains(answer, "The result will appear here") {
		t.Errorf("it waits for ever:\n%s", answer)
	}
	s.expect("the merge, which nobody can have seen this plan before", s.answer(n, "merge"), "**Planned** `net`")
}

// TestPlannedUnseen carries out an attack, or a slip: one comment asks for a plan and its apply, and nobody sees what that destroys.
func TestPlannedUnseen(t *testing.T) {
	t.Parallel()
	destroys := githubtest.Files{"net/old.tf": githubtest.Deleted}
	adds := githubtest.Files{"net/b.tf": resource("b", "1")}
	const refused, let = "**Not applied** `net`", "covers only plans that create objects and update them in place"
	for name, test := range map[string]struct {
		settings string
		change   githubtest.Files
		comment  string
		want     string
	}{
		"a destruction":                      {"", adds, "lockstep plan -destroy\nlockstep apply", refused},
		"of one project":                     {"", adds, "lockstep plan -destroy -p net\nlockstep apply -p net", refused},
		"an addition":                        {"", adds, together, refused},
		"an addition, where that is let":     {"apply_unseen = true\n", adds, together, "**Applied** `net`"},
		"in a repository that says no":       {"apply_unseen = false\n", adds, together, refused},
		"a destruction, where additions are": {"apply_unseen = true\n", adds, "lockstep plan -destroy\nlockstep apply", let},
		"a deletion, where additions are":    {"apply_unseen = true\n", destroys, together, let},
		"a replacement, where additions are": {"apply_unseen = true\n", adds, "lockstep plan -replace=terraform_data.old\nlockstep apply", refused},
		"a retry, where additions are":       {"apply_unseen = true\n", destroys, "lockstep plan -destroy\nlockstep retry\nlockstep apply", refused},
		"by the pull request's own settings": {"", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": "apply_unseen = true\n"}, together, refused},
		"a forgotten object":                 {"apply_unseen = true\n", githubtest.Files{"net/old.tf": "removed {\n  from = terraform_data.old\n  lifecycle {\n    destroy = false\n  }\n}\n"}, together, let},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/old.tf": resource("old", "1"), "lockstep.hcl": test.settings})
			one := s.pull("alice", "one", githubtest.Files{"net/c.tf": "# one\n"})
			s.expect("the first apply", s.say("alice", one, "lockstep apply"), "**Applied** `net`")
			s.repo.Merge("alice", one)
			s.settle()
			n := s.pull("alice", "b", test.change)
			s.expect("the answer", s.say("alice", n, test.comment), "**Planned** `net`", test.want)
			if test.want != "**Applied** `net`" {
				s.expect("the apply of what was shown", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
			}
		})
	}
}

// TestAppliedBeforeItIsShown holds that a second comment is no way around the first: an apply that is written before the plan is shown
// is of a plan that nobody has seen.
func TestAppliedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(githubtest.Files{"main.tf": resource("a", "1")}))
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Comment("alice", n, "lockstep plan -destroy")
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Not applied** `.`")
	if s.runOf(n).Phase == runs.Applied {
		t.Error("it is applied")
	}
}

// TestTwoPlansInAComment holds that a comment which asks for two plans of a project gets the first one, and is told so; and that
// none of them is applied by the same comment, as nobody knows which one is meant.
func TestTwoPlansInAComment(t *testing.T) {
	t.Parallel()
	const first = "The same comment already requests another plan of `net`: "
	for name, test := range map[string]struct {
		comment string
		want    []string
	}{
		"the apply of one of them": {"lockstep plan -destroy -p net\nlockstep plan -p net\nlockstep apply -p net", []string{
			"**Planned** `net`: 0 to add, 0 to change, 2 to destroy", first + "`lockstep plan -p net -destroy`", "**Not applied** `net`", "The comment requests more than one plan of `net`, so this apply is not clear. Lockstep makes only the first plan, `lockstep plan -p net -destroy`.", "`lockstep apply -p net`"}},
		"the second one of all": {"lockstep plan -destroy -p net\nlockstep plan\nlockstep apply", []string{
			"**Planned** `net`: 0 to add, 0 to change, 2 to destroy", first, "**Not applied** `net`", "**Applied** `app`"}},
		"two imports":       {"lockstep import terraform_data.c x -p net\nlockstep import terraform_data.d y -p net", []string{"**Planned** `net`", first + "`lockstep import terraform_data.c x -p net`"}},
		"the same, twice":   {"lockstep plan -p net\nlockstep plan -p net\nlockstep apply -p net", []string{"**Planned** `net`: 2 to add", "**Applied** `net`"}},
		"one after another": {"lockstep plan -p net\nlockstep apply -p net\nlockstep plan -destroy -p net", []string{"**Planned** `net`: 2 to add", "**Applied** `net`", first + "`lockstep plan -p net`"}},
		"of two projects":   {"lockstep plan -p net\nlockstep plan -p app\nlockstep apply", []string{"**Planned** `net`", "**Planned** `app`", "**Applied** `net`", "**Applied** `app`"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, unseen(githubtest.Files{"net/main.tf": resource("a", "1"), "net/old.tf": resource("b", "1"), "app/main.tf": resource("a", "1")}))
			one := s.pull("alice", "one", githubtest.Files{"net/c.tf": "# one\n"})
			s.say("alice", one, "lockstep apply")
			s.repo.Merge("alice", one)
			s.settle()
			n := s.pull("alice", "b", githubtest.Files{"net/c.tf": resource("c", "1") + resource("d", "1"), "app/c.tf": resource("c", "1")})
			s.expect("the answer", s.say("alice", n, test.comment), test.want...)
		})
	}
}

// TestShownFirst holds that a change of the state is not applied by the comment that asks for it.
func TestShownFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(githubtest.Files{"main.tf": resource("a", "1")}))
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.expect("the answer", s.say("alice", n, "lockstep taint terraform_data.a -p .\nlockstep apply -p ."), "**Planned** `.`: 1 to add, 0 to change, 1 to destroy", "**Not applied** `.`", "The comment requests `lockstep taint terraform_data.a -p .` and its apply together, so nobody has seen the plan.")
	s.expect("the second word", s.say("alice", n, "lockstep apply -p ."), "**Applied** `.`: 1 added, 0 changed, 1 destroyed")
}

// TestApplyOfWhatHadFailed holds that an apply of what has failed is of the plans that the same comment tries again.
func TestApplyOfWhatHadFailed(t *testing.T) {
	t.Parallel()
	s := newStage(t, unseen(githubtest.Files{"main.tf": resource("a", "1")}))
	engine := s.pipeline.Engine
	s.pipeline.Engine = failing{engine}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.pipeline.Engine = engine
	s.expect("the answer", s.say("alice", n, "lockstep retry\nlockstep apply --failed"), "**Planned** `.`: 2 to add", "**Applied** `.`: 2 added")
}
