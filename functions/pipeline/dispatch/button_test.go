package dispatch_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// press presses a button of the check of the only project at the head of a branch, and returns our last answer to a button.
func (s *stage) press(who, branch string, number int, button string) string {
	s.t.Helper()
	c := s.checkOf(branch, "lockstep/.")
	for _, b := range c.Buttons {
		if b.Label == button {
			return s.pressOld(who, c.ID, number, b.Identifier)
		}
	}
	s.t.Fatalf("the check has no button %q: %+v", button, c.Buttons)
	return ""
}

// pressOld presses a button that the page of a check had once.
func (s *stage) pressOld(who string, check int64, number int, identifier string) string {
	s.t.Helper()
	s.repo.Press(who, check, identifier)
	s.settle()
	last := ""
	for _, c := range s.repo.Comments(number) {
		if strings.Contains(c.Body, "lockstep:answer rerun-") || strings.Contains(c.Body, "lockstep:result rerun-") {
			last = c.Body
		}
	}
	return last
}

// labels are the buttons of the check of the only project.
func (s *stage) labels(branch string) string {
	s.t.Helper()
	var out []string
	for _, b := range s.checkOf(branch, "lockstep/.").Buttons {
		out = append(out, b.Label)
	}
	return strings.Join(out, ", ")
}

// TestButtons plans and applies by the buttons of a check run. Whoever may not write comments that do so may not press
// them, and a page that is out of date applies nothing else than its own plan.
func TestButtons(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	if got := s.labels("b"); got != "Apply, Plan again" {
		t.Errorf("the buttons of a plan: %s", got)
	}
	old := s.checkOf("b", "lockstep/.")
	s.expect("mallory's press", s.press("mallory", "b", n, "Apply"), "**Not applied** `.`", "has the permission `read`")
	s.expect("a new plan", s.press("alice", "b", n, "Plan again"), "**Planned** `.`")
	for _, b := range old.Buttons {
		if b.Label == "Apply" {
			s.expect("a page that is out of date", s.pressOld("alice", old.ID, n, b.Identifier), "**Not applied** `.`", "is not the current plan of `.` (Plan")
		}
	}
	for _, id := range []string{"apply", "apply 1a2b3c4d5e6f -p *", "unlock", "override --reason x"} {
		before := len(s.repo.Comments(n))
		s.pressOld("alice", old.ID, n, id)
		if got := len(s.repo.Comments(n)); got != before {
			t.Errorf("%q is answered", id)
		}
	}
	s.expect("the apply", s.press("alice", "b", n, "Apply"), "**Applied** `.`: 2 added")
	if got := s.labels("b"); got != "" {
		t.Errorf("the buttons after the apply: %s", got)
	}
	s.repo.Merge("alice", n)
	s.settle()
	if got := s.checkOf("b", "lockstep/.").Conclusion; got != github.ConcludedSuccess {
		t.Errorf("the check after the merge: %s", got)
	}
}

// TestReviewCommands holds that commands in a review, and on a line of a file, are carried out as those in comments, each
// once; and that a review which is dismissed, or has none, has no answer.
func TestReviewCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	answers := func() (all []string) {
		for _, c := range s.repo.Comments(n) {
			if strings.Contains(c.Body, "lockstep:answer rerun-") {
				all = append(all, c.Body)
			}
		}
		return all
	}
	s.repo.Review("bob", n, github.Approved, "fine")
	s.settle()
	if got := answers(); len(got) > 0 {
		t.Errorf("a review without a command is answered: %s", got)
	}
	s.repo.CommentOn("mallory", n, "b.tf", "lockstep apply")
	s.settle()
	s.expect("mallory's comment on a line", strings.Join(answers(), ""), "**Not applied** `.`", "has the permission `read`")
	s.repo.CommentOn("alice", n, "b.tf", "lockstep plan")
	s.settle()
	s.expect("alice's comment on a line", strings.Join(answers()[1:], ""), "**Planned** `.`")
	s.repo.Review("alice", n, github.Commented, "All good.\n\nlockstep apply")
	s.settle()
	if got := answers(); len(got) != 3 {
		t.Fatalf("%d answers: %s", len(got), got)
	}
	s.expect("the review", strings.Join(answers()[2:], ""), "**Applied** `.`: 2 added")
	s.expect("the status", s.status(n), "Approved at `"+s.repo.Head("b")[:7]+"` by `bob`.")
	s.repo.Dismiss("bob", n, "alice")
	s.settle()
	if got := answers(); len(got) != 3 {
		t.Errorf("a dismissed review is answered: %s", got)
	}
}

// TestButtonsOfAFork plans by the buttons of a check run of a fork's pull request, which GitHub does not name in the event of a
// press. They give its author no more than a comment does.
func TestButtonsOfAFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + forksAllowed})
	e := &watchedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	fork, n, head := s.theirs(githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("a maintainer names it", s.say("alice", n, "lockstep plan "+head), "**Planned** `net`")
	check := func() githubtest.Check {
		for _, c := range s.repo.Checks(fork.Head("theirs")) {
			if c.Name == "lockstep/net" {
				return c
			}
		}
		t.Fatal("there is no check of the project")
		return githubtest.Check{}
	}()
	s.expect("its author", s.pressOld("mallory", check.ID, n, "plan"), "**Not planned**", "`mallory` has the permission `read`")
	s.expect("the apply of a fork", s.pressOld("alice", check.ID, n, "apply 1a2b3c4d5e6f"), "**Not applied** `net`", "comes from a fork")
	s.expect("a maintainer", s.pressOld("alice", check.ID, n, "plan"), "**Planned** `net`: 2 to add")
	before := len(s.repo.Comments(n))
	s.repo.Rerequest("alice", check.ID)
	s.settle()
	if all := s.repo.Comments(n); len(all) != before+1 {
		t.Errorf("a re-run has %d answers", len(all)-before)
	} else {
		s.expect("a re-run", all[before].Body, "**Planned** `net`: 2 to add")
	}
	if bare, others := e.bare(); bare != 3 || others != 0 {
		t.Errorf("%d plans without credentials, %d others", bare, others)
	}
	fork.Push("mallory", "theirs", "More", githubtest.Files{"net/b.tf": resource("b", "2")})
	s.settle()
	s.expect("a page of what was named before", s.pressOld("alice", check.ID, n, "plan"), "**Not planned** `net`", "The button belongs to the earlier commit")
	if bare, others := e.bare(); bare != 3 || others != 0 {
		t.Errorf("%d plans without credentials, %d others, after a push", bare, others)
	}
}

// TestRerunOfAFork has all checks of a commit made again, and that of the head, which is for all projects, too: GitHub names no pull
// request from a fork. Nothing is planned that no maintainer has named the commit for.
func TestRerunOfAFork(t *testing.T) {
	t.Parallel()
	files := maps.Clone(twoProjects)
	files["lockstep.hcl"], files["web/main.tf"] = forksAllowed, resource("a", "1")
	s := newStage(t, files)
	e := &watchedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	fork, n, head := s.theirs(githubtest.Files{"db/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	answered := func(what string, press func(), want ...string) {
		t.Helper()
		before := len(s.repo.Comments(n))
		press()
		s.settle()
		all := s.repo.Comments(n)
		if len(all) != before+1 {
			t.Fatalf("%s has %d answers", what, len(all)-before)
		}
		s.expect(what, all[before].Body, want...)
	}
	commit := func(who string) func() { return func() { s.repo.RerequestAll(who, head) } }
	check := func() {
		for _, c := range s.repo.Checks(head) {
			if c.Name == "lockstep" {
				s.repo.Rerequest("alice", c.ID)
			}
		}
	}
	answered("a commit that nobody has named", commit("alice"), "**Not planned**", "lockstep plan "+head[:7])
	s.expect("one project", s.say("alice", n, "lockstep plan "+head+" -p db"), "**Planned** `db`")
	s.expect("one that it leaves alone", s.say("alice", n, "lockstep plan "+head+" -p web"), "**Planned** `web`")
	answered("a commit that is named for one project", commit("alice"), "**Not planned**", "lockstep plan "+head[:7])
	s.expect("the other one", s.say("alice", n, "lockstep plan "+head+" -p app"), "**Planned** `app`")
	answered("its author", commit("mallory"), "**Not planned**", "`mallory` has the permission `read`")
	if bare, others := e.bare(); bare != 3 || others != 0 {
		t.Errorf("%d plans without credentials, %d others", bare, others)
	}
	answered("the commit", commit("alice"), "**Planned** `db`", "**Planned** `app`")
	answered("the check of the head", check, "**Planned** `db`", "**Planned** `app`")
	if bare, others := e.bare(); bare != 7 || others != 0 {
		t.Errorf("%d plans without credentials, %d others", bare, others)
	}
	fork.Push("mallory", "theirs", "More", githubtest.Files{"db/b.tf": resource("b", "2")})
	s.settle()
	before := len(s.repo.Comments(n))
	commit("alice")()
	s.settle()
	if got := len(s.repo.Comments(n)); got != before {
		t.Errorf("a former head has %d answers", got-before)
	}
}

// TestButtonsOfAFormerHead holds that a press on the page of a former head is answered, in its pull request, and that nothing
// else is done: but an apply that goes on after the push can be stopped where it was begun.
func TestButtonsOfAFormerHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	old, was := s.checkOf("b", "lockstep/."), s.repo.Head("b")[:7]
	var apply string
	for _, b := range old.Buttons {
		if b.Label == "Apply" {
			apply = b.Identifier
		}
	}
	s.repo.Push("alice", "b", "More", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	is := s.repo.Head("b")[:7]
	plans := func() int { return strings.Count(strings.Join(s.hub.Lines(), "\n"), "check lockstep/. ") }
	before := plans()
	for id, remedy := range map[string]string{
		"plan": "Press the button on the check of the current commit, or comment `lockstep plan -p .`.", "stop": "Press the button on the check of the current commit, or comment `lockstep stop -p .`.", apply: "Read the plan of the current commit",
	} {
		s.expect(id, s.pressOld("alice", old.ID, n, id), "The button belongs to the earlier commit `"+was+"`. The current commit of the pull request is `"+is+"`.", remedy)
	}
	comments := len(s.repo.Comments(n))
	s.repo.Rerequest("bob", old.ID)
	s.settle()
	if got := len(s.repo.Comments(n)); got != comments+1 {
		t.Errorf("a re-run has %d answers", got-comments)
	}
	if got := plans(); got != before {
		t.Errorf("%d writes of checks after presses on an old page:\n%s", got-before, strings.Join(s.hub.Lines(), "\n"))
	}
}

// TestQueuedAndNotSent has an apply queued by a process that dies before its message is sent, and the pull request pushed to or
// merged before the next try: the apply is not queued for ever.
func TestQueuedAndNotSent(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(s *stage, n int){
		"button": func(s *stage, n int) {
			c := s.checkOf("b", "lockstep/a")
			for _, b := range c.Buttons {
				if b.Label == "Apply" {
					s.repo.Press("alice", c.ID, b.Identifier)
				}
			}
		},
		"comment": func(s *stage, n int) { s.repo.Comment("alice", n, "lockstep apply") },
	} {
		for what, happens := range map[string]func(s *stage, n int){
			"push":  func(s *stage, n int) { s.pushed(n, "b", githubtest.Files{"b/b.tf": resource("b", "2")}) },
			"merge": func(s *stage, n int) { s.repo.Merge("bob", n) },
			"both": func(s *stage, n int) {
				s.repo.Push("alice", "b", "More", githubtest.Files{"b/b.tf": resource("b", "2")})
				s.repo.Merge("bob", n)
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, githubtest.Files{"a/main.tf": resource("a", "1"), "b/main.tf": resource("a", "1")})
				n := s.pull("alice", "b", githubtest.Files{"a/b.tf": resource("b", "1"), "b/b.tf": resource("b", "1")})
				s.refuse(first(sends(pipeline.ToApply)))
				ask(s, n)
				if _, err := s.hub.Deliver(t.Context()); err != nil {
					t.Fatal(err)
				}
				failed := false
				s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
					err := s.pipeline.Handle(ctx, m)
					if err != nil && !failed {
						failed = true
						happens(s, n)
					}
					return err
				})
				s.stubborn()
				if !failed {
					t.Fatal("the message was sent")
				}
				for _, name := range []string{"a", "b"} {
					if r := s.of(n, name); r.Phase == runs.ApplyQueued {
						t.Errorf("%s is %s for ever", name, r.Phase)
					}
				}
			})
		}
	}
}

// TestStopOnAFormerHead holds that an apply that goes on after a push is stopped by the button of the page where it was begun.
func TestStopOnAFormerHead(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 3, 1)
	s.pipeline.Poll = time.Millisecond
	m := pipeline.Message{ID: "pressed", Kind: pipeline.Commanded, Pull: s.ref(n), Actor: "bob", Head: s.repo.Head("b"), Lines: grammar.Parse("lockstep stop -p .")}
	p.during = func(ctx context.Context, part int) error {
		if part == 1 {
			s.repo.Push("alice", "b", "More", githubtest.Files{"more.tf": resource("more", "1")})
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
		}
		return nil
	}
	s.expect("the apply", s.say("alice", n, "lockstep apply"), ", as `bob` requested: 1 of 3 changes done")
}
