package comment

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Button stands on the page of a project's check run: a command about the project, without typing.
type Button struct {
	Label, Description string
	// Identifier is the command without the project: "plan", "apply 1a2b3c4d5e6f". See [ReadButton].
	Identifier string
}

// buttons is the table of buttons, each with the standings whose page has it. A button that applies names the plan on
// its page: on a page that is out of date it does not mean a plan that nobody there has seen.
var buttons = []struct {
	label, description string
	verb               Verb
	named              bool
	on                 []Standing
}{
	{"Apply", "Apply exactly this plan", Apply, true, []Standing{Ready, Renewed}},
	{"Continue", "Apply the rest of this plan", Apply, true, []Standing{Stopped}},
	{"Cancel", "Leave the queue, change nothing", Stop, false, []Standing{ApplyQueued}},
	{"Cancel", "Finish the changes in progress, then end", Stop, false, []Standing{Applying}},
	{"Plan again", "Make a new plan of this project", Plan, false, []Standing{Ready, OnMerge, OnceMerged, Blocked, Renewed, PartPlanned, PartApplied, NoChanges, PlanFailed, PlanStopped, ApplyFailed, Stopped, Stale}},
}

// Buttons returns the buttons of the page. A plan without a name cannot be applied by one, nor can one that the merge
// applies. A merged pull request has none: commands do what is left of it.
func (c Check) Buttons() []Button {
	var out []Button
	if c.AfterMerge || c.ByMerge && slices.Contains([]Standing{ApplyQueued, Applying, ApplyFailed, Stopped}, c.Standing) {
		return nil
	}
	for _, b := range buttons {
		if !slices.Contains(b.on, c.Standing) || b.named && (!c.named() || c.ByMerge || c.Behind.outOfTurn()) {
			continue
		}
		id := string(b.verb)
		if b.named {
			id += " " + markdown.PlanShort(c.Plan)
		}
		out = append(out, Button{b.label, b.description, id})
	}
	return out
}

// ReadButton returns the command of a button, without its project. ok is false if there is no such button.
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
