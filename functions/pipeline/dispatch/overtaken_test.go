package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// duringAPlan lets something happen during the next plan.
func (s *stage) duringAPlan(do func()) {
	engine := s.pipeline.Engine
	s.pipeline.Engine = interrupted{engine, func() {
		if next := do; next != nil {
			do = nil
			next()
		}
	}}
}

// planOfMerge holds that nothing of a merge is applied, that it is planned of the base branch, and that the answer to it says
// nothing else.
func (s *stage) planOfMerge(name string, n int) {
	s.t.Helper()
	s.expect(name+": the status", s.status(n), "| ready to apply")
	got := s.answer(n, "merge")
	s.expect(name+": the answer to the merge", got, "**Planned** `net`: ")
	if strings.Contains(got, "Applied") || strings.Contains(got, "Not applied") {
		s.t.Errorf("%s: the answer to the merge is %s", name, got)
	}
	if all := s.repo.Issues(); len(all) != 1 || !all[0].Open {
		s.t.Errorf("%s: the issues are %+v", name, all)
	}
	s.expect(name+": the apply", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
	if s.repo.Issues()[0].Open {
		s.t.Errorf("%s: the issue is open", name)
	}
}

// TestMergedBeforeItIsShown holds that a merge applies no plan that nobody could have read before: of a new pull request, and of
// a push to one whose plan was shown. It is planned of the base branch instead, whichever moment of the plan the merge comes in.
func TestMergedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		for name, merge := range map[string]func(s *stage, n int){
			"while it is queued": func(s *stage, n int) {
				plan := s.held(pipeline.ToPlan)
				s.repo.Merge("bob", n)
				s.settle()
				if err := s.pipeline.Handle(s.t.Context(), plan); err != nil {
					s.t.Error(err)
				}
			},
			"as its plan begins": func(s *stage, n int) {
				plan := s.held(pipeline.ToPlan)
				s.repo.Merge("bob", n)
				if err := s.pipeline.Handle(s.t.Context(), plan); err != nil {
					s.t.Error(err)
				}
				if got := s.check("b"); strings.Contains(got, "failure") {
					s.t.Errorf("the check is %s", got)
				}
			},
			"while it is planned": func(s *stage, n int) { s.duringAPlan(func() { s.repo.Merge("bob", n) }) },
			"while it is planned, and told at once": func(s *stage, n int) {
				s.duringAPlan(func() {
					s.repo.Merge("bob", n)
					s.meanwhile()
				})
			},
			"before it is shown": func(s *stage, n int) {
				s.settleBut(pipeline.SyncComments)
				s.repo.Merge("bob", n)
			},
		} {
			if pushed {
				name += ", after a push"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, onMerge())
				s.repo.Push("alice", "b", "B", withBackends(githubtest.Files{"net/b.tf": resource("b", "1")}))
				n := s.repo.OpenPull("alice", "B", "b")
				if pushed {
					s.settle()
					s.repo.Push("alice", "b", "More", githubtest.Files{"net/unread.tf": resource("unread", "1")})
				}
				merge(s, n)
				s.settle()
				s.planOfMerge(name, n)
			})
		}
	}
}

// TestAutoMerge holds that GitHub merges by itself only once the plan is shown, so that the merge applies it, even where all happens
// within a second of GitHub's clock; and that a plan which a push replaces has to be shown before, too.
func TestAutoMerge(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]func() time.Time{"the story's clock": nil, "one second": time.Now} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStageAt(t, onMerge(), clock)
			s.repo.Push("alice", "b", "B", withBackends(githubtest.Files{"net/b.tf": resource("b", "1")}))
			n := s.repo.OpenPull("alice", "B", "b")
			s.repo.AutoMerge("alice", n, "lockstep")
			s.repo.Push("alice", "b", "More", githubtest.Files{"net/more.tf": resource("more", "1")})
			s.settle()
			s.expect("the answer to the merge", s.answer(n, "merge"), "**Applied** `net`: 3 added")
			s.expect("the status", s.status(n), "applied")
			if all := s.repo.Issues(); len(all) != 0 {
				t.Errorf("the issues are %+v", all)
			}
		})
	}
}

// TestMergedWithoutItsProjects holds that the merge of a head that touches no project says nothing of the plans of former heads.
func TestMergedWithoutItsProjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.ForcePush("alice", "b", "Words", githubtest.Files{"README.md": "more"})
	s.settle()
	s.repo.Merge("bob", n)
	s.settle()
	if got := s.answer(n, "merge"); got != "" {
		t.Errorf("the answer to the merge is %s", got)
	}
	s.expect("the status", s.status(n), "No project is affected")
}

// TestQueuedBeforeItIsShown holds that the group of a pull request which was put into the merge queue before its plan was shown
// fails, and that the remedy is one.
func TestQueuedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMergeNet())
	s.repo.Push("alice", "b", "B", withBackends(githubtest.Files{"net/b.tf": resource("b", "1")}))
	n := s.repo.OpenPull("alice", "B", "b")
	at := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the group", s.group(at), "completed failure", "Failed: added to the merge queue before the plan was posted")
	s.expect("the comment", s.answer(n, "queue-"+at), "**Added to the merge queue before the plan of `net` was posted** (", "), so nobody had seen the plan.")
	if s.repo.Land("lockstep") {
		t.Fatal("it is merged")
	}
	s.settle()
	s.repo.Push("bob", "main", "Words", githubtest.Files{"doc.md": "words"}) // else it is the same commit
	again := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("the check of the next group", s.group(again), "completed success")
	if !s.repo.Land("lockstep") {
		t.Fatal("it is not merged")
	}
	s.settle()
	s.expect("the status", s.status(n), "applied by")
}

// TestForkMergedAfterItsPreview holds that what was planned without credentials is planned with them once it is merged.
func TestForkMergedAfterItsPreview(t *testing.T) {
	t.Parallel()
	files := onMerge()
	files["lockstep.hcl"] += "allow {\n  forks = true\n}\n"
	s := newStage(t, files)
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "theirs", "Theirs", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPullFrom(fork, "mallory", "Theirs", "theirs")
	s.settle()
	s.expect("the plan", s.say("bob", n, "lockstep plan "+fork.Head("theirs")), "**Planned** `net`")
	s.repo.Merge("bob", n)
	s.settle()
	s.planOfMerge("a fork", n)
}

// TestRetargetedAndMergedThere holds that a pull request which goes into a branch that is not planned has no plan that waits for
// its merge, and that its merge there is none that anything is left of: whether or not anybody told us of its new branch.
func TestRetargetedAndMergedThere(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"told": false, "lost": true} {
		s := newStage(t, onMerge())
		s.repo.Push("alice", "release", "R", nil)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		if lost {
			s.hub.LoseDeliveries(1)
		}
		s.repo.Retarget("alice", n, "release")
		s.settle()
		if !lost {
			s.expect(name+": the check", s.check("b"), "lockstep/net: cancelled Plan dropped, not applied")
			if got := s.status(n); strings.Contains(got, "on merge") || strings.Contains(got, "Merging") {
				t.Errorf("%s: the status is %s", name, got)
			}
		}
		s.repo.Merge("alice", n)
		s.settle()
		if all := s.repo.Issues(); len(all) > 0 {
			t.Errorf("%s: the issues are %+v", name, all)
		}
		if got := s.answer(n, "merge"); got != "" {
			t.Errorf("%s: the answer to the merge is %s", name, got)
		}
		s.expect(name+": the check", s.check("b"), "lockstep/net: cancelled ")
	}
	// And back again.
	s := newStage(t, onMerge())
	s.repo.Push("alice", "release", "R", nil)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.repo.Retarget("alice", n, "main")
	s.settle()
	s.expect("the status", s.status(n), "applies on merge")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "**Applied** `net`")
}
