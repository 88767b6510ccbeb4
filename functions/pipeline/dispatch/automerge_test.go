package dispatch_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// automerged is a repository whose pull requests are merged once they are applied.
func automerged(t *testing.T, settings string) *stage {
	t.Helper()
	s := newStage(t, githubtest.Files{
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nautomerge {\n  delete_branch = true\n}\n" + settings, "net/main.tf": resource("vpc", "v1"), "README.md": "hello\n",
	})
	s.hub.Accepts("contents", "write")
	return s
}

// branchDeleted reports whether we have deleted a branch.
func (s *stage) branchDeleted(name string) bool {
	return slices.ContainsFunc(s.hub.Edits(), func(e githubtest.Edit) bool { return e.Kind == "delete branch" && e.Text == name })
}

// TestPlannedAgainAfterTheApply holds that a pull request which is planned again stays an applied one: people are told to merge
// it, as others wait for that, and it is merged by itself where the base branch wants that.
func TestPlannedAgainAfterTheApply(t *testing.T) {
	t.Parallel()
	again := map[string]func(s *stage, n int){
		"plan": func(s *stage, n int) { s.say("alice", n, "lockstep plan") },
		"push": func(s *stage, n int) {
			s.repo.Push("alice", "b", "Words", githubtest.Files{"README.md": "x"})
			s.settle()
		},
		"reopen": func(s *stage, n int) {
			s.repo.Close("alice", n)
			s.settle()
			s.repo.Reopen("alice", n)
			s.settle()
		},
	}
	for how, do := range again {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("vpc", "v1")})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.say("alice", n, "lockstep apply")
		do(s, n)
		s.expect(how, s.status(n), "no changes", "Merge this pull request. Until then, the next apply from another branch would undo the applied changes.")

		s = automerged(t, "")
		n = s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.repo.RefuseMerges("At least 1 approving review is required")
		s.say("alice", n, "lockstep apply")
		do(s, n)
		s.repo.RefuseMerges("")
		s.repo.Review("bob", n, github.Approved, "")
		s.settle()
		if !s.merged(n) {
			t.Errorf("%s: it is not merged", how)
		}
	}
	s := automerged(t, "")
	first := s.pull("alice", "a", githubtest.Files{"net/a.tf": "# all\n"})
	s.say("alice", first, "lockstep apply")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "# nothing\n"})
	s.expect("nothing was applied", s.status(n), "no changes")
	s.say("alice", n, "lockstep plan")
	if s.merged(n) {
		t.Error("a pull request that was never applied is merged")
	}
}

// TestIntoTheMergeQueue holds that a pull request whose base branch has a merge queue is put there once it is applied, and once
// only; that the queue merges it, and its branch is deleted then and not before.
func TestIntoTheMergeQueue(t *testing.T) {
	t.Parallel()
	s := automerged(t, "")
	s.repo.RequireQueue()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	queued := func() (times int) {
		for _, e := range s.hub.Edits() {
			if e.Kind == "queue" && e.Who == "lockstep[bot]" {
				times++
			}
		}
		return times
	}
	if queued() != 1 || s.merged(n) || s.branchDeleted("b") {
		t.Fatalf("queued %d times, merged %t, deleted %t", queued(), s.merged(n), s.branchDeleted("b"))
	}
	s.say("bob", n, "lockstep plan")
	if queued() != 1 {
		t.Errorf("queued %d times", queued())
	}
	if !s.repo.Land("lockstep") {
		t.Fatal("the queue does not merge it")
	}
	s.settle()
	if !s.merged(n) || !s.branchDeleted("b") {
		t.Errorf("merged %t, deleted %t", s.merged(n), s.branchDeleted("b"))
	}
	for _, c := range s.repo.Comments(n) {
		if strings.Contains(c.Body, "Applied, not merged") {
			t.Errorf("it is told as refused: %s", c.Body)
		}
	}

	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Dequeue(n)
	s.settle()
	s.say("bob", n, "lockstep plan")
	if queued() != 2 {
		t.Errorf("one that somebody took out was queued %d times", queued()-1)
	}
	s.repo.Push("alice", "c", "More", githubtest.Files{"net/d.tf": resource("d", "1")})
	s.settle()
	s.say("alice", n, "lockstep apply")
	if queued() != 3 {
		t.Errorf("with another head it was queued %d times", queued()-1)
	}
}

// TestBranchesThatStay holds that no branch is deleted after the merge that pull requests are planned for, or that is the head of
// another one.
func TestBranchesThatStay(t *testing.T) {
	t.Parallel()
	s := automerged(t, "allow {\n  branches = [\"develop\"]\n}\n")
	n := s.pull("alice", "develop", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	if !s.merged(n) || s.branchDeleted("develop") {
		t.Errorf("merged %t, develop is deleted %t", s.merged(n), s.branchDeleted("develop"))
	}
	s.repo.Push("alice", "release", "R", nil)
	s.repo.Push("alice", "x", "X", githubtest.Files{"net/x.tf": resource("x", "1")})
	one, two := s.repo.OpenPull("alice", "X", "x"), s.repo.OpenPull("alice", "X to release", "x")
	s.repo.Retarget("alice", two, "release")
	s.settle()
	s.say("alice", one, "lockstep apply")
	if !s.merged(one) || s.branchDeleted("x") {
		t.Errorf("merged %t, x is deleted %t", s.merged(one), s.branchDeleted("x"))
	}
	n = s.pull("alice", "y", githubtest.Files{"net/y.tf": resource("y", "1")})
	s.say("alice", n, "lockstep apply")
	if !s.merged(n) || !s.branchDeleted("y") {
		t.Errorf("merged %t, y is deleted %t", s.merged(n), s.branchDeleted("y"))
	}
}

// TestMergedLater holds that a merge which GitHub refuses, or of a draft, is made once it may be: when a check has passed, when the draft
// is none any more, and by the janitor after an hour if nobody is told of anything.
func TestMergedLater(t *testing.T) {
	t.Parallel()
	for how, after := range map[string]func(s *stage, n int){
		"a check": func(s *stage, n int) {
			s.repo.AddCheck("buildkite", github.Check{Name: "ci", SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "t", Summary: "s"})
		},
		"a comment before the check": func(s *stage, n int) {
			s.say("bob", n, "lockstep help")
			s.repo.AddCheck("buildkite", github.Check{Name: "ci", SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "t", Summary: "s"})
		},
		"nobody is told": func(s *stage, n int) {
			s.roundAt(time.Now().Add(2*time.Hour), reconcile.Found{Decisions: 1})
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := automerged(t, "")
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.repo.RefuseMerges("Required status check \"ci\" is expected.")
			s.say("alice", n, "lockstep apply")
			if s.merged(n) {
				t.Fatal("it is merged in spite of the refusal")
			}
			s.repo.RefuseMerges("")
			after(s, n)
			s.settle()
			if !s.merged(n) {
				t.Error("it is not merged")
			}
		})
	}
	s := automerged(t, "")
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenDraft("alice", "B", "b")
	s.settle()
	s.say("alice", n, "lockstep apply")
	if s.merged(n) {
		t.Fatal("a draft is merged")
	}
	s.repo.Ready("alice", n)
	s.settle()
	if !s.merged(n) {
		t.Error("what was a draft is not merged")
	}
}

// TestNoMergeOfADraft holds that the merge of a draft is not even asked for: whoever owns the branch's rules may let Apps past them.
func TestNoMergeOfADraft(t *testing.T) {
	t.Parallel()
	s := automerged(t, "")
	asked := 0
	s.answered = func(r *http.Request, _ int) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
			asked++
		}
	}
	s.repo.Push("alice", "b", "Change", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenDraft("alice", "Change", "b")
	s.settle()
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	if asked > 0 || s.merged(n) {
		t.Errorf("the merge of a draft is asked for %d times", asked)
	}
	s.repo.Ready("alice", n)
	s.settle()
	if !s.merged(n) {
		t.Error("it is no draft any more, and is not merged")
	}
}

// TestAutomergeInAConflict holds that whoever reads of a merge which GitHub refuses is told of a conflict, and of the merge once it is done.
func TestAutomergeInAConflict(t *testing.T) {
	t.Parallel()
	s := automerged(t, "")
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1"), "words.md": "mine"})
	n := s.repo.OpenDraft("alice", "B", "b")
	s.settle()
	s.say("alice", n, "lockstep apply")
	s.repo.Push("bob", "main", "Words", githubtest.Files{"words.md": "theirs"})
	s.repo.Ready("alice", n)
	s.settle()
	name := "automerge-" + s.repo.Head("b")
	answer := func() string { return s.answer(n, name) }
	s.expect("the answer", answer(), "**Applied, not merged.** All projects are applied, but GitHub refused the automatic merge (", "It conflicts with the base branch: merge that into this one, or rebase it, and push.")
	s.repo.Push("bob", "main", "No words", githubtest.Files{"words.md": githubtest.Deleted})
	s.merge("alice", n)
	s.expect("the answer after the merge", answer(), "**Applied, and merged since.**")
	s.without("the answer after the merge", answer(), "tried again", "does not have")
}

// TestAutomergeIntoAnotherBranch holds that what was applied for one branch is not merged into another one by itself.
func TestAutomergeIntoAnotherBranch(t *testing.T) {
	t.Parallel()
	s := automerged(t, "allow {\n  branches = [\"release\"]\n}\n")
	s.repo.Push("bob", "release", "R", githubtest.Files{"doc.md": "x"})
	s.settle()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.RefuseMerges("no")
	s.say("alice", n, "lockstep apply")
	s.repo.RefuseMerges("")
	s.repo.Retarget("alice", n, "release")
	s.settle()
	if s.merged(n) || s.branchDeleted("b") {
		t.Fatal("it was merged into a branch that nobody has applied it for")
	}
	s.roundsWithin(2 * time.Hour)
	if f := s.roundsWithin(3 * time.Hour); f.Decisions != 0 {
		t.Errorf("the merge is tried without end: %+v", f)
	}
	s.repo.Retarget("alice", n, "main")
	s.settle()
	if !s.merged(n) {
		t.Errorf("it goes into the branch again that it was applied for, and was not merged:\n%s", s.status(n))
	}
}

// TestAutomergeAfterADrift holds that it keeps no pull request from its merge.
func TestAutomergeAfterADrift(t *testing.T) {
	t.Parallel()
	s := automerged(t, "")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.RefuseMerges("no")
	s.say("alice", n, "lockstep apply")
	s.repo.RefuseMerges("")
	s.say("alice", n, "lockstep drift")
	if !s.merged(n) {
		t.Errorf("it was not merged:\n%s", s.status(n))
	}
}

// TestMergeLeftToPeople holds that a pull request which is not merged by itself, since the merge applies a plan of it, says so.
func TestMergeLeftToPeople(t *testing.T) {
	t.Parallel()
	const left = "You have to merge it yourself: `automerge` merges only pull requests that are applied before the merge."
	s := automerged(t, "project \"dns\" {\n  dir = \"dns\"\n  apply = \"merge\"\n}\n")
	s.repo.Push("bob", "main", "Another project", githubtest.Files{"dns/main.tf": resource("a", "1"), "dns/backend.tf": "terraform {\n  backend \"local\" {\n  }\n}\n"})
	s.settle()
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "dns/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.expect("the status", s.status(n), "To apply the plans that apply on merge, merge this pull request.\n- "+left)
	if s.merged(n) {
		t.Error("it is merged")
	}
	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	if got := s.status(n); strings.Contains(got, left) {
		t.Errorf("nothing waits for the merge:\n%s", got)
	}
}
