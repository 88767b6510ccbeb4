package rulings

import "testing"

func TestLeftToGitHub(t *testing.T) {
	all := func(rule Rule, o Outcome, of ...Ruling) Ruling { return Ruling{Rule: rule, Outcome: o, Of: of} }
	merge := func(o Outcome, why ...Why) Ruling {
		r := Ruling{Rule: Mergeable, Outcome: o}
		for _, w := range why {
			r.Against = append(r.Against, Against{Why: w})
		}
		return r
	}
	blocked, draft, fine, no := merge(Fails, Blocked), merge(Fails, IsDraft, Blocked), merge(Holds), all(Labels, Fails)
	for name, test := range map[string]struct {
		r    Ruling
		want bool
	}{
		"fulfilled":          {all(AllOf, Holds, all(Requirement, Holds, fine)), false},
		"blocked":            {all(AllOf, Fails, all(Requirement, Fails, blocked)), true},
		"a draft":            {all(AllOf, Fails, all(Requirement, Fails, draft)), false},
		"unknown":            {all(AllOf, Unknown, all(Requirement, Unknown, merge(Unknown))), false},
		"a label is missing": {all(AllOf, Fails, all(Requirement, Fails, blocked, no)), false},
		"another block":      {all(AllOf, Fails, all(Requirement, Fails, blocked), all(Requirement, Fails, no)), false},
		"lifted":             {all(AllOf, Fails, all(Requirement, Fails, blocked), all(Requirement, Lifted, no)), true},
		"an alternative":     {all(AllOf, Fails, all(Requirement, Fails, all(OneOf, Fails, all(Alternative, Fails, no), all(Alternative, Fails, blocked)))), true},
		"one not for it":     {all(AllOf, Fails, all(Requirement, Fails, all(OneOf, Fails, all(Alternative, NotApplicable, all(Codeowners, NotApplicable)), all(Alternative, Fails, no)))), false},
		"none":               {all(AllOf, Fails, all(Requirement, Fails, all(OneOf, Fails, all(Alternative, Fails, no), all(Alternative, Fails, blocked, no)))), false},
		"no settings":        {all(AllOf, Fails, all(Readable, Fails)), false},
	} {
		if got := test.r.LeftToGitHub(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
