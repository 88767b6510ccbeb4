package dispatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const (
	appAlone   = "project \"app\" {\n  dir = \"app\"\n}\n"
	netWithApp = "project \"net\" {\n  dir = \"net\"\n}\n" + appAlone
	anyState   = "allow {\n  states = [\"s3://states/**\"]\n}\n"
)

// netGone are the changes of a pull request that removes net; more are further settings.
func netGone(more string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted, "net/z.tf": githubtest.Deleted, "lockstep.hcl": appAlone + more,
	}
}

// orphaning is a stage with two applied projects in S3, before one of them is removed. more are further settings.
func orphaning(t *testing.T, more string) (*stage, buckets) {
	t.Helper()
	s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": netWithApp + more})
	first := s.pull("alice", "first", githubtest.Files{"net/z.tf": resource("z", "1"), "app/z.tf": resource("z", "1")})
	s.say("alice", first, "lockstep apply")
	s.merge("alice", first)
	if got := b.objects(t, "s3://states/net"); got != "a z" {
		t.Fatalf("the state has %q", got)
	}
	return s, b
}

// merge merges a pull request.
func (s *stage) merge(who string, n int) {
	s.t.Helper()
	s.repo.Merge(who, n)
	s.settle()
}

// TestOrphansInS3 holds that what a merged removal has left in S3 can be destroyed, though the base branch neither has the state any
// more nor allows it.
func TestOrphansInS3(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"nothing allowed": "", "allowed": anyState} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := orphaning(t, more)
			n := s.pull("alice", "remove", netGone(more))
			s.merge("alice", n)
			s.expect("a plan", s.say("bob", n, "lockstep retry"), "**Planned** `net`", "2 to destroy")
			s.expect("its apply", s.say("bob", n, "lockstep apply -p net"), "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
			if got := b.objects(t, "s3://states/net"); got != "" {
				t.Errorf("the state has %s", got)
			}
			if issues := s.repo.Issues(); len(issues) != 1 || issues[0].Open {
				t.Errorf("the issues are %+v", issues)
			}
		})
	}
}

// TestOrphansOfABrokenBase holds that nothing is destroyed while the settings of the base branch cannot be read: they may have the
// project again.
func TestOrphansOfABrokenBase(t *testing.T) {
	t.Parallel()
	s, b := orphaning(t, "")
	n := s.pull("alice", "remove", netGone(""))
	s.merge("alice", n)
	s.expect("a plan", s.say("bob", n, "lockstep retry"), "2 to destroy")
	s.repo.Push("bob", "main", "Half of it", inBuckets(githubtest.Files{"net/main.tf": resource("a", "1"), "net/z.tf": resource("z", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \n"}))
	s.settle()
	s.expect("its apply", s.say("bob", n, "lockstep apply -p net"), "**Not applied** `net`")
	if got := b.objects(t, "s3://states/net"); got != "a z" {
		t.Errorf("the state has %q", got)
	}
}

// TestOrphansOfAnotherBranch carries an attack out: a pull request that removes a project of one branch, which asks for approvals, is
// merged into another branch, which never had the project and asks for none. Its objects stay.
func TestOrphansOfAnotherBranch(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} { // the other branch, before the merge
		t.Run(fmt.Sprint(seen), func(t *testing.T) {
			t.Parallel()
			const named, approved = "allow {\n  branches = [\"release\"]\n}\n", "require \"apply\" {\n  approvals = 1\n}\n"
			s, b := newBuckets(t, githubtest.Files{"app/main.tf": resource("a", "1"), "lockstep.hcl": appAlone + named})
			s.repo.Push("alice", "release", "Release", inBuckets(githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netWithApp}))
			into := func(branch string, changes githubtest.Files) int {
				s.repo.Push("alice", branch, branch, githubtest.Files{branch + ".md": "hello\n"})
				n := s.repo.OpenPull("alice", branch, branch)
				s.repo.Retarget("alice", n, "release")
				s.repo.UpdateBranch("alice", n)
				s.repo.Push("alice", branch, branch, changes)
				s.settle()
				return n
			}
			first := into("first", githubtest.Files{"net/z.tf": resource("z", "1")})
			s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`")
			s.merge("alice", first)
			s.repo.Push("bob", "release", "Ask for approvals", githubtest.Files{"lockstep.hcl": netWithApp + approved})
			n := into("remove", netGone(named))
			s.expect("the status", s.status(n), "2 to destroy")
			s.expect("its apply there", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "an approval")
			s.repo.Retarget("alice", n, "main")
			if seen {
				s.settle()
			}
			s.merge("alice", n)
			for _, command := range []string{"apply -p net", "retry", "apply -p net", "plan -p net", "apply -p net", "plan -destroy -p net", "apply -p net"} {
				s.say("alice", n, "lockstep "+command)
			}
			if got := b.objects(t, "s3://states/net"); got != "a z" {
				t.Errorf("the state has %q:\n%s", got, s.status(n))
			}
		})
	}
}

// removedAndBack is a stage with an open pull request that changes net, which another one has removed and destroyed. back brings it
// back, without an apply.
func removedAndBack(t *testing.T) (s *stage, b buckets, open int, back func() int) {
	s, b = orphaning(t, anyState)
	open = s.pull("bob", "open", githubtest.Files{"net/o.tf": resource("o", "1"), "words.md": "mine"})
	n := s.pull("alice", "remove", netGone(anyState))
	s.expect("the removal", s.say("alice", n, "lockstep apply -p net"), "2 destroyed")
	s.merge("alice", n)
	s.expect("the status", s.status(open), "**The base branch has removed** `net`")
	return s, b, open, func() int {
		return s.pull("alice", "back", inBuckets(githubtest.Files{"net/main.tf": resource("a", "1"), "net/z.tf": resource("z", "1"), "lockstep.hcl": netWithApp + anyState}))
	}
}

// TestRemovalIsTakenBack holds that a pull request whose project the base branch had removed, and has again, is planned again: its
// check does not let it be merged as if there were nothing to apply, and no merge of it is silent.
func TestRemovalIsTakenBack(t *testing.T) {
	t.Parallel()
	t.Run("applied", func(t *testing.T) {
		t.Parallel()
		s, b, open, back := removedAndBack(t)
		n := back()
		s.say("alice", n, "lockstep apply")
		s.merge("alice", n)
		s.expect("the status", s.status(open), "1 to add, 0 to change, 0 to destroy", "ready to apply")
		s.without("the status", s.status(open), "has removed")
		s.expect("its apply", s.say("bob", open, "lockstep apply"), "**Applied** `net`: 1 added")
		if got := b.objects(t, "s3://states/net"); got != "a o z" {
			t.Errorf("the state has %q", got)
		}
	})
	t.Run("merged", func(t *testing.T) {
		t.Parallel()
		s, _, open, back := removedAndBack(t)
		s.merge("alice", back())
		s.expect("an apply", s.say("bob", open, "lockstep apply"), "**Not applied**", "There is no plan to apply.", "`lockstep plan`")
		s.expect("a repetition", s.say("bob", open, "lockstep retry"), "**Planned** `net`: 3 to add")
	})
	t.Run("merged, and nobody says anything", func(t *testing.T) {
		t.Parallel()
		s, _, open, back := removedAndBack(t)
		s.roundsWithin(30 * time.Minute)
		s.expect("the status", s.status(open), "has removed")
		if f := s.roundsWithin(3 * time.Hour); f.States != 0 {
			t.Errorf("it is looked for without end: %+v", f)
		}
		s.merge("alice", back())
		s.headIs("the check", "open", "success No project is affected")
		if f := s.roundsWithin(30 * time.Minute); f.States == 0 {
			t.Errorf("%+v", f)
		}
		s.expect("the status then", s.status(open), "3 to add, 0 to change, 0 to destroy", "ready to apply")
		s.headIs("the check then", "open", "neutral 1 project ready to apply – 3 to add, 0 to change, 0 to destroy")
		s.expect("its apply", s.say("bob", open, "lockstep apply"), "**Applied** `net`: 3 added")
		if f := s.roundsWithin(3 * time.Hour); f.States != 0 {
			t.Errorf("%+v", f)
		}
	})
	t.Run("beside a conflict", func(t *testing.T) {
		t.Parallel()
		s, _, _, back := removedAndBack(t)
		s.repo.Push("alice", "main", "Words", githubtest.Files{"words.md": "theirs"})
		s.settle()
		s.merge("alice", back())
		s.roundsWithin(30 * time.Minute)
		if f := s.roundsWithin(3 * time.Hour); f.States != 0 {
			t.Errorf("it is looked for without end: %+v", f)
		}
	})
	t.Run("and so is the other", func(t *testing.T) {
		t.Parallel()
		s, b, open, back := removedAndBack(t)
		s.merge("alice", back())
		s.merge("bob", open)
		s.expect("the merge", s.answer(open, "merge"), "**Planned** `net`: 3 to add")
		s.expect("its apply", s.say("bob", open, "lockstep apply"), "**Applied** `net`: 3 added")
		if got := b.objects(t, "s3://states/net"); got != "a o z" {
			t.Errorf("the state has %q", got)
		}
	})
	t.Run("approved before", func(t *testing.T) {
		t.Parallel()
		const approved = anyState + "require \"apply\" {\n  approvals = 1\n}\n"
		s, b := orphaning(t, anyState)
		s.repo.Push("alice", "main", "Ask for approvals", githubtest.Files{"lockstep.hcl": netWithApp + approved})
		open := s.pull("bob", "open", githubtest.Files{"net/o.tf": resource("o", "1")})
		s.repo.Review("alice", open, github.Approved, "")
		s.settle()
		s.expect("the status", s.status(open), "1 to add", "ready to apply")
		n := s.pull("alice", "remove", netGone(approved))
		back := func() int {
			return s.pull("alice", "back", inBuckets(githubtest.Files{"net/main.tf": resource("b", "1"), "lockstep.hcl": netWithApp + approved}))
		}
		s.repo.Review("bob", n, github.Approved, "")
		s.say("alice", n, "lockstep apply -p net")
		s.merge("alice", n)
		n = back()
		s.repo.Review("bob", n, github.Approved, "")
		s.expect("the way back", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
		s.merge("alice", n)
		s.expect("its apply", s.say("bob", open, "lockstep apply"), "**Not applied** `net`", "an approval")
		if got := b.objects(t, "s3://states/net"); got != "b" {
			t.Errorf("the state has %q", got)
		}
		s.repo.Review("alice", open, github.Approved, "")
		s.settle()
		s.expect("its apply after another approval", s.say("bob", open, "lockstep apply"), "**Applied** `net`: 1 added")
	})
	t.Run("after a merge", func(t *testing.T) {
		t.Parallel()
		s, _, open, back := removedAndBack(t)
		s.merge("bob", open)
		if got := s.answer(open, "merge"); got != "" {
			t.Errorf("the answer to the merge is %s", got)
		}
		s.expect("a repetition", s.say("bob", open, "lockstep retry"), "The base branch has removed `net`")
		s.merge("alice", back())
		s.expect("a repetition", s.say("bob", open, "lockstep retry"), "**Planned** `net`: 3 to add")
	})
	t.Run("twice removed", func(t *testing.T) {
		t.Parallel()
		s, b := orphaning(t, anyState)
		again := s.pull("bob", "again", netGone(anyState).With(githubtest.Files{"README.md": "both\n"}))
		n := s.pull("alice", "remove", netGone(anyState))
		s.say("alice", n, "lockstep apply -p net")
		s.merge("alice", n)
		back := s.pull("alice", "back", inBuckets(githubtest.Files{"net/main.tf": resource("b", "1"), "lockstep.hcl": netWithApp + anyState}))
		s.say("alice", back, "lockstep apply")
		s.merge("alice", back)
		s.say("bob", again, "lockstep apply -p net")
		if got := b.objects(t, "s3://states/net"); got != "b" {
			t.Errorf("the state has %q:\n%s", got, s.status(again))
		}
	})
}

// TestRemovedTwice holds that of two pull requests which remove the same project the second one comes to an end, once the base branch
// does not have it any more, whether or not its objects are destroyed.
func TestRemovedTwice(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprint(applied), func(t *testing.T) {
			t.Parallel()
			s, _ := orphaning(t, "")
			n := s.pull("alice", "remove", netGone(""))
			m := s.pull("bob", "again", netGone("").With(githubtest.Files{"README.md": "both\n"}))
			if applied {
				s.say("alice", n, "lockstep apply -p net")
			}
			s.merge("alice", n)
			s.expect("the status", s.status(m), "**The base branch has removed** `net`")
			s.without("the status", s.status(m), "waits for", "could not be checked")
			for _, command := range []string{"apply -p net", "plan"} {
				s.expect(command, s.say("bob", m, "lockstep "+command), "The base branch has removed `net`")
			}
			if c := s.checkOf("again", "lockstep"); c.Conclusion != github.ConcludedSuccess {
				t.Errorf("the check of the head: %q %s", c.Conclusion, c.Title)
			}
			s.merge("bob", m)
			for _, i := range s.repo.Issues() {
				if strings.Contains(i.Title, fmt.Sprint("#", m)) {
					t.Errorf("an issue about an empty state: %s", i.Body)
				}
			}
		})
	}
}

// TestRemovalBesideAPlan holds that a plan of another project leaves the removal of one as it is.
func TestRemovalBesideAPlan(t *testing.T) {
	t.Parallel()
	s, b := orphaning(t, "")
	n := s.pull("alice", "remove", netGone("").With(githubtest.Files{"app/c.tf": resource("c", "1")}))
	s.expect("a plan of the other", s.say("alice", n, "lockstep plan -p app"), "**Planned** `app`")
	s.expect("the status", s.status(n), "ready to destroy with `lockstep apply -p net`")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p net"), "2 destroyed")
	if got := b.objects(t, "s3://states/net"); got != "" {
		t.Errorf("the state has %q", got)
	}
}

// TestRemovalEndsOthers holds that the merge of a removal ends the plans of other pull requests for the project, though nothing of it is
// applied.
func TestRemovalEndsOthers(t *testing.T) {
	t.Parallel()
	onMerge := strings.Replace(netWithApp, "\"net\"\n}", "\"net\"\n  apply = \"merge\"\n}", 1)
	for name, c := range map[string]struct {
		settings string
		changes  string
		unseen   bool // before the merge
	}{
		"planned":                {netWithApp, resource("o", "1"), false},
		"failed":                 {netWithApp, "resource \"terraform_data\" \"o\" {\n  input = nothing.here\n}\n", false},
		"merged at once":         {netWithApp, resource("o", "1"), true},
		"applied by merges":      {onMerge, resource("o", "1"), false},
		"by merges, and at once": {onMerge, resource("o", "1"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/z.tf": resource("z", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": c.settings})
			open := s.pull("bob", "open", githubtest.Files{"net/o.tf": c.changes})
			s.repo.Push("alice", "remove", "Remove", netGone(""))
			n := s.repo.OpenPull("alice", "Remove", "remove")
			if !c.unseen {
				s.settle()
			}
			s.merge("alice", n)
			s.expect("the status", s.status(open), "**The base branch has removed** `net`")
			s.without("the status", s.status(open), "waits for", "will be applied", "**failed to plan**")
			if c := s.checkOf("open", "lockstep"); c.Conclusion != github.ConcludedSuccess {
				t.Errorf("the check of the head: %q %s", c.Conclusion, c.Title)
			}
		})
	}
}

// TestNewProjectIsClosed holds that the end of a pull request which has applied a project that the base branch does not have tells of
// the objects that nobody plans any more, with a remedy that is one.
func TestNewProjectIsClosed(t *testing.T) {
	t.Parallel()
	s, b := orphaning(t, anyState)
	n := s.pull("alice", "new", inBuckets(githubtest.Files{"new/main.tf": resource("n", "1"), "app/n.tf": resource("n", "1"), "lockstep.hcl": netWithApp + anyState + "project \"new\" {\n  dir = \"new\"\n}\n"}))
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `new`: 1 added", "**Applied** `app`: 1 added")
	s.repo.Close("alice", n)
	s.settle()
	s.expect("the answer", s.answer(n, "close"), "**Applied, not merged**", "no plan includes", "`lockstep plan -p new -destroy`",
		"**Applied, not merged**", "the next apply of this project would undo them")
	s.repo.Reopen("alice", n)
	s.repo.Push("alice", "new", "Another head", githubtest.Files{"app/n.tf": resource("n", "2")})
	s.settle()
	s.expect("the remedy", s.say("alice", n, "lockstep plan -p new -destroy"), "**Planned** `new`", "1 to destroy")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p new"), "**Applied** `new`: 0 added, 0 changed, 1 destroyed")
	if got := b.objects(t, "s3://states/new"); got != "" {
		t.Errorf("the state has %q", got)
	}
	before := strings.Count(s.answer(n, "close"), "no plan includes")
	s.repo.Close("alice", n)
	s.settle()
	if got := strings.Count(s.answer(n, "close"), "no plan includes"); got != before {
		t.Errorf("there is nothing left of it: %s", s.answer(n, "close"))
	}
}

// TestClosedOnceApplied holds that a pull request which is applied, and planned again without changes, is not one of which nothing is
// applied when it is closed.
func TestClosedOnceApplied(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		s, _ := orphaning(t, "")
		change := "# nothing\n"
		if applied {
			change = resource("n", "1")
		}
		n := s.pull("alice", "more", githubtest.Files{"net/n.tf": change})
		if applied {
			s.say("alice", n, "lockstep apply")
			s.expect("a plan after it", s.say("alice", n, "lockstep plan"), "**Planned** `net`: no changes")
		}
		s.repo.Close("alice", n)
		s.settle()
		if told := strings.Contains(s.answer(n, "close"), "**Applied, not merged**"); told != applied {
			t.Errorf("the answer: %s", s.answer(n, "close"))
		}
		for what, text := range map[string]string{
			"the status": strings.ToLower(s.status(n)), "its check": strings.ToLower(s.checkOf("more", "lockstep/net").Title),
		} {
			if closed := strings.Contains(text, "not applied"); closed == applied {
				t.Errorf("%s: %s", what, text)
			}
		}
	}
}

// TestRemovedWorkspace holds that a workspace which is another one at the head is told by its name, before the merge and after it.
func TestRemovedWorkspace(t *testing.T) {
	t.Parallel()
	s := removable(t, "")
	n := s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  workspace = \"prod\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"})
	s.expect("the status", s.status(n), "**This pull request removes the project** `net (default)`.")
	s.merge("alice", n)
	s.expect("the merge", s.answer(n, "merge"), "**Merged, not applied**: `net (prod)`.")
}
