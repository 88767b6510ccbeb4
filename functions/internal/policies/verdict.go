package policies

import (
	"cmp"
	"slices"
)

// maxFindings is the limit of failures, and of warnings.
const maxFindings = 10

// A Verdict is the results of a judgement. The plan passes if there are no failures.
type Verdict struct {
	// Failures are of the rules deny and violation, Warnings of warn. Both are sorted by namespace,
	// rule and message, without duplicates, and have at most 10 items.
	Failures, Warnings []Finding
	// MoreFailures and MoreWarnings are the numbers of those that were left off.
	MoreFailures, MoreWarnings int
}

// A Finding is one message of a rule. Its other keys, if it is an object, are not kept.
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

// bounded sorts findings, and returns the first ones, and how many there are beyond.
func bounded(all []Finding) (kept []Finding, more int) {
	slices.SortFunc(all, Finding.compare)
	all = slices.Compact(all)
	kept = slices.Clone(all[:min(len(all), maxFindings)])
	return kept, len(all) - len(kept)
}
