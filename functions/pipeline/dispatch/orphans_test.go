package dispatch_test

import (
	"fmt"
	"testing"

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
