package markdown

import (
	"regexp"
)

// PlanShort returns the beginning of a plan's hash, for people.
func PlanShort(hash string) string { return hash[:min(len(hash), 12)] }

// PlanName names a plan in Markdown by the beginning of its hash; "no plan" without one.
func PlanName(hash string) string {
	if hash == "" {
		return "no plan"
	}
	return "Plan " + Code(PlanShort(hash))
}

// PlanLine is the line of a check that identifies its plan.
func PlanLine(hash string) string { return "Plan " + Code(hash) + "\n" }

var planLinePattern = regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$")

// PlanAgainLine is the line of a check that identifies the plan that is applied in the place of its plan.
func PlanAgainLine(hash string) string {
	return "Planned again as " + Code(hash) + ", with the same changes.\n"
}

var planAgainPattern = regexp.MustCompile("(?m)^Planned again as `([0-9a-f]{64})`, with the same changes.$")

// PlanAgainIn returns the hash of the plan that is applied in the place of the one that the summary of a
// check identifies; "" if there is none, or more than one.
func PlanAgainIn(summary string) string { return onlyOne(planAgainPattern, summary) }

// PlanIn returns the hash of the plan that the summary of a check identifies; "" if there is none,
// or more than one.
func PlanIn(summary string) string { return onlyOne(planLinePattern, summary) }

func onlyOne(pattern *regexp.Regexp, summary string) string {
	found := pattern.FindAllStringSubmatch(summary, -1)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}
