package comment

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Button is a button on the page of a project's check run. It gives a command for the project.
type Button struct {
	Label, Description string
	// Identifier is the command that the button gives, without the project: "plan", "apply 1a2b3c4d5e6f". See
	// [ReadButton].
	Identifier string
}

// buttons is the table of the possible buttons.
//   - on lists the standings of a project. The check of a project with such a standing shows the button.
//   - lifts is set for the button that is shown only while a person may override a requirement that is not met.
//   - named is set for buttons that apply. Their commands name the plan on the page, so that an outdated page
//     cannot apply a newer plan.
var buttons = []struct {
	label, description string
	verb               Verb
	named, lifts       bool
	on                 []Standing
}{
	{"Apply", "Apply exactly this plan", Apply, true, false, []Standing{Ready, Renewed}},
	{"Continue", "Apply the rest of this plan", Apply, true, false, []Standing{Stopped}},
	{"Cancel", "Leave the queue, change nothing", Stop, false, false, []Standing{ApplyQueued}},
	{"Cancel", "Finish the changes in progress, then end", Stop, false, false, []Standing{Applying}},
	{"Override", "Show the command: it needs your reason", Override, false, true, []Standing{Ready, OnMerge, OnceMerged, Blocked, Renewed}},
	{"Plan again", "Make a new plan of this project", Plan, false, false, []Standing{Ready, OnMerge, OnceMerged, Blocked, Renewed, PartPlanned, PartApplied, NoChanges, PlanFailed, PlanStopped, ApplyFailed, Stopped, Stale}},
}

// Buttons returns the buttons of the check's page. A button can apply a plan only if the plan has a name, and
// is not applied by the merge. The check of a merged pull request has no buttons: people write commands
// instead.
func (c Check) Buttons() []Button {
	var out []Button
	if c.AfterMerge || c.ByMerge && slices.Contains([]Standing{ApplyQueued, Applying, ApplyFailed, Stopped}, c.Standing) {
		return nil
	}
	for _, b := range buttons {
		if !slices.Contains(b.on, c.Standing) || b.named && (!c.named() || c.ByMerge || c.Behind.outOfTurn()) || b.lifts && !(c.lacks() && c.Required.Overridable()) {
			continue
		}
		id := string(b.verb)
		if b.named {
			id += " " + markdown.PlanShort(c.Hash)
		}
		out = append(out, Button{b.label, b.description, id})
	}
	return out
}

// ReadButton returns the command of a button, without its project. ok is false if there is no such button. An override
// has no reason yet: its handler asks for one.
func ReadButton(identifier string) (c Command, ok bool) {
	verb, plan, named := strings.Cut(identifier, " ")
	for _, b := range buttons {
		if string(b.verb) == verb && b.named == named && (!named || planPattern().MatchString(plan)) {
			return Command{Verb: b.verb, Plan: plan}, true
		}
	}
	return Command{}, false
}

var planPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{12}$`) })
