package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDriftProposeOwnApproval is an attack: bob changes objects by hand, has a pull request written with
// `lockstep drift propose`, and approves it himself. He has asked for the change, so his approval must not count.
func TestDriftProposeOwnApproval(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1") + "# end\n", "lockstep.hcl": netProject + "\ndrift {}\nrequire \"apply\" {\n  approvals = 1\n}\n"})
	s.hub.Accepts("contents", "write")
	n := s.driftIssue()
	e := s.pipeline.Engine.(*outside)
	lines := resource("a", "1") + "# end\n"
	at, before := lineWith(lines, "1")
	e.literals = comment.Literals{Lines: []comment.LiteralLine{{Path: "net/main.tf", Line: at, Before: before, After: replaced(before)}}}
	s.lookAt("net@default")
	s.expect("the answer", s.say("bob", n, "lockstep drift propose"), "Opened #1")
	s.settle()
	s.without("the apply without an approval", s.say("bob", 1, "lockstep apply"), "**Applied** `net`")
	s.repo.Review("bob", 1, github.Approved, "")
	s.settle()
	s.without("the apply by the one who asked for the change", s.say("bob", 1, "lockstep apply"), "**Applied** `net`")
}

// lineWith returns the first line, and its number, with a text in quotation marks or after an equals sign.
func lineWith(text, value string) (int, string) {
	for i, l := range strings.Split(text, "\n") {
		if strings.Contains(l, `"`+value+`"`) {
			return i + 1, l
		}
	}
	return 1, strings.Split(text, "\n")[0]
}

func replaced(line string) string { return strings.Replace(line, `"1"`, `"2"`, 1) }
