package markdown

import (
	"regexp"
)

// PlanShort returns the first 12 digits of a plan's hash, by which people name the plan.
func PlanShort(hash string) string { return hash[:min(len(hash), 12)] }

// PlanName returns the name of a plan in Markdown, with the beginning of its hash; "no plan" if the hash is "".
func PlanName(hash string) string {
	if hash == "" {
		return "no plan"
	}
	return "Plan " + Code(PlanShort(hash))
}

// PlanLine returns the line of a check's summary that identifies its plan.
func PlanLine(hash string) string { return "Plan " + Code(hash) + "\n" }

var planLinePattern = regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$")

// PlanAgainLine returns a line for the summary of a check. It identifies the plan that is applied in place of
// the plan in the [PlanLine].
func PlanAgainLine(hash string) string {
	return "Planned again as " + Code(hash) + ", with the same changes.\n"
}

var planAgainPattern = regexp.MustCompile("(?m)^Planned again as `([0-9a-f]{64})`, with the same changes.$")

// PlanAgainIn returns the hash in the [PlanAgainLine] of a check's summary; "" if there is no such line, or
// more than one.
func PlanAgainIn(summary string) string { return onlyOne(planAgainPattern, summary) }

// PlanIn returns the hash in the [PlanLine] of a check's summary; "" if there is no such line, or more than
// one.
func PlanIn(summary string) string { return onlyOne(planLinePattern, summary) }

func onlyOne(pattern *regexp.Regexp, summary string) string {
	found := pattern.FindAllStringSubmatch(summary, -1)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}
