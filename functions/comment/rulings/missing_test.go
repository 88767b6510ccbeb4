package rulings

import (
	"strings"
	"testing"
)

func TestMayCome(t *testing.T) {
	is := func(rule Rule, o Outcome, of ...Ruling) Ruling { return Ruling{Rule: rule, Outcome: o, Of: of} }
	shut, quiet, many, other := is(Windows, Fails), is(Approvals, Unknown), is(MaxChanges, Fails), is(AskedBy, Fails)
	for name, test := range map[string]struct {
		r    Ruling
		want bool
	}{
		"fulfilled":                  {is(AllOf, Holds, is(Requirement, Holds, is(Windows, Holds))), false},
		"a window":                   {is(AllOf, Fails, is(Requirement, Fails, shut)), true},
		"a freeze":                   {is(AllOf, Fails, is(Requirement, Fails, is(Freeze, Fails))), true},
		"a fact that nobody knows":   {is(AllOf, Unknown, is(Requirement, Unknown, quiet)), true},
		"settings with errors":       {is(AllOf, Fails, is(Readable, Fails)), true},
		"the plan":                   {is(AllOf, Fails, is(Requirement, Fails, many)), false},
		"what is destroyed":          {is(AllOf, Fails, is(Requirement, Fails, is(NoDestroy, Fails))), false},
		"who asks":                   {is(AllOf, Fails, is(Requirement, Fails, other)), false},
		"a window, and the plan":     {is(AllOf, Fails, is(Requirement, Fails, shut, many)), false},
		"another block":              {is(AllOf, Fails, is(Requirement, Fails, shut), is(Policy, Fails)), false},
		"one that is lifted":         {is(AllOf, Fails, is(Requirement, Fails, shut), is(Requirement, Lifted, many)), true},
		"an alternative":             {is(AllOf, Fails, is(Requirement, Fails, is(OneOf, Fails, is(Alternative, Fails, many), is(Alternative, Fails, shut)))), true},
		"alternatives of the plan":   {is(AllOf, Fails, is(Requirement, Fails, is(OneOf, Fails, is(Alternative, Fails, many), is(Alternative, Fails, shut, many)))), false},
		"one that is not applicable": {is(AllOf, Fails, is(Requirement, Fails, is(OneOf, Fails, is(Alternative, NotApplicable), is(Alternative, Fails, many)))), false},
	} {
		if got := test.r.MayCome(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestMissing is a table of decisions: the policies and gates that deny the plan, whether approvals are all that is missing, and what
// else is, in a few words.
func TestMissing(t *testing.T) {
	t.Parallel()
	is := func(rule Rule, o Outcome, of ...Ruling) Ruling {
		r := Ruling{Rule: rule, Outcome: o, Of: of}
		if of == nil {
			r.Wanted = []string{"x`y"}
		}
		return r
	}
	against := func(r Ruling, why ...Why) Ruling {
		for _, w := range why {
			r.Against = append(r.Against, Against{Why: w, Name: "m"})
		}
		return r
	}
	fails := func(of ...Ruling) Ruling { return is(AllOf, Fails, is(Requirement, Fails, of...)) }
	denies := against(is(Policy, Fails), Denied)
	counted := is(Gate, Fails)
	counted.Have = 3
	approval, label := is(Approvals, Fails), is(Labels, Fails)
	for name, test := range map[string]struct {
		r                    Ruling
		denied, settled, may string
		needsApproval        bool
	}{
		"met":                        {r: is(AllOf, Holds, is(Requirement, Holds, is(Policy, Holds)))},
		"a denial":                   {r: fails(denies, approval), denied: "policy ``x`y``", settled: "policy ``x`y``", may: "approval"},
		"messages that are counted":  {r: fails(counted), denied: "gate ``x`y``", settled: "gate ``x`y``"},
		"a broken policy":            {r: fails(against(is(Policy, Fails), Denied, Unreliable)), settled: "policy ``x`y``"},
		"a gate without an answer":   {r: fails(against(is(Gate, Fails), Denied, NoVerdict)), settled: "gate ``x`y``"},
		"another policy":             {r: fails(against(is(Policy, Fails), OtherPolicies)), settled: "policy ``x`y``"},
		"an unknown one":             {r: fails(against(is(Policy, Unknown), Denied)), settled: "policy ``x`y``"},
		"a denial that is lifted":    {r: is(AllOf, Fails, is(Requirement, Lifted, denies), is(Requirement, Fails, label)), may: "label ``x`y``"},
		"one of two alternatives":    {r: fails(is(OneOf, Fails, is(Alternative, Fails, denies), is(Alternative, Fails, approval))), may: "one of several alternatives", needsApproval: true},
		"both alternatives":          {r: fails(is(OneOf, Fails, is(Alternative, Fails, denies), is(Alternative, Fails, counted))), denied: "policy ``x`y``,gate ``x`y``", settled: "one of several alternatives"},
		"one that is not applicable": {r: fails(is(OneOf, Fails, is(Alternative, NotApplicable), is(Alternative, Fails, denies))), denied: "policy ``x`y``", settled: "one of several alternatives"},
		"approvals":                  {r: fails(approval, is(Codeowners, Fails), is(Windows, Holds)), may: "approval,approval by code owners", needsApproval: true},
		"an unknown approval":        {r: fails(is(Approvals, Unknown)), may: "approval"},
		"a review":                   {r: fails(against(is(Mergeable, Fails), ReviewMissing)), may: "a mergeable pull request", needsApproval: true},
		"a review of a draft":        {r: fails(against(is(Mergeable, Fails), ReviewMissing, IsDraft)), may: "a mergeable pull request"},
		"an approval and a label":    {r: fails(approval, label, label), may: "approval,label ``x`y``"},
		"another version":            {r: fails(is("moon", Fails)), may: "`moon`"},
	} {
		denied, settled, may := strings.Join(test.r.DeniedBy(), ","), strings.Join(test.r.Missing(true), ","), strings.Join(test.r.Missing(false), ",")
		if denied != test.denied || settled != test.settled || may != test.may || test.r.NeedsApproval() != test.needsApproval || test.r.Denied() != (denied != "") {
			t.Errorf("%s: denied by %q, settled %q, may come %q, needs approval %v", name, denied, settled, may, test.r.NeedsApproval())
		}
	}
}
