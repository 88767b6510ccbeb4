package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// Required: the base branch's settings require more than there is.
type Required struct {
	Verb   Verb
	Tree   rulings.Ruling
	Merged bool `json:",omitempty"` // a merge asks, so that no comment helps
}

func (r Required) words() (text, remedy string) {
	text = fmt.Sprintf("The base branch's %s requires more than there is:\n%s", settings, strings.TrimSuffix(tree(r.Tree, 1), "\n"))
	switch {
	case r.Merged:
		return text, planAgain(true)
	case r.Tree.Outcome == rulings.Unknown:
		return text, fmt.Sprintf("Nothing is done while that is unknown. Comment %s again to have it read again.", Code("lockstep "+string(r.Verb)))
	}
	return text, fmt.Sprintf("When it is fulfilled, comment %s again.", Code("lockstep "+string(r.Verb)))
}

// requiredWords are the requirements for an apply that nobody has asked for yet, as a section of the
// status; "" if there are none.
func requiredWords(r *rulings.Ruling) string {
	if r == nil || len(r.Of) == 0 {
		return ""
	}
	return fmt.Sprintf("To be applied, the base branch's %s requires:\n\n%s", settings, tree(*r, 0))
}

// tree lists the parts of a ruling, each with its parts below it.
func tree(r rulings.Ruling, depth int) string {
	var b strings.Builder
	for _, x := range r.Of {
		fmt.Fprintf(&b, "%s- %s\n", strings.Repeat("  ", depth), ruled(x))
		b.WriteString(tree(x, depth+1))
	}
	return b.String()
}

// ruled is one rule in a line: its outcome, the condition, and the facts.
func ruled(r rulings.Ruling) string {
	var more []string
	if has := found(r); has != "" {
		more = append(more, has)
	}
	if r.Outcome != rulings.Holds || r.Rule == rulings.Approvals {
		more = append(more, against(r)...)
	}
	if r.Problem != "" {
		more = append(more, Code(r.Problem))
	}
	text := fmt.Sprintf("%s: %s", outcomeWords(r), condition(r))
	if later := r.Rule == rulings.AskedBy || r.Rule == rulings.Permitted; later && r.Outcome == rulings.NotApplicable {
		text = "to be " + condition(r)
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

func outcomeWords(r rulings.Ruling) string {
	switch r.Outcome {
	case rulings.Holds:
		return "fulfilled"
	case rulings.Unknown:
		return "**unknown**"
	case rulings.NotApplicable:
		return "does not apply"
	case rulings.Lifted:
		return fmt.Sprintf("**lifted** by %s, %s", Code(r.By), Code(r.Because))
	}
	return "**missing**"
}

// condition is the words of a rule.
func condition(r rulings.Ruling) string {
	if words, ok := conditions[r.Rule]; ok {
		return words(r)
	}
	return Code(string(r.Rule)) // of another version of Lockstep
}

// plain is a condition that is the same for all.
func plain(text string) func(rulings.Ruling) string {
	return func(rulings.Ruling) string { return text }
}

var conditions = map[rulings.Rule]func(rulings.Ruling) string{
	rulings.Readable:    readable,
	rulings.Requirement: func(r rulings.Ruling) string { return "the block at " + Code(r.At) },
	rulings.OneOf:       plain("one of these alternatives"),
	rulings.Alternative: func(r rulings.Ruling) string { return Code(r.Name) },
	rulings.AskedBy:     func(r rulings.Ruling) string { return "asked for by " + either(r.Wanted) },
	rulings.Permitted:   func(r rulings.Ruling) string { return "asked for with the permission " + list(r.Wanted) },
	rulings.Approvals:   approvalWords,
	rulings.Codeowners:  plain("an approval by an owner of each changed file"),
	rulings.Mergeable:   plain("nothing but Lockstep's own checks stands in the way of a merge"),
	rulings.UpToDate:    plain("the head has all commits of the base branch"),
	rulings.Resolved:    plain("all conversations are resolved"),
	rulings.Ready:       plain("the pull request is no draft"),
	rulings.Checks:      func(r rulings.Ruling) string { return "these checks have passed: " + list(r.Wanted) },
	rulings.Labels:      func(r rulings.Ruling) string { return "these labels: " + list(r.Wanted) },
	rulings.NotLabels:   func(r rulings.Ruling) string { return "none of these labels: " + list(r.Wanted) },
	rulings.Windows:     func(r rulings.Ruling) string { return "a time in " + either(r.Wanted) },
	rulings.Freeze:      plain("no freeze"),
	rulings.MaxChanges:  func(r rulings.Ruling) string { return fmt.Sprintf("at most %s", changes(r.Want)) },
	rulings.MaxDestroys: func(r rulings.Ruling) string { return fmt.Sprintf("at most %d to destroy", r.Want) },
	rulings.NoDestroy:   func(r rulings.Ruling) string { return "nothing to destroy or replace of " + list(r.Wanted) },
}

func readable(r rulings.Ruling) string {
	if r.Outcome == rulings.Unknown {
		return "what the settings require"
	}
	return "settings without errors: a requirement could not be read"
}

func approvalWords(r rulings.Ruling) string {
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
		all = append(all, Code(n))
	}
	return strings.Join(all, " or ")
}

// found is the words for the facts that fulfil a rule, or that it is about.
func found(r rulings.Ruling) string {
	names := SomeOf(r.Found).text()
	switch r.Rule {
	case rulings.Approvals:
		if r.Have > 0 {
			return fmt.Sprintf("there is %d, by %s", r.Have, names)
		}
	case rulings.Codeowners:
		if r.Want > 0 {
			return fmt.Sprintf("%d of %d files are approved", r.Have, r.Want)
		}
	case rulings.Resolved:
		if r.Have > 0 {
			return fmt.Sprintf("open: %d", r.Have)
		}
	case rulings.MaxChanges, rulings.MaxDestroys:
		if r.Outcome == rulings.Fails {
			return fmt.Sprintf("the plan has %d", r.Have)
		}
	case rulings.NoDestroy:
		if len(r.Found) > 0 {
			return "the plan does that to " + names
		}
	case rulings.Freeze:
		if len(r.Found) > 0 {
			return "there is one: " + names
		}
	}
	return ""
}

// against is the words for the facts that do not count, the first ten.
func against(r rulings.Ruling) []string {
	const most = 10
	var out []string
	for _, a := range r.Against[:min(most, len(r.Against))] {
		out = append(out, speaks(a))
	}
	if n := len(r.Against) - most; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return out
}

// speaks is the words for one of them.
func speaks(a rulings.Against) string {
	name, names := Code(a.Name), list(a.Names)
	if words, ok := whys[a.Why]; ok {
		return words(name, names)
	}
	return name
}

var whys = map[rulings.Why]func(name, names string) string{
	rulings.EarlierHead: func(name, _ string) string { return name + " approved another commit" },
	rulings.OwnChange:   func(name, _ string) string { return name + " wrote the change" },
	rulings.ByBot:       func(name, _ string) string { return name + " is an App that the settings do not name" },
	rulings.CannotWrite: func(name, _ string) string { return name + " has not the permission" },
	rulings.NotNamed:    func(name, _ string) string { return name + " is none of them" },
	rulings.Refuses:     func(name, _ string) string { return name + " requests changes" },
	rulings.Unowned:     func(name, names string) string { return name + " waits for " + names },
	rulings.Missing:     func(name, _ string) string { return name + " is not there" },
	rulings.Running:     func(name, _ string) string { return name + " is not done" },
	rulings.CheckFailed: func(name, _ string) string { return name + " has failed" },
	rulings.OtherApp:    func(name, names string) string { return name + " was reported by " + names },
	rulings.PutBy:       func(name, names string) string { return name + " was put there by " + names + ", who may not write" },
	rulings.TakenBy:     func(name, names string) string { return name + " was removed by " + names + ", who may not write" },
	rulings.Conflicting: func(string, string) string { return "it conflicts with the base branch" },
	rulings.ReviewMissing: func(string, string) string {
		return "the rules of the base branch want a review"
	},
	rulings.Behind:  func(string, string) string { return "the base branch has commits that it lacks" },
	rulings.IsDraft: func(string, string) string { return "it is a draft" },
	rulings.Blocked: func(string, string) string { return "GitHub blocks it by rules of the base branch" },
}
