package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

func unknownTree() rulings.Ruling {
	return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Unknown, At: "lockstep.hcl:1",
		Of: []rulings.Ruling{{Rule: rulings.AskedBy, Outcome: rulings.Unknown, Wanted: []string{"acme/sre"}, Problem: "GitHub shows no such `team`"}},
	}}}
}

// TestRequirements is the status and the checks of plans with requirements: those that are not fulfilled, and one that is
// fulfilled.
func TestRequirements(t *testing.T) {
	t.Parallel()
	fulfilled := rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Holds, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Holds, At: "lockstep.hcl:3", Of: []rulings.Ruling{
			{Rule: rulings.AskedBy, Outcome: rulings.NotApplicable, Wanted: []string{"acme/sre"}},
			{Rule: rulings.Approvals, Outcome: rulings.Holds, Want: 1, Have: 1, Found: []string{"bob"}},
		},
	}}}
	missing := unknownTree()
	coming := rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Fails, At: "lockstep.hcl:3", Of: []rulings.Ruling{{Rule: rulings.Approvals, Outcome: rulings.Fails, Want: 1}},
	}}}
	says := func(overriders []string, of ...rulings.Ruling) rulings.Ruling {
		return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{{Rule: rulings.Requirement, Outcome: rulings.Fails, At: "lockstep.hcl:9", Of: of, Overriders: overriders}}}
	}
	denied := says([]string{"acme/security"}, rulings.Ruling{Rule: rulings.Policy, Outcome: rulings.Fails, Wanted: []string{"ranges"}, Against: []rulings.Against{{Name: "terraform_data.more is outside `10.0.0.0/8`", Why: rulings.Denied}}})
	labelled := says(nil, rulings.Ruling{Rule: rulings.Labels, Outcome: rulings.Fails, Wanted: []string{"go"}, Against: []rulings.Against{{Name: "go", Why: rulings.Missing}}},
		rulings.Ruling{Rule: rulings.Windows, Outcome: rulings.Fails, Wanted: []string{"Mon-Fri 08:00-17:00 UTC"}})
	plan := func(name string, s Standing, r *rulings.Ruling) ProjectStatus {
		p := ProjectStatus{Name: name, Standing: s, PlanSummary: PlanSummary{Hash: someHash}, Texts: Texts{Body: "the plan"}, Obstacles: Obstacles{Required: r}}
		if s != NoChanges {
			p.Counts.Add = 1
		}
		return p
	}
	var b strings.Builder
	for _, all := range [][]ProjectStatus{
		{plan("net", Ready, &missing)},
		{plan("net", Ready, &missing), plan("app", Ready, &fulfilled), plan("db", OnMerge, &missing)},
		{plan("net", OnMerge, &missing), plan("app", OnMerge, &fulfilled)},
		{plan("net", OnMerge, &coming), plan("app", OnMerge, &fulfilled)},
		{plan("net", OnMerge, &coming), plan("app", OnMerge, &missing)},
		{plan("net", Renewed, &missing)},
		{plan("net", NoChanges, nil)},
		{plan("net", Ready, &denied), plan("app", Ready, &coming), plan("db", Ready, &fulfilled), plan("dns", OnMerge, &labelled)},
	} {
		s := Status{Head: someSHA, Projects: all}
		c, h := Check{ProjectStatus: all[0]}, Head{Status: s, Standing: HeadBlocked}
		b.WriteString(s.Markdown(60000) + "\n\n----\n\n" + c.Title(255) + "\n\n" + c.Summary(60000) + "\n\n----\n\n" + h.Title(255) + "\n\n" + h.Summary(60000) + "\n\n====\n\n")
	}
	golden.File(t, "testdata/required.md", b.String())
}

// TestManyRequirements holds that a page which lists what is missing for many projects keeps its limit, and the table.
func TestManyRequirements(t *testing.T) {
	t.Parallel()
	s := Status{Head: someSHA}
	for i := range 300 {
		missing := unknownTree()
		missing.Of[0].At = fmt.Sprintf("lockstep.hcl:%d", i%200)
		s.Projects = append(s.Projects, ProjectStatus{Name: fmt.Sprintf("p%d", i), Standing: Ready, PlanSummary: PlanSummary{Hash: someHash}, Obstacles: Obstacles{Required: &missing}})
	}
	h := Head{Status: s, Standing: HeadBlocked}
	const limit = 16 << 10
	got := h.Summary(limit)
	for _, part := range []string{"| `p0`, `p1`, `p2`, ", "`p0`, `p200`: Requirements for the apply", "The requirements of other projects do not fit here", "Correct the cause of each requirement that is unknown. Then, to apply these plans"} {
		if !strings.Contains(got, part) {
			t.Errorf("it lacks %q", part)
		}
	}
	if len(got) > limit {
		t.Errorf("%d bytes", len(got))
	}
}
