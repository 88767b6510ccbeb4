package comment

import (
	"regexp"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// shortHash returns the beginning of a plan's hash, for people.
func shortHash(hash string) string { return hash[:min(len(hash), 12)] }

// PlanName names a plan in Markdown by the beginning of its hash; "no plan" without one.
func PlanName(hash string) string {
	if hash == "" {
		return "no plan"
	}
	return "Plan " + markdown.Code(shortHash(hash))
}

// fullName is the line of a check that identifies its plan.
func fullName(hash string) string { return "Plan " + markdown.Code(hash) + "\n" }

var fullNamePattern = regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$")

// againName is the line of a check that identifies the plan that is applied in the place of its plan.
func againName(hash string) string {
	return "Planned again as " + markdown.Code(hash) + ", with the same changes.\n"
}

var againPattern = regexp.MustCompile("(?m)^Planned again as `([0-9a-f]{64})`, with the same changes.$")

// AgainIn returns the hash of the plan that is applied in the place of the one that the summary of a
// check identifies; "" if there is none, or more than one.
func AgainIn(summary string) string { return onlyOne(againPattern, summary) }

// PlanIn returns the hash of the plan that the summary of a check identifies; "" if there is none,
// or more than one.
func PlanIn(summary string) string { return onlyOne(fullNamePattern, summary) }

func onlyOne(pattern *regexp.Regexp, summary string) string {
	found := pattern.FindAllStringSubmatch(summary, -1)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}
