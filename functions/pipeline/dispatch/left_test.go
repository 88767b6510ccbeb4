package dispatch_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// pending are the check runs of a commit that have not come to their end.
func (s *stage) pending(sha string) (out []string) {
	for _, c := range s.repo.Checks(sha) {
		if c.Status != github.CheckCompleted {
			out = append(out, c.Name+" "+c.Title)
		}
	}
	return out
}

// TestCheckOfALeftHead is the story of a history (seed 21): the plan of a head is done, its check cannot be written, and
// before its message comes again there is another head, whose plan takes the record. It holds that the check of the former
// head is ended all the same.
func TestCheckOfALeftHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
	old := s.repo.Head("b")
	n := s.repo.OpenPull("alice", "Change", "b")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed := false
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		revive := s.refuse(func(x memory.Effect) bool { return m.Kind == pipeline.ToPlan && !failed && completed(x) })
		err := s.pipeline.Handle(ctx, m)
		revive()
		if err != nil && !failed {
			failed = true
			s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")})
		}
		return err
	})
	if !failed {
		t.Fatal("nothing has failed")
	}
	s.settle()
	if got := s.pending(old); len(got) > 0 {
		t.Errorf("the former head waits for ever: %q", got)
	}
	s.expect("the new head", s.check("b"), "success Ready to apply – 3 to add")
}

// TestCheckWrittenLate is the story of two histories (seeds 82000239, and 2865 of the brief ones): before the check of a plan
// under way comes to GitHub, or to its record, a push has ended it. It holds that the late check does not stand for ever.
func TestCheckWrittenLate(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(s *stage, push func()){
		"to GitHub": func(s *stage, push func()) {
			s.before(checks(func(c github.Check) bool { return c.Name != "lockstep" && c.Status == github.CheckInProgress }), push)
		},
		"to its record": func(s *stage, push func()) { s.before(writes("sha/", `"in_progress"`), push) },
		"to its record, by a process that dies": func(s *stage, push func()) {
			s.before(writes("sha/", `"in_progress"`), push)
			s.pipeline.Engine = &mortal{Engine: s.pipeline.Engine}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
			old := s.repo.Head("b")
			n := s.repo.OpenPull("alice", "Change", "b")
			pushed := false
			before(s, func() {
				if !pushed {
					pushed = true
					s.pushed(n, "b", githubtest.Files{"c.tf": resource("c", "1")})
				}
			})
			s.settle()
			if got := s.pending(old); !pushed || len(got) > 0 {
				t.Errorf("the former head waits for ever: %q, pushed %v", got, pushed)
			}
			s.expect("the new head", s.check("b"), "success Ready to apply – 3 to add")
		})
	}
}

// mortal is an engine whose process dies in the first plan.
type mortal struct {
	jobs.Engine
	died bool
}

func (e *mortal) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if !e.died {
		e.died = true
		return jobs.PlanResult{}, errDied
	}
	return e.Engine.Plan(ctx, j)
}

// completed selects the records of checks that are completed.
var completed = writes("sha/", `"completed"`)

// TestCheckOfADiedClose is the story of a history (seed 908974): a pull request is closed while its plan is to be made, or waits,
// and the close dies between the record of the run and its check. It holds that the check is ended when the message comes again.
func TestCheckOfADiedClose(t *testing.T) {
	t.Parallel()
	for _, planned := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
		s.repo.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
		n := s.repo.OpenPull("alice", "Change", "b")
		if planned {
			s.settle()
		} else {
			s.settleBut(pipeline.ToPlan) // it was given up
		}
		s.repo.Close("alice", n)
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		died := false
		s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
			revive := s.refuse(func(x memory.Effect) bool { return m.Kind == pipeline.Closed && !died && completed(x) })
			err := s.pipeline.Handle(ctx, m)
			revive()
			died = died || err != nil
			return err
		})
		if !died {
			t.Fatal("nothing has died")
		}
		s.settle()
		if got := s.pending(s.repo.Head("b")); len(got) > 0 {
			t.Errorf("planned %v: it waits for ever: %q", planned, got)
		}
		s.expect("the check", s.check("b"), "cancelled Closed, not applied")
	}
}

// TestLeftByATwin is the story of a history (seed 553): two pull requests have the same head, the plan of one of them fails, and
// that one is pushed to. It holds that its failure is in the way of the other one until then, and no longer.
func TestLeftByATwin(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	for _, branch := range []string{"b", "twin"} { // GitHub's commits have the time of their parents
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
	}
	s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	n := s.repo.OpenPull("alice", "Change", "b")
	if s.repo.Head("b") != s.repo.Head("twin") {
		t.Fatal("they have not the same head")
	}
	engine := s.pipeline.Engine
	s.pipeline.Engine = failing{engine}
	s.settle()
	s.pipeline.Engine = engine
	s.expect("the check of both", s.check("twin"), "failure ")
	s.repo.Push("alice", "b", "More", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	s.expect("the check of the other one", s.check("twin"), "success Ready to apply – 2 to add")
	s.expect("the status", s.status(n), "To apply this plan")
}

// TestLeftBeforeATwin holds that a pull request which has left a head counts nothing in the checks of one that comes to it later.
func TestLeftBeforeATwin(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	for _, branch := range []string{"b", "twin"} {
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
	}
	s.repo.OpenPull("alice", "Change", "b")
	engine := s.pipeline.Engine
	s.pipeline.Engine = failing{engine}
	s.settle()
	s.pipeline.Engine = engine
	s.expect("the check alone", s.check("b"), "failure Failed to plan")
	s.repo.Push("alice", "b", "More", githubtest.Files{"b.tf": resource("b", "2")})
	s.settle()
	s.repo.OpenPull("alice", "The same", "twin")
	s.settle()
	s.expect("the check of the other one", s.check("twin"), "success Ready to apply – 2 to add, 0 to change, 0 to destroy\n")
}

// TestRetargetedBesideATwin has a process die that drops a plan for another base branch, before the check of another pull request with
// the same head is written: its next try writes that.
func TestRetargetedBesideATwin(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("bob", "release", "Release", githubtest.Files{"RELEASE.md": "1"})
	for _, branch := range []string{"b", "twin"} {
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
	}
	s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	n := s.repo.OpenPull("alice", "Change", "b")
	engine := s.pipeline.Engine
	s.pipeline.Engine = failing{engine}
	s.settle()
	s.pipeline.Engine = engine
	s.expect("the check of both", s.check("twin"), "failure Ready to apply – 2 to add, 0 to change, 0 to destroy (failure on #2)")
	var died atomic.Bool
	s.refuse(func(x memory.Effect) bool {
		return strings.HasSuffix(x.Call, " 2 to add, 0 to change, 0 to destroy") && died.CompareAndSwap(false, true)
	})
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.expect("the check of the other one", s.check("twin"), "success Ready to apply – 2 to add, 0 to change, 0 to destroy\n")
	if !died.Load() {
		t.Error("the process did not die")
	}
}

// TestMergedBesideATwin is the story of a history (seed 97111921 of the brief ones): two pull requests have the same head, and
// one of them is pushed to and merged before anybody looks. It holds that its plan of the former head, which is not applied,
// counts no more for the other one.
func TestMergedBesideATwin(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	for _, branch := range []string{"b", "twin"} {
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
	}
	n, twin := s.repo.OpenPull("alice", "Change", "b"), s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	s.expect("the check of both", s.check("twin"), "success Ready to apply – 2 to add")
	s.repo.Push("alice", "b", "More", githubtest.Files{"README.md": "more"})
	s.repo.Merge("bob", n)
	s.settle()
	if got := s.check("twin"); strings.Contains(got, "action_required") {
		t.Errorf("the check of #%d: %s", twin, got)
	}
}

// TestLeftByATwinMeanwhile is the story of a history (seed 96010897 of the brief ones): two pull requests have the same head. The
// one that has failed leaves it after a process has read so for the check of the other one, and before that is written. It holds
// that the failure does not stand for ever, whichever process writes it.
func TestLeftByATwinMeanwhile(t *testing.T) {
	t.Parallel()
	for _, writer := range []string{"the one that has failed", "the other one"} {
		t.Run(writer, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			for _, branch := range []string{"b", "twin"} {
				s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
			}
			twin := s.repo.OpenPull("alice", "Change", "twin")
			s.settle()
			n := s.repo.OpenPull("alice", "Change", "b")
			leaves, left := false, false
			s.before(checks(func(c github.Check) bool {
				return leaves && strings.HasPrefix(c.ExternalID, fmt.Sprintf("%d/", twin)) && c.Conclusion == github.ConcludedFailure && !left
			}), func() {
				left = true
				s.pushed(n, "b", githubtest.Files{"b.tf": resource("b", "2")})
			})
			engine := s.pipeline.Engine
			s.pipeline.Engine = failing{engine}
			leaves = writer == "the one that has failed"
			s.settle()
			s.pipeline.Engine = engine
			if !leaves {
				leaves = true
				s.say("alice", twin, "lockstep plan")
			}
			s.settle()
			if !left {
				t.Error("it has not left meanwhile")
			}
			s.expect("the check", s.check("twin"), "success Ready to apply – 2 to add")
		})
	}
}

// TestClosedUnseen holds that the check of a head which nobody has looked at is ended where the pull request is closed or
// merged meanwhile, and does not stand in the way of another pull request with the same head.
func TestClosedUnseen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(*stage, int)
		is   string
		page string
	}{
		"closed": {func(s *stage, n int) { s.repo.Close("alice", n) }, "cancelled Closed", "closed without being merged"},
		"closed, and nobody is told": {func(s *stage, n int) {
			s.repo.Close("alice", n)
			s.hub.LoseDeliveries(9)
			s.delivered()
			s.hub.LoseDeliveries(0)
		}, "cancelled Closed", "closed without being merged"},
		"merged, and planned then": {func(s *stage, n int) { s.repo.Merge("alice", n) }, "neutral 1 project ready to apply – 3 to add, 0 to change, 0 to destroy", "To apply this plan, comment `lockstep apply`."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			s.repo.Push("alice", "b", "More", githubtest.Files{"c.tf": resource("c", "1")})
			s.hub.Deliver(t.Context())
			projects := s.pipeline.Projects
			s.pipeline.Projects = blind{}
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				err := s.pipeline.Handle(ctx, m)
				if s.pipeline.Projects != projects && err != nil { // it has died
					s.pipeline.Projects = projects
					s.headIs("pending", "b", "queued Looking for the projects")
					test.end(s, n)
				}
				return err
			})
			s.settle()
			s.headIs("ended", "b", test.is)
			s.expect("its page", s.checkOf("b", "lockstep").Summary, test.page)
			if got := s.pending(s.repo.Head("b")); len(got) > 0 {
				t.Errorf("it waits for ever: %q", got)
			}
		})
	}
}

// TestAnswerOfALeftApply is the story of an apply that is done and cannot be told: before its message comes again, a command
// has the project planned once more, which takes the record. It holds that the apply is answered all the same.
func TestAnswerOfALeftApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	m, id := s.toApply("alice", n)
	revive := s.refuse(writes("ask/", `"done":{`)) // no answer tells of what was applied
	if err := s.pipeline.Handle(t.Context(), m); err == nil {
		t.Fatal("it was told")
	}
	revive()
	s.command("bob", n, "lockstep plan")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the apply", s.answerTo(n, id), "**Applied** `.`: 2 added")
}

// TestDeathBesideATwin holds that the check of a pull request with the same head is written by the next try if the first one has
// ended its own, and died then.
func TestDeathBesideATwin(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	for _, branch := range []string{"b", "twin"} {
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"net/b.tf": resource("b", "1")})
	}
	n, twin := s.repo.OpenPull("alice", "Change", "b"), s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	s.say("alice", n, "lockstep plan -target=terraform_data.b")
	s.expect("the check of both", s.check("twin"), "action_required")
	var id int64
	for _, c := range s.repo.Checks(s.repo.Head("twin")) {
		if c.ExternalID == gatefacts.ExternalID(s.run(twin)) {
			id = c.ID
		}
	}
	refused := 0
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, fmt.Sprint("/check-runs/", id)) || refused > 3 {
			return false
		}
		refused++
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	s.repo.Merge("bob", n)
	s.settle()
	if refused == 0 {
		t.Fatal("nobody has written the other check")
	}
	for _, c := range s.repo.Checks(s.repo.Head("twin")) {
		if c.ID == id && c.Conclusion != github.ConcludedSuccess { // the merged one does not hold it
			t.Errorf("%s: %s", c.Conclusion, c.Title)
		}
	}
}

// TestLeavesWhileItFails holds that a pull request which leaves its head while the failure there is being written leaves no
// failed check to another one with that head.
func TestLeavesWhileItFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	for _, branch := range []string{"b", "twin"} {
		s.repo.Push("GitHub", branch, "Change", githubtest.Files{"b.tf": resource("b", "1")})
	}
	s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	head, n := s.repo.Head("twin"), s.repo.OpenPull("alice", "Change", "b")
	left := false
	s.before(checks(func(c github.Check) bool {
		return strings.HasPrefix(c.ExternalID, fmt.Sprintf("%d/", n)) && c.Conclusion == github.ConcludedFailure && !left
	}), func() {
		left = true
		s.pushed(n, "b", githubtest.Files{"b.tf": resource("b", "2")})
	})
	engine := s.pipeline.Engine
	s.pipeline.Engine = failing{engine}
	s.settle()
	s.pipeline.Engine = engine
	s.settle()
	if !left {
		t.Fatal("it has not left meanwhile")
	}
	for _, c := range s.repo.Checks(head) {
		if c.Conclusion == github.ConcludedFailure {
			t.Errorf("%s of %s: %s", c.Name, c.ExternalID, c.Title)
		}
	}
}

// TestApplyOfWhatIsApplied holds that an apply after the merge names no remedy where nothing is left, and what is left where
// something is.
func TestApplyOfWhatIsApplied(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	got := s.say("alice", n, "lockstep apply")
	if s.expect("of one", got, "is already applied, requested by `alice`."); strings.Contains(got, "lockstep retry") || strings.Contains(got, "is merged") {
		t.Errorf("nothing is left:\n%s", got)
	}
	files := onMergeNet()
	files["app/main.tf"] = resource("a", "1")
	files["lockstep.hcl"] += "project \"app\" {\n  dir = \"app\"\n}\n"
	s = newStage(t, files)
	n = s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	got = s.say("alice", n, "lockstep apply")
	if s.expect("of two", got, "**Not applied** `app`", "Comment `lockstep retry`"); strings.Contains(got, "`net`") {
		t.Errorf("it is applied:\n%s", got)
	}
}

// TestRemediesAfterTheMerge holds that those of a merged pull request are for one: of each of its projects, and none is a merge.
func TestRemediesAfterTheMerge(t *testing.T) {
	t.Parallel()
	two := "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": two})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1"), "app/c.tf": resource("c", "1")})
	s.say("alice", n, "lockstep apply")
	s.say("bob", m, "lockstep apply -p app")
	unmerged := "Merge this pull request, so that"
	if got := s.status(m); strings.Contains(got, unmerged) {
		t.Errorf("a merge would leave a blocked plan:\n%s", got)
	}
	s.repo.Merge("bob", m)
	s.settle()
	s.say("bob", m, "lockstep retry")
	got := s.status(m)
	if s.expect("blocked", got, "**blocked**", "plans a blocked project again once the other pull request is merged or closed"); strings.Contains(got, unmerged) {
		t.Errorf("it is merged:\n%s", got)
	}
	got = s.say("bob", m, "lockstep apply")
	if s.expect("its apply", got, "Merge #1, or close it to give up its changes. Lockstep then plans this project again."); strings.Contains(got, "into this branch") {
		t.Errorf("it is merged:\n%s", got)
	}
	s.repo.Push("bob", "main", "Broken", githubtest.Files{"app/c.tf": "resource {\n"})
	s.settle()
	s.repo.Merge("alice", n)
	s.settle()
	s.say("bob", m, "lockstep plan -p app")
	s.expect("one that failed, one that waits", s.status(m), "For a new plan of what was merged and is not applied, comment `lockstep retry`.", "Read the new plan. To confirm it, comment the command in the table.")
}
