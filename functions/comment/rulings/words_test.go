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

// TestSucceededSteps holds that steps that have succeeded take one line, and hide nothing: no failure, no warning and no
// override.
func TestSucceededSteps(t *testing.T) {
	t.Parallel()
	block := func(name string, o Outcome, found ...string) Ruling {
		return Ruling{Rule: Requirement, Outcome: o, At: "lockstep.hcl:" + name, Of: []Ruling{{Rule: Step, Outcome: o, Wanted: []string{name}, Found: found}}}
	}
	all := Ruling{Rule: AllOf, Outcome: Fails, Of: []Ruling{block("1", Holds), block("2", Fails), block("3", Holds, "a warning")}}
	for i := range 20 {
		all.Of = append(all.Of, block(fmt.Sprint("x", i), Holds))
	}
	all.Of[22].By, all.Of[22].Because = "zoe", "to be sure"
	want := "- **not met**: the requirement at `lockstep.hcl:2`\n  - **not met**: success of the step `2`\n" +
		"- met: the requirement at `lockstep.hcl:3`\n  - met: success of the step `3` (warnings: `a warning`)\n" +
		"- met, and **overridden** by `zoe`, `to be sure`: the requirement at `lockstep.hcl:x19`\n  - met: success of the step `x19`\n" +
		"- met: success of 20 steps: `1`, `x0`, `x1`, `x2`, `x3`, `x4`, `x5`, `x6`, `x7`, `x8`, and 10 more\n"
	if got := all.Markdown(0); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	all.Of = all.Of[:2]
	if got := all.Markdown(0); strings.Contains(got, "2 steps") || !strings.HasPrefix(got, "- met: the requirement at `lockstep.hcl:1`") {
		t.Errorf("one step:\n%s", got)
	}
}
