package rulings

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// condition is the words of a rule.
func condition(r Ruling) string {
	if words, ok := conditions[r.Rule]; ok {
		return words(r)
	}
	return markdown.Code(string(r.Rule)) // of another version of Lockstep
}

// plain is a condition that is the same for all.
func plain(text string) func(Ruling) string {
	return func(Ruling) string { return text }
}

var conditions = map[Rule]func(Ruling) string{
	Readable:    readable,
	Requirement: func(r Ruling) string { return "the block at " + markdown.Code(r.At) },
	OneOf:       plain("one of these alternatives"),
	Alternative: func(r Ruling) string { return markdown.Code(r.Name) },
	AskedBy:     func(r Ruling) string { return "asked for by " + either(r.Wanted) },
	Permitted:   func(r Ruling) string { return "asked for with the permission " + markdown.List(r.Wanted) },
	Approvals:   approvalWords,
	Codeowners:  plain("an approval by an owner of each changed file"),
	Mergeable:   plain("nothing but Lockstep's own checks stands in the way of a merge"),
	UpToDate:    plain("the head has all commits of the base branch"),
	Resolved:    plain("all conversations are resolved"),
	Ready:       plain("the pull request is no draft"),
	Checks:      func(r Ruling) string { return "these checks have passed: " + markdown.List(r.Wanted) },
	Labels:      func(r Ruling) string { return "these labels: " + markdown.List(r.Wanted) },
	NotLabels:   func(r Ruling) string { return "none of these labels: " + markdown.List(r.Wanted) },
	Windows:     func(r Ruling) string { return "a time in " + either(r.Wanted) },
	Freeze:      plain("no freeze"),
	MaxChanges:  func(r Ruling) string { return fmt.Sprintf("at most %s", changes(r.Want)) },
	MaxDestroys: func(r Ruling) string { return fmt.Sprintf("at most %d to destroy", r.Want) },
	Policy:      func(r Ruling) string { return "a plan that passes the policy " + markdown.List(r.Wanted) },
	Gate:        func(r Ruling) string { return "a plan that the gate " + markdown.List(r.Wanted) + " allows" },
	Environment: func(r Ruling) string {
		return "the protection rules of GitHub's environment " + markdown.List(r.Wanted)
	},
	Waited: func(r Ruling) string { return fmt.Sprintf("%d minutes since people could see the plan", r.Want) },
	OpenTo: plain("an environment that is open to the base branch"),
	ActionsOnly: func(r Ruling) string {
		return "the rule " + markdown.List(r.Wanted) + ", which GitHub Actions alone can ask"
	},
	NoDestroy: func(r Ruling) string { return "nothing to destroy or replace of " + markdown.List(r.Wanted) },
}

func readable(r Ruling) string {
	if r.Outcome == Unknown {
		return "what the settings require"
	}
	return "settings without errors: a requirement could not be read"
}

func approvalWords(r Ruling) string {
	text := fmt.Sprintf("%d approvals of the planned commit", r.Want)
	if r.Want == 1 {
		text = "an approval of the planned commit"
	}
	if len(r.Wanted) > 0 {
		text += " by " + either(r.Wanted)
	}
	return text
}

// either lists names of which one is enough.
func either(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, markdown.Code(n))
	}
	return strings.Join(all, " or ")
}

func changes(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}
