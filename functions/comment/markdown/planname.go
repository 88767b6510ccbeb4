package markdown

import (
	"regexp"
)

// PlanShort returns the first 12 digits of a plan's hash. People use them in commands.
func PlanShort(hash string) string { return hash[:min(len(hash), 12)] }

// PlanName returns, in Markdown, the words by which texts name a plan, with the beginning of its hash. It
// returns "no plan" if hash is "".
func PlanName(hash string) string {
	if hash == "" {
		return "no plan"
	}
	return "Plan " + Code(PlanShort(hash))
}

// PlanLine returns the line of a check's summary that contains the hash of its plan.
func PlanLine(hash string) string { return "Plan " + Code(hash) + "\n" }

var planLinePattern = regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$")

// PlanAgainLine returns a line for the summary of a check. It contains the hash of a new plan that is applied
// instead of the plan in the [PlanLine].
func PlanAgainLine(hash string) string {
	return "Planned again as " + Code(hash) + ", with the same changes.\n"
}

var planAgainPattern = regexp.MustCompile("(?m)^Planned again as `([0-9a-f]{64})`, with the same changes.$")

// PlanAgainIn returns the hash in the [PlanAgainLine] of a check's summary. It returns "" if the summary does
// not have exactly one such line.
func PlanAgainIn(summary string) string { return onlyOne(planAgainPattern, summary) }

// PlanIn returns the hash in the [PlanLine] of a check's summary. It returns "" if the summary does not have
// exactly one such line.
func PlanIn(summary string) string { return onlyOne(planLinePattern, summary) }

func onlyOne(pattern *regexp.Regexp, summary string) string {
	found := pattern.FindAllStringSubmatch(summary, -1)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}
