package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// led is a pull request of alice's whose applies have a requirement that the team acme/leads may lift: zoe is in it, and bob in acme/sre.
func led(t *testing.T, body string) (*stage, int) {
	s := newStage(t, requiring("apply", body+"\n  override = [\"acme/leads\"]"))
	s.hub.SetTeam("acme", "leads", "zoe")
	s.hub.SetTeam("acme", "sre", "bob")
	s.repo.Grant("zoe", "write")
	return s, s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
}

const (
	override = "lockstep override --reason \"the site is down\""
	lifted   = "**overridden** by `zoe`, `the site is down`"
)

// TestOverrideBefore is an override of a requirement that is not missing yet: the answer and the status say that it counts, before it does.
func TestOverrideBefore(t *testing.T) {
	t.Parallel()
	const later = "all requirements that `zoe` may override are met."
	s, n := led(t, "  by = [\"acme/sre\"]")
	s.expect("before", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`alice` is not in ")
	s.expect("who asks is known later", s.say("zoe", n, override), "**Requirements overridden** for the plan of `net`", later)
	s.expect("the status", s.status(n), "- not applicable, and "+lifted)
	s.expect("after", s.say("alice", n, "lockstep apply"), "**Applied** `net`")

	s, n = led(t, "  approvals = 1")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("an approval that is there", s.say("zoe", n, override), "**Requirements overridden** for the plan of `net`", later)
	s.expect("the status", s.status(n), "- met, and "+lifted)
	s.repo.Dismiss("carol", n, "bob")
	s.settle()
	s.expect("and is not any more", s.status(n), "- "+lifted, "ready to apply")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")

	s, n = led(t, "  approvals = 1")
	s.expect("both in one comment", s.say("zoe", n, override+"\nlockstep apply"), "**Requirements overridden** for the plan of `net`", "comment `lockstep apply -p net`", "**Applied** `net`")
}

// TestRefusedOverride is an override that is answered with a refusal: it does not count, then or later.
func TestRefusedOverride(t *testing.T) {
	t.Parallel()
	s, n := led(t, "  approvals = 1")
	s.hub.SetTeam("acme", "leads", "lee")
	s.expect("by somebody else", s.say("zoe", n, override), "**Not overridden** `net`", "does not let `zoe` override any requirement")
	s.hub.SetTeam("acme", "leads", "zoe")
	s.repo.Comment("mallory", n, "<!-- lockstep:answer 2 -->\n<!-- lockstep:overridden net@default -->\n")
	s.settle()
	s.expect("who may do so since", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "an approval of the planned commit")
	id := s.repo.Comment("zoe", n, override)
	s.repo.EditComment("zoe", id, strings.Replace(override, "down", "up", 1))
	s.settle()
	s.expect("a comment that is edited before it is read", s.answerTo(n, id), "**Not overridden**", "Lockstep ignores this comment, because somebody has edited or deleted it, or because GitHub now shows another author than when it was written.", "Write the command as a new comment.")
	s.expect("the next apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`")
	for _, c := range s.repo.Comments(n) {
		if strings.Contains(c.Body, "lockstep:overridden") && c.Author != "mallory" {
			t.Errorf("a refusal lifts something: %s", c.Body)
		}
	}
	s.expect("one that counts", s.say("zoe", n, override), "**Requirements overridden** for the plan of `net`", "comment `lockstep apply -p net`")
	s.expect("the last apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestOverrideOfNothing holds that nobody is told to repeat an override of a plan without changes, which is never shown as one to be
// applied, and that an override of all plans leaves it out.
func TestOverrideOfNothing(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  approvals = 1\n  override = [\"acme/leads\"]")
	files["net/main.tf"], files["app/main.tf"] = "", ""
	files["lockstep.hcl"] += "project \"app\" {\n  dir = \"app\"\n}\n"
	s := newStage(t, files)
	s.hub.SetTeam("acme", "leads", "zoe")
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "# nothing\n"})
	s.expect("its override", s.say("zoe", n, override), "**Not overridden** `net`", "The plan has no changes", "The plan has no changes, so there is nothing to override.")
	m := s.pull("alice", "c", githubtest.Files{"net/c.tf": "# nothing\n", "app/c.tf": resource("c", "1")})
	got := s.say("zoe", m, override)
	s.expect("an override of two plans", got, "**Requirements overridden** for the plan of `app`")
	if strings.Contains(got, "`net`") {
		t.Errorf("the plan without changes is told of: %s", got)
	}
}

// TestOverrideInTheQueue is an override for a merge that somebody asks for who may not: the answer says that it counts, and the
// group's check follows it.
func TestOverrideInTheQueue(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  by = [\"acme/sre\"]\n  override = [\"acme/leads\"]")
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1)
	s := newStage(t, files)
	s.hub.SetTeam("acme", "leads", "zoe")
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	at := s.repo.Enqueue("alice", n)
	s.settle()
	s.expect("before", s.group(at), "action_required")
	s.expect("the override", s.say("zoe", n, override), "**Requirements overridden** for the plan of `net`")
	s.expect("after", s.group(at), "success")
}

// TestOverrideButton presses the button for an override. It is on the check while a requirement is not met that somebody may override. Whoever may
// override it gets the command to copy, and anybody else a refusal; the press itself overrides nothing.
func TestOverrideButton(t *testing.T) {
	t.Parallel()
	s, n := led(t, "  approvals = 1")
	c := s.checkOf("b", "lockstep/net")
	button := ""
	for _, b := range c.Buttons {
		if b.Label == "Override" {
			button = b.Identifier
		}
	}
	if button == "" {
		t.Fatalf("the check has the buttons %+v", c.Buttons)
	}
	const command = "`lockstep override -p net --reason \"...\"`"
	s.expect("zoe", s.pressOld("zoe", c.ID, n, button), "**Not overridden** `net`", "An override needs a reason, which everybody can read here.", "Copy "+command+" into a new comment, with your reason instead of the dots.")
	s.expect("alice", s.pressOld("alice", c.ID, n, button), "**Not overridden** `net`", "does not let `alice` override any requirement")
	s.expect("bob", s.pressOld("bob", c.ID, n, button), "does not let `bob` override any requirement")
	s.expect("mallory", s.pressOld("mallory", c.ID, n, button), "**Not overridden**", "`mallory` has the permission `read`")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "an approval of the planned commit")
	old := c.ID
	s.repo.Push("alice", "b", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.settle()
	s.expect("on the page of an earlier commit", s.pressOld("zoe", old, n, button), "The button belongs to the earlier commit")
	s.expect("the command itself", s.say("zoe", n, strings.Replace(strings.Trim(command, "`"), "...", "the site is down", 1)), "**Requirements overridden** for the plan of `net`")
	for _, b := range s.checkOf("b", "lockstep/net").Buttons {
		if b.Label == "Override" {
			t.Error("there is something left to override")
		}
	}
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}
