package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

func unknownTree() rulings.Ruling {
	return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Unknown, At: "lockstep.hcl:1",
		Of: []rulings.Ruling{{Rule: rulings.AskedBy, Outcome: rulings.Unknown, Wanted: []string{"acme/sre"}, Problem: "GitHub shows no such `team`"}},
	}}}
}

// TestRequirements is the status and the check of plans with requirements: one that is blocked, one
// that is not, and one that waits for the merge.
func TestRequirements(t *testing.T) {
	t.Parallel()
	fulfilled := rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Holds, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Holds, At: "lockstep.hcl:3", Of: []rulings.Ruling{
			{Rule: rulings.AskedBy, Outcome: rulings.NotApplicable, Wanted: []string{"acme/sre"}},
			{Rule: rulings.Approvals, Outcome: rulings.Holds, Want: 1, Have: 1, Found: []string{"bob"}},
		},
	}}}
	missing := unknownTree()
	plan := func(name string, s Standing, r *rulings.Ruling) ProjectStatus {
		return ProjectStatus{Name: name, Standing: s, Counts: counting.Counts{Add: 1}, Plan: someHash, Body: "the plan", Required: r}
	}
	var b strings.Builder
	for _, all := range [][]ProjectStatus{
		{plan("net", Ready, &missing)},
		{plan("net", Ready, &missing), plan("app", Ready, &fulfilled), plan("db", OnMerge, &missing)},
		{plan("net", NoChanges, nil)},
	} {
		s := Status{Head: someSHA, Projects: all}
		b.WriteString(s.Markdown(60000) + "\n\n----\n\n" + Check{ProjectStatus: all[0]}.Summary(60000) + "\n\n====\n\n")
	}
	golden.File(t, "testdata/required.md", b.String())
}
