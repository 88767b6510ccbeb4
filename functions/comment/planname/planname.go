// Package planname names plans by their hashes, in Markdown, and reads the names again.
package planname

import (
	"regexp"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Short returns the beginning of a plan's hash, for people.
func Short(hash string) string { return hash[:min(len(hash), 12)] }

// Of names a plan in Markdown by the beginning of its hash; "no plan" without one.
func Of(hash string) string {
	if hash == "" {
		return "no plan"
	}
	return "Plan " + markdown.Code(Short(hash))
}

// Line is the line of a check that identifies its plan.
func Line(hash string) string { return "Plan " + markdown.Code(hash) + "\n" }

var linePattern = regexp.MustCompile("(?m)^Plan `([0-9a-f]{64})`$")

// AgainLine is the line of a check that identifies the plan that is applied in the place of its plan.
func AgainLine(hash string) string {
	return "Planned again as " + markdown.Code(hash) + ", with the same changes.\n"
}

var againPattern = regexp.MustCompile("(?m)^Planned again as `([0-9a-f]{64})`, with the same changes.$")

// AgainIn returns the hash of the plan that is applied in the place of the one that the summary of a
// check identifies; "" if there is none, or more than one.
func AgainIn(summary string) string { return onlyOne(againPattern, summary) }

// In returns the hash of the plan that the summary of a check identifies; "" if there is none,
// or more than one.
func In(summary string) string { return onlyOne(linePattern, summary) }

func onlyOne(pattern *regexp.Regexp, summary string) string {
	found := pattern.FindAllStringSubmatch(summary, -1)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}
