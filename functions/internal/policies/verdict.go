package policies

import (
	"cmp"
	"slices"
)

// maxFindings is the maximum number of failures, and of warnings, in a Verdict.
const maxFindings = 10

// A Verdict is the result of judging a plan. The plan passes if there are no failures.
type Verdict struct {
	// Failures come from the rules deny and violation, Warnings from warn. Both are sorted by namespace, rule
	// and message, without duplicates, and have at most 10 items.
	Failures, Warnings []Finding
	// MoreFailures and MoreWarnings are how many findings Failures and Warnings leave out.
	MoreFailures, MoreWarnings int
}

// A Finding is one message of a rule. If the rule gives an object, the message is the object's msg.
type Finding struct {
	Namespace string // the package, without "data."
	Rule      string // the whole name: "deny_public_bucket"
	Message   string // of at most about 400 bytes of valid UTF-8, possibly with line breaks
}

func (f Finding) compare(to Finding) int {
	return cmp.Or(rule{f.Namespace, f.Rule}.compare(rule{to.Namespace, to.Rule}), cmp.Compare(f.Message, to.Message))
}

func (e *evaluation) verdict() (v Verdict) {
	v.Failures, v.MoreFailures = bounded(e.failures)
	v.Warnings, v.MoreWarnings = bounded(e.warnings)
	return v
}

// bounded sorts findings. It returns the first maxFindings of them, and the number of the rest.
func bounded(all []Finding) (kept []Finding, more int) {
	slices.SortFunc(all, Finding.compare)
	all = slices.Compact(all)
	kept = slices.Clone(all[:min(len(all), maxFindings)])
	return kept, len(all) - len(kept)
}
