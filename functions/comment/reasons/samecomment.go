package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// PlannedAbove reports that one comment requests two plans of the same project, and perhaps the apply of one of
// them.
type PlannedAbove struct {
	Project string
	Command grammar.Command // of the first one
	Verb    grammar.Verb    // of the refused command
}

func (r PlannedAbove) words() (text, remedy string) {
	first := markdown.Code(r.Command.String())
	if r.Verb == grammar.Apply {
		return fmt.Sprintf("The comment requests more than one plan of %s, so this apply is not clear. Lockstep makes only the first plan, %s.", markdown.Code(r.Project), first),
			fmt.Sprintf("Read the plan, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
	}
	return fmt.Sprintf("The same comment already requests another plan of %s: %s.", markdown.Code(r.Project), first),
		"A project has one plan at a time. First apply that plan. Or write the refused command in a new comment: its plan then replaces the other."
}

// ShownFirst reports that one comment requests a plan that changes the state or invokes an action, and also its
// apply. Such a plan must be visible first.
type ShownFirst struct {
	Project string
	Command grammar.Command
}

func (r ShownFirst) words() (text, remedy string) {
	return fmt.Sprintf("The comment requests %s and its apply together, so nobody has seen the plan.", markdown.Code(r.Command.String())),
		fmt.Sprintf("Read the plan, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
}

// PlanUnseen reports that one comment requests a plan and its apply, so its author has not seen the plan. Let
// is set if the base branch allows such comments in general, but not for this plan.
type PlanUnseen struct {
	Project string
	Let     bool
}

func (r PlanUnseen) words() (text, remedy string) {
	text = "You requested the plan and its apply in one comment, so you have not seen the plan."
	if r.Let {
		text += " The setting " + markdown.Code("apply_unseen") + " covers only plans that create objects and update them in place."
	}
	remedy = fmt.Sprintf("Read the plan, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
	if !r.Let {
		remedy += fmt.Sprintf(" To allow such comments for plans that only create objects or update them in place, set %s in %s on the base branch.", markdown.Code("apply_unseen = true"), markdown.Code("lockstep.hcl"))
	}
	return text, remedy
}

// NotReplaced reports that a command with -replace is for a project that the pull request removes.
type NotReplaced struct{ Project string }

func (r NotReplaced) words() (text, remedy string) {
	return fmt.Sprintf("The pull request removes %s: Lockstep can only destroy its objects, and replaces none.", markdown.Code(r.Project)), "To replace an object, do so in a pull request that keeps the project."
}
