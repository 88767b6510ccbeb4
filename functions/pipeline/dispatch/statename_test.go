package dispatch_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// named is a lockstep.hcl with one project in the directory net.
func named(name, more string) string {
	return "project \"" + name + "\" {\n  dir = \"net\"\n" + more + "}\n"
}

// TestStateOfAnotherName is about a project that gets another name while a pull request is applied to its state and locks it: the
// state, its queue, lock and last apply are the same.
func TestStateOfAnotherName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		first githubtest.Files
		then  githubtest.Files
		is    string
	}{
		{"by the settings", githubtest.Files{"lockstep.hcl": named("net", "")}, githubtest.Files{"lockstep.hcl": named("network", "")}, "network"},
		{"by the first settings", nil, githubtest.Files{"lockstep.hcl": named("network", "")}, "network"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1")}.With(test.first))
			z := s.pull("alice", "z", githubtest.Files{"net/z.tf": resource("z", "1")})
			s.expect("the first apply", s.say("alice", z, "lockstep apply"), "**Applied**")
			s.repo.Merge("alice", z)
			s.settle()
			q := s.pull("bob", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
			s.expect("the apply of q", s.say("bob", q, "lockstep apply"), "**Applied**")
			s.expect("the lock", s.say("bob", q, `lockstep lock --reason "mine"`), "**Locked**")
			r := s.pull("alice", "r", test.then)
			s.repo.Merge("alice", r)
			s.settle()

			p := s.pull("alice", "p", githubtest.Files{"net/p.tf": resource("p", "1")})
			s.expect("the status of p", s.status(p), "**blocked**", "#2 was applied", "has locked the state")
			s.expect("the apply of p", s.say("alice", p, "lockstep apply"), "**Not applied** `"+test.is+"`", "#2")
			if got := b.objects(t, "s3://states/net"); got != "a q z" {
				t.Errorf("the state has %s", got)
			}

			s.expect("the unlock", s.say("bob", q, "lockstep unlock"), "**Unlocked**")
			s.repo.Merge("bob", q)
			s.settle()
			s.expect("the status of p after the merge", s.status(p), "**has a new plan**", "1 to add, 0 to change, 0 to destroy", "- action: delete")
			s.expect("the apply of p after the merge", s.say("alice", p, "lockstep apply "+s.hash(p)), "**Applied** `"+test.is+"`")
			if got := b.objects(t, "s3://states/net"); got != "a p q z" {
				t.Errorf("the state has %s", got)
			}
		})
	}
}
