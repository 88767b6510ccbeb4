package rulings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// every has each rule with each outcome, and each fact that can speak against one.
func every() Ruling {
	all := Ruling{Rule: AllOf, Outcome: Fails}
	for _, rule := range slices.Sorted(maps.Keys(wordings)) {
		one := Ruling{Rule: Requirement, Outcome: Fails, At: "lockstep.hcl:3"}
		for _, outcome := range []Outcome{Holds, Fails, Unknown, NotApplicable, Lifted} {
			r := Ruling{
				Rule: rule, Outcome: outcome, By: "zoe", Because: "the `site` is down", Name: "by day", At: "lockstep.hcl:7",
				Wanted: []string{"acme/sre", "x`y"}, Want: 2, Found: []string{"dave"}, Have: 1, Against: []Against{{Name: "carol", Why: EarlierHead}},
			}
			if outcome == Unknown {
				r.Problem = "GitHub shows no such `team`"
			}
			one.Of = append(one.Of, r)
		}
		all.Of = append(all.Of, one)
	}
	for _, why := range append(slices.Sorted(maps.Keys(whys)), "of another version") {
		all.Of = append(all.Of, Ruling{Rule: Approvals, Outcome: Fails, Want: 1, Against: []Against{{Name: "carol", Why: why, Names: []string{"bob", "eve"}}}})
	}
	return Ruling{Rule: AllOf, Of: append(all.Of,
		Ruling{Rule: Approvals, Outcome: Fails, Want: 1}, Ruling{Rule: Approvals, Outcome: Holds, Want: 1, Have: 2, Found: []string{"bob", "dave"}},
		Ruling{Rule: MaxChanges, Outcome: Fails, Want: 1, Have: 2}, Ruling{Rule: Codeowners, Outcome: NotApplicable}, Ruling{Rule: Resolved, Outcome: Holds},
		Ruling{Rule: NoDestroy, Outcome: Holds, Wanted: []string{"x"}}, Ruling{Rule: Freeze, Outcome: Holds}, Ruling{Rule: "of another version", Outcome: Holds})}
}

// TestWords holds the words of all rulings: read the file as somebody whose apply is blocked.
func TestWords(t *testing.T) {
	t.Parallel()
	got := every().Markdown(0)
	golden.File(t, "testdata/words.md", got)
	if n := len(every().Markdown(3)) - len(got); n != 6*strings.Count(got, "\n") {
		t.Errorf("three levels deeper it has %d bytes more, in %d lines", n, strings.Count(got, "\n"))
	}
}

// TestManyAgainst holds that a pull request with many files has a short comment.
func TestManyAgainst(t *testing.T) {
	t.Parallel()
	r := Ruling{Rule: Codeowners, Outcome: Fails, Want: 3000}
	for range 3000 {
		r.Against = append(r.Against, Against{Name: "x.tf", Why: Unowned, Names: []string{"bob"}})
	}
	got := Ruling{Of: []Ruling{r}}.Markdown(0)
	if !strings.Contains(got, "and 2990 more") || len(got) > 1000 {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

// TestManyMistakes holds that the remedy of a policy with many mistakes is there, and that they are counted without it.
func TestManyMistakes(t *testing.T) {
	t.Parallel()
	r := Ruling{Rule: Policy, Outcome: Fails, Wanted: []string{"tags"}, Have: 4}
	for i := range 12 {
		r.Against = append(r.Against, Against{Name: fmt.Sprintf("a.rego:%d: x", i), Why: Denied})
	}
	r.Against = append(r.Against, Against{Why: Unreliable})
	got := Ruling{Of: []Ruling{r}}.Markdown(0)
	if !strings.HasSuffix(got, "\n  - `a.rego:9: x`\n  - and 6 more\n  - the policy is broken and blocks the apply: fix it on the base branch, then comment `lockstep plan`\n") {
		t.Error(got)
	}
}
