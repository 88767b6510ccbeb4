package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// requiredTree has every rule with facts against it, and some that hold.
func requiredTree() rulings.Ruling {
	no := func(rule rulings.Rule, r rulings.Ruling) rulings.Ruling {
		r.Rule, r.Outcome = rule, rulings.Fails
		return r
	}
	by := func(why rulings.Why, name string, names ...string) rulings.Against {
		return rulings.Against{Name: name, Why: why, Names: names}
	}
	against := func(all ...rulings.Against) rulings.Ruling { return rulings.Ruling{Against: all} }
	wanted := func(r rulings.Ruling, names ...string) rulings.Ruling {
		r.Wanted = names
		return r
	}
	first := rulings.Ruling{Rule: rulings.Requirement, Outcome: rulings.Fails, At: "lockstep.hcl:3", Of: []rulings.Ruling{
		no(rulings.AskedBy, wanted(against(by(rulings.NotNamed, "bob")), "acme/sre", "carol")),
		no(rulings.Permitted, wanted(against(by(rulings.CannotWrite, "bob", "write")), "admin")),
		no(rulings.Approvals, rulings.Ruling{Want: 2, Have: 1, Wanted: []string{"acme/sre"}, Found: []string{"dave"}, Against: []rulings.Against{
			by(rulings.EarlierHead, "carol"), by(rulings.OwnChange, "alice"), by(rulings.ByBot, "robot[bot]"), by(rulings.CannotWrite, "eve"),
			by(rulings.NotNamed, "frank"), by(rulings.Refuses, "grace"),
		}}),
		no(rulings.Codeowners, rulings.Ruling{Want: 3, Have: 1, Against: []rulings.Against{by(rulings.Unowned, "net/`@team`.tf", "acme/net", "bob"), by(rulings.Unowned, "b.tf", "x@example.org")}}),
		no(rulings.Mergeable, against(by(rulings.Conflicting, ""), by(rulings.IsDraft, ""), by(rulings.Behind, ""), by(rulings.ReviewMissing, ""), by(rulings.Missing, "ci"), by(rulings.Blocked, ""))),
		no(rulings.UpToDate, against(by(rulings.Behind, ""))),
		no(rulings.Resolved, rulings.Ruling{Have: 2}),
		no(rulings.Ready, against(by(rulings.IsDraft, ""))),
		no(rulings.Checks, wanted(against(by(rulings.Running, "ci/a"), by(rulings.CheckFailed, "ci/b"), by(rulings.OtherApp, "ci/c by buildkite", "github-actions"), by(rulings.Missing, "ci/d")), "ci/*")),
		no(rulings.Labels, wanted(against(by(rulings.PutBy, "ready", "eve")), "ready")),
		no(rulings.NotLabels, wanted(against(by("", "hold"), by(rulings.TakenBy, "wip", "eve")), "hold", "wip")),
		no(rulings.Windows, rulings.Ruling{Wanted: []string{"Mon-Fri 08:00-17:00", "daily 03:00-04:00"}}),
		no(rulings.Freeze, rulings.Ruling{Found: []string{"2026-12-20/2027-01-06: year's end"}}),
		no(rulings.MaxChanges, rulings.Ruling{Want: 5, Have: 7}),
		no(rulings.MaxDestroys, rulings.Ruling{Want: 0, Have: 1}),
		no(rulings.NoDestroy, rulings.Ruling{Wanted: []string{"aws_db_*"}, Found: []string{"aws_db_instance"}}),
		no(rulings.OneOf, rulings.Ruling{Of: []rulings.Ruling{
			{Rule: rulings.Alternative, Outcome: rulings.Fails, Name: "by day", Of: []rulings.Ruling{no(rulings.Approvals, rulings.Ruling{Want: 1})}},
			{Rule: rulings.Alternative, Outcome: rulings.NotApplicable, Name: "at night", Of: []rulings.Ruling{{Rule: rulings.UpToDate, Outcome: rulings.NotApplicable}}},
		}}),
	}}
	lifted := rulings.Ruling{Rule: rulings.Requirement, Outcome: rulings.Lifted, At: "lockstep.hcl:20", By: "zoe", Because: "the site is down", Of: []rulings.Ruling{
		{Rule: rulings.Approvals, Outcome: rulings.Holds, Want: 1, Have: 1, Found: []string{"bob"}, Against: []rulings.Against{by(rulings.EarlierHead, "carol")}},
		no(rulings.Ready, against(by(rulings.IsDraft, ""))),
	}}
	broken := rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Fails}
	return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{broken, first, lifted}}
}

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
