package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A refusal is a command, parts of its answer, and after a ! what the answer must not have.
type refusal struct {
	command string
	wants   []string
}

// refuses gives commands one by one.
func (s *stage) refuses(n int, all []refusal) {
	s.t.Helper()
	for _, r := range all {
		answer := s.say("alice", n, "lockstep "+r.command)
		for _, want := range r.wants {
			if lacks, not := strings.CutPrefix(want, "!"); not {
				s.lacks(r.command, answer, lacks)
			} else {
				s.expect(r.command, answer, want)
			}
		}
	}
}

// lacks holds that a text does not have something.
func (s *stage) lacks(what, text, part string) {
	s.t.Helper()
	if strings.Contains(text, part) {
		s.t.Errorf("%s has %q:\n%s", what, part, text)
	}
}

// netAndApp is a repository with two projects.
func netAndApp() githubtest.Files {
	return githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "project \"app\" {\n  dir = \"app\"\n}\n"}
}

// TestRemediesOnceItIsMerged holds that what is applied needs no other plan, and that nothing is advised which is refused in
// its turn.
func TestRemediesOnceItIsMerged(t *testing.T) {
	t.Parallel()
	s := newStage(t, netAndApp())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Merge("alice", n)
	s.settle()
	const done = "is already applied, requested by `alice`."
	s.refuses(n, []refusal{
		{"apply", []string{"**Not applied** `net`", done, "!Comment"}},
		{"apply -p net", []string{"**Not applied** `net`", done, "!Comment"}},
		{"apply --failed", []string{"No project of this pull request has failed.", "!lockstep retry"}},
		{"override --reason x", []string{"**Not overridden** `net`", done, "!Comment"}},
		{"lock --reason x", []string{"The pull request is merged, and the merge has released its locks.", "!Comment"}},
		{"retry", []string{"No project of this pull request has failed.", "comment `lockstep plan`"}},
		{"retry -p net", []string{"None of these projects has failed: `net`.", "comment `lockstep plan -p net`"}},
	})
	m := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1"), "app/c.tf": resource("c", "1")})
	s.say("alice", m, "lockstep apply -p app")
	s.repo.Merge("alice", m)
	s.settle()
	s.refuses(m, []refusal{
		{"apply", []string{"The pull request is merged.", "There is no plan to apply.", "Comment `lockstep retry`"}},
		{"apply -p app", []string{"**Not applied** `app`", done, "!Comment"}},
		{"override --reason x", []string{"There is no plan to apply.", "Comment `lockstep retry`"}},
		{"retry", []string{"**Planned** `net`"}},
		{"apply", []string{"**Applied** `net`"}},
	})
}

// TestRemediesOnceItIsClosed holds that a closed pull request is told as closed, with the one remedy that works.
func TestRemediesOnceItIsClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t, netAndApp())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Close("alice", n)
	s.settle()
	for _, c := range []string{"apply", "apply -p net", "apply -p gone", "apply 1234567", "apply --failed", "override --reason x", "override -p gone --reason x", "lock --reason x", "plan", "retry", "drift"} {
		s.refuses(n, []refusal{{c, []string{"The pull request is closed.", "Reopen it", "!Comment"}}})
	}
}

// TestRemediesWithoutProjects holds that on a pull request that touches no project nothing is advised which is refused there.
func TestRemediesWithoutProjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, netAndApp())
	n := s.pull("alice", "docs", githubtest.Files{"README.md": "x"})
	const plan = "Comment `lockstep plan -p net`"
	s.refuses(n, []refusal{
		{"apply", []string{"The pull request changes no project.", "To plan one anyway, comment `lockstep plan -p NAME`.", "!`lockstep plan`"}},
		{"override --reason x", []string{"The pull request changes no project.", "!`lockstep plan`"}},
		{"apply -p net", []string{"This pull request has no plan that `lockstep apply -p net` matches.", plan}},
		{"override -p net --reason x", []string{"This pull request has no plan that `lockstep override -p net --reason \"x\"` matches.", plan}},
		{"lock -p net --reason x", []string{"This pull request has no plan that `lockstep lock -p net --reason \"x\"` matches.", plan}},
		{"unlock -p net", []string{"This pull request has no plan that `lockstep unlock -p net` matches.", plan}},
		{"recover -p net", []string{"This pull request has no plan that `lockstep recover -p net` matches.", plan}},
		{"recover", []string{"First comment `lockstep plan -p NAME`. Then comment `lockstep recover` again."}},
		{"stop -p *", []string{"**Not cancelled**:"}},
		{"apply -p gone", []string{"This pull request has no plan that `lockstep apply -p gone` matches.", "Projects of the base branch: `app`, `net`.", "!`lockstep plan -p gone`"}},
		{"plan -p gone", []string{"No project matches `lockstep plan -p gone`", "Projects: `app`, `net`."}},
		{"plan -p net", []string{"**Planned** `net`"}},
		{"unlock -p net", []string{"This pull request has **no lock** on `net`."}},
	})
}

// TestRemediesForWhatIsLeftBehind holds that projects which the head does not touch any more are told so, and planned by their
// names, and that those that are gone are nowhere named as here.
func TestRemediesForWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	files := netAndApp()
	s := newStage(t, files)
	with := files["lockstep.hcl"] + "project \"new\" {\n  dir = \"new\"\n}\n"
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "new/main.tf": resource("n", "1"), "lockstep.hcl": with})
	s.expect("at first", s.say("alice", n, "lockstep help"), "Projects: `app`, `net`, `new`.")
	s.repo.Push("alice", "b", "Less", githubtest.Files{"app/b.tf": githubtest.Deleted, "new/main.tf": githubtest.Deleted, "new/backend.tf": githubtest.Deleted, "lockstep.hcl": files["lockstep.hcl"]})
	s.settle()
	s.refuses(n, []refusal{
		{"help", []string{"Projects: `net`."}},
		{"override -p new --reason x", []string{"**Not overridden** `new`", ", but the pull request is at", "!requirement"}},
		{"apply -p app", []string{", but the pull request is at", "Lockstep plans the new commit:"}},
		{"drift -p new", []string{"No project matches `lockstep drift -p new`.", "Projects: `app`, `net`."}},
		{"import a.b x -p new", []string{"No project matches `lockstep import a.b x -p new`."}},
		{"state mv a.b c.d -p new", []string{"No project matches `lockstep state mv a.b c.d -p new`."}},
		{"taint a.b -p new", []string{"No project matches `lockstep taint a.b -p new`."}},
		{"retry -p new", []string{"No project matches `lockstep retry -p new`."}},
		{"state rm a.b -p *", []string{"`lockstep state rm a.b -p *` needs one project"}},
		{"plan -p app", []string{"**Planned** `app`"}},
	})
}

// TestNothingFailed holds that a command for what has failed says that nothing has, of the projects that it names.
func TestNothingFailed(t *testing.T) {
	t.Parallel()
	s := newStage(t, netAndApp())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.refuses(n, []refusal{
		{"plan --failed", []string{"No project of this pull request has failed.", "comment `lockstep plan`"}},
		{"retry -p net", []string{"None of these projects has failed: `net`.", "comment `lockstep plan -p net`", "!There is no project"}},
		{"retry -p *", []string{"None of these projects has failed: `app`, `net`."}},
		{"apply --failed", []string{"No project of this pull request has failed.", "comment `lockstep apply`"}},
		{"unlock --failed -p app", []string{"None of these projects has failed: `app`.", "comment `lockstep unlock -p app`"}},
		{"lock --failed --reason x", []string{"No project of this pull request has failed.", "comment `lockstep lock --reason \"x\"`"}},
		{"stop --failed", []string{"No project of this pull request has failed.", "comment `lockstep stop`"}},
		{"recover --failed", []string{"No project of this pull request has failed.", "comment `lockstep recover`"}},
		{"override --failed --reason x", []string{"No project of this pull request has failed."}},
		{"retry -p gone", []string{"No project matches `lockstep retry -p gone`.", "Projects: `app`, `net`."}},
		{"unlock --failed -p gone", []string{"This pull request has no plan that `lockstep unlock -p gone --failed` matches.", "Projects with a plan: `app`, `net`."}},
	})
	s.pipeline.Engine = halfway{s.pipeline.Engine}
	s.say("alice", n, "lockstep apply -p net")
	s.repo.Merge("alice", n)
	s.settle()
	s.refuses(n, []refusal{
		{"apply --failed", []string{"The pull request is merged.", "Comment `lockstep retry`", "!has failed"}},
		{"apply --failed -p net", []string{"Comment `lockstep retry`", "!has failed"}},
		{"unlock --failed -p gone", []string{"This pull request has no plan that `lockstep unlock -p gone --failed` matches."}},
	})
	removed, m := removing(t, "", nil)
	removed.refuses(m, []refusal{{"retry -p net", []string{"None of these projects has failed: `net`."}}, {"retry -p gone", []string{"`net`"}}})
}

// TestLockOfALockedState holds that whoever asks for a lock that another has is not told of plans.
func TestLockOfALockedState(t *testing.T) {
	t.Parallel()
	s := newStage(t, netAndApp())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", n, "lockstep lock --reason x")
	s.refuses(m, []refusal{{"lock --reason y", []string{"`alice` has locked the state", "To release the lock, comment `lockstep unlock` on #1, or merge or close that pull request.", "!plan"}}, {"apply", []string{"To release the lock, comment `lockstep unlock` on #1, or merge or close that pull request. Then apply again."}}})
}

// TestRemediesBehindAnotherPlan holds that nobody is told to apply what the merge alone applies, where a plan that the merge is to apply
// comes after one that is another plan than before, or a removal after one that the merge applies.
func TestRemediesBehindAnotherPlan(t *testing.T) {
	t.Parallel()
	const onMerge = "  apply = \"merge\"\n"
	settings := "project \"net\" {\n  dir = \"net\"\n" + onMerge + "}\nproject \"app\" {\n  dir = \"app\"\n  depends_on = [\"net\"]\n" + onMerge + "}\n"
	s := newStage(t, netAndApp().With(githubtest.Files{"lockstep.hcl": settings}))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.merge("bob", m)
	s.expect("the status", s.status(n), "**has a new plan**")
	s.refuses(n, []refusal{{"apply -p app", []string{"`app` depends on `net`, which is not applied", "The present plan of `net` is not confirmed or not complete, so the merge does not apply it. First comment `lockstep plan -p net`, and read the result. Then merge", "!lockstep apply -p net"}}})
	page := s.checkOf("b", "lockstep/app").Summary
	s.expect("the page", page, "First plan `net` again: comment `lockstep plan -p net`. Then merge the pull request, which applies this plan.")
	s.lacks("the page", page, "before the merge")
	s.say("alice", n, "lockstep plan -p net")
	s.merge("alice", n)
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`", "**Applied** `app`")
}

// TestRemediesOfARemovalBehindTheMerge holds the same of a removed project, whose objects are destroyed after those of one that the merge
// applies.
func TestRemediesOfARemovalBehindTheMerge(t *testing.T) {
	t.Parallel()
	const app = "project \"app\" {\n  dir = \"app\"\n  apply = \"merge\"\n"
	s := newStage(t, netAndApp().With(githubtest.Files{"lockstep.hcl": netProject + app + "  depends_on = [\"net\"]\n}\n"}))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.merge("alice", n)
	k := s.pull("alice", "k", githubtest.Files{"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted, "net/b.tf": githubtest.Deleted, "app/k.tf": resource("k", "1"), "lockstep.hcl": app + "}\n"})
	const after = "`app` applies on merge, and not before. After the merge, comment `lockstep retry` for a new plan, and apply it."
	s.refuses(k, []refusal{{"apply -p net", []string{"`net` can be destroyed only once `app`, which depends on it, is applied.", after, "!lockstep apply -p app"}}})
	s.expect("the page", s.checkOf("k", "lockstep/net").Summary, "This project can be destroyed only once the applies of `app`, which depends on it, are done. "+after)
	s.merge("alice", k)
	s.expect("the merge", s.answer(k, "merge"), "**Applied** `app`")
	s.expect("a plan of what is left", s.say("alice", k, "lockstep retry"), "**Planned** `net`", "2 to destroy")
	s.expect("its apply", s.say("alice", k, "lockstep apply -p net"), "**Applied** `net`")
}
