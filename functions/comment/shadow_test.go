package comment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// shadowProject is a project in shadow mode whose comparison has the i-th verdict.
func shadowProject(i int) ShadowProject {
	p := ShadowProject{Name: fmt.Sprintf("net-%03d", i), Planned: true, Plan: "1 to add, 2 to change, 0 to destroy", Verdict: "agree", Ours: 21 * time.Second, Theirs: 3 * time.Minute}
	switch {
	case i%7 == 1:
		p.Verdict, p.More = "differ", 3
		p.Differences = []ShadowDifference{
			{"aws_subnet.a", "update", "replace", "Compare the versions of the provider and of Terraform."},
			{"aws_subnet.b[\"`x`|y\"]", "nothing", "create <b>", "Compare the variables of the two plans."},
			{"", "changes outputs", "changes no outputs", "Compare the variables of the two plans."},
		}
	case i%7 == 2:
		p.Verdict, p.Why, p.Theirs = "unknown", "waiting for a comment of the other tool, or for the merge", 0
	case i%7 == 3:
		p.Verdict, p.Planned, p.Plan = "unknown", false, ""
	case i%7 == 4:
		p.Verdict, p.Plan, p.Problem = "differ", "failed", "**Error**: the role may not read `s3://acme-states`."
		p.Differences = []ShadowDifference{{"", "failed", "no changes", "Read the error of Lockstep's plan in the check."}}
	}
	return p
}

// TestShadowCheck is the check about 1, 30 and 300 projects in shadow mode, and about none.
func TestShadowCheck(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, n := range []int{1, 30, 300} {
		s := Shadow{Tool: "Atlantis"}
		for i := range n {
			s.Projects = append(s.Projects, shadowProject(i))
		}
		if n == 1 {
			s.Projects[0] = shadowProject(1)
		}
		text := s.Summary()
		if len(text) > 65535 {
			t.Errorf("%d projects: %d bytes", n, len(text))
		}
		fmt.Fprintf(&b, "# %s\n\n%s\n", s.Title(255), text)
	}
	for _, s := range []Shadow{{Tool: "the other tool"}, {Tool: "tfcmt", Conflict: true}, {Tool: "Digger", Refused: "The pull request comes from a fork."}, {Tool: "Digger", Problem: "`lockstep.hcl` has errors."}} {
		fmt.Fprintf(&b, "# %s\n\n%s\n", s.Title(255), s.Summary())
	}
	golden.File(t, "testdata/shadow.md", b.String())
}
