package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// PlannedAbove: a comment asks for two plans of a project, and maybe for the apply of one of them.
type PlannedAbove struct {
	Project string
	Command grammar.Command // of the first one
	Verb    grammar.Verb    // of the refused command
}

func (r PlannedAbove) words() (text, remedy string) {
	first := markdown.Code(r.Command.String())
	if r.Verb == grammar.Apply {
		return fmt.Sprintf("The comment asks for more than one plan of %s: %s is the one that is made.", markdown.Code(r.Project), first),
			fmt.Sprintf("Look at it, and comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
	}
	return fmt.Sprintf("The same comment asks for another plan of %s before: %s.", markdown.Code(r.Project), first),
		"A project has one plan: apply that one, or comment this command alone, and its plan takes the place of the other."
}

// ShownFirst: a change of the state and its apply are asked for in one comment.
type ShownFirst struct {
	Project string
	Command grammar.Command
}

func (r ShownFirst) words() (text, remedy string) {
	return fmt.Sprintf("The plan of %s is shown before anybody applies it.", markdown.Code(r.Command.String())),
		fmt.Sprintf("Look at it, and comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
}

// PlanUnseen: a plan and its apply are asked for in one comment. Let is set if the base branch lets plans be applied so, and this one does
// more than it lets.
type PlanUnseen struct {
	Project string
	Let     bool
}

func (r PlanUnseen) words() (text, remedy string) {
	text = "You asked for the plan and for its apply in one comment, so you have not seen the plan."
	if r.Let {
		text += " The setting " + markdown.Code("apply_unseen") + " covers only plans that create objects and update them in place."
	}
	remedy = fmt.Sprintf("Read the plan, then comment %s.", markdown.Code(grammar.Command{Verb: grammar.Apply, Project: r.Project}.String()))
	if !r.Let {
		remedy += fmt.Sprintf(" To have plans applied so that only create objects and update them in place, set %s in the base branch's %s.", markdown.Code("apply_unseen = true"), markdown.Code("lockstep.hcl"))
	}
	return text, remedy
}

// NotReplaced: an object of a project that the pull request removes is to be replaced.
type NotReplaced struct{ Project string }

func (r NotReplaced) words() (text, remedy string) {
	return fmt.Sprintf("The pull request removes %s: its objects are destroyed, and none is replaced.", markdown.Code(r.Project)), ""
}
