package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestHeldOnMerge holds that nobody is told that the merge applies a plan whose requirements are not fulfilled.
func TestHeldOnMerge(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  approvals = 1")
	files["lockstep.hcl"] = "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\nrequire \"apply\" {\n  approvals = 1\n}\n"
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	const missing, merging, promise = "**not met**: an approval of the planned commit", "To apply this plan, merge the pull request. The requirements can be met before or after the merge", "| applies on merge |"
	s.expect("the status", s.status(n), "needs approval, then applies on merge – 2 to add", "**needs approval**, then applies on merge", missing, "Requirements of plans that apply on merge can be met before or after the merge")
	s.never("the status", s.status(n), promise, "merge this pull request")
	s.expect("the page", s.onPage(n), "**needs approval**, then applies on merge", missing, merging)
	net := s.checkOf("b", "lockstep/net")
	s.expect("the project's check", string(net.Conclusion)+" "+net.Title+"\n"+net.Summary, "action_required Needs approval", missing, merging)
	head := s.checkOf("b", "lockstep")
	s.expect("the check of the head", string(head.Conclusion)+" "+head.Title+"\n"+head.Summary, "action_required 1 project needs approval", "**needs approval**, then applies on merge", missing, "Requirements of plans that apply on merge can be met before or after the merge")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("the status then", s.status(n), "applies on merge", promise, "merge this pull request")
	net = s.checkOf("b", "lockstep/net")
	s.expect("the project's check then", string(net.Conclusion)+" "+net.Title+"\n"+net.Summary, "success Applies on merge – 2 to add", "`net`: applies on merge", "To apply this plan, merge the pull request", "met: an approval")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the merge", s.answer(n, "merge"), "**Applied** `net`")
}

// TestHeldBesideOthers holds that a plan which waits for what is missing stands apart from those that are ready, and that the
// check which can be required tells what it waits for, and what helps.
func TestHeldBesideOthers(t *testing.T) {
	t.Parallel()
	files := githubtest.Files{"lockstep.hcl": "require \"apply\" {\n  projects = [\"net\", \"dns\"]\n  approvals = 1\n}\n"}
	change := githubtest.Files{}
	for _, p := range []string{"app", "dns", "net", "web"} {
		files[p+"/main.tf"], change[p+"/b.tf"] = resource("a", "1"), resource("b", "1")
	}
	s := newStage(t, files)
	lock := s.pull("bob", "o", githubtest.Files{"web/o.tf": resource("o", "1")})
	s.expect("a lock", s.say("bob", lock, "lockstep lock --reason \"it moves\""), "**Locked** `web`")
	n := s.pull("alice", "b", change)
	status := s.status(n)
	s.expect("the status", status, "1 locked by another pull request", "2 projects need approval", "1 ready to apply")
	s.inOrder("the table", status, "| `dns` |", "| `net` |", "| `web` |", "| `app` |")
	head := s.checkOf("b", "lockstep")
	s.expect("the check", string(head.Conclusion)+" "+head.Title, "action_required 2 projects need approval, 1 locked by another pull request, 1 ready to apply")
	for what, text := range map[string]string{"the status": status, "the page of the check": head.Summary} {
		s.expect(what, text, "**needs approval** |", "Locked by #1: `bob` has locked the state", "To release the lock, comment `lockstep unlock` on #1.", "Lockstep skips plans whose requirements are not met")
		s.never(what, text, "A blocked plan cannot be applied")
	}
	s.expect("the page of the check", head.Summary, "`dns`, `net`: Requirements for the apply, from `lockstep.hcl` on the base branch:\n\n- **not met**: the requirement at `lockstep.hcl:1`", "**not met**: an approval of the planned commit")
	s.expect("an apply of all", s.say("alice", n, "lockstep apply"), "**Applied** `app`", "**Not applied** `dns`", "**Not applied** `net`", "**Not applied** `web`")

	one := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	head = s.checkOf("c", "lockstep")
	s.expect("one project", head.Summary, "Requirements for the apply, from `lockstep.hcl` on the base branch:", "**not met**: an approval", "Approve the pull request. Then, to apply this plan, comment `lockstep apply`")
	s.repo.Review("bob", one, github.Approved, "")
	s.settle()
	head = s.checkOf("c", "lockstep")
	s.expect("one project then", string(head.Conclusion)+" "+head.Title, "neutral 1 project ready to apply")
	s.never("one project then", head.Summary, "requires:")
}

func (s *stage) never(what, text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			s.t.Errorf("%s has %q:\n%s", what, p, text)
		}
	}
}

func (s *stage) inOrder(what, text string, parts ...string) {
	s.t.Helper()
	rest := text
	for _, p := range parts {
		_, after, found := strings.Cut(rest, p)
		if !found {
			s.t.Fatalf("%s lacks %q in its place:\n%s", what, p, text)
		}
		rest = after
	}
}

// TestHeldCommand holds that the command which is named for another attempt means no more than what was typed.
func TestHeldCommand(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  projects = [\"net\"]\n  approvals = 1")
	files["app/main.tf"] = resource("a", "1")
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	for _, typed := range []string{"lockstep apply -p net", "lockstep apply " + s.of(n, "net").Plan.Hash[:12], "lockstep apply"} {
		s.expect(typed, s.say("alice", n, typed), "**Not applied** `net`", "Once it is approved, comment `"+typed+"`.")
	}
}
