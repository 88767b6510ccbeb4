package rulings

import "testing"

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
