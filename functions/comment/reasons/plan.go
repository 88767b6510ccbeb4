package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NoPlan: there is no plan to apply. In this and the other reasons, Merged is set if the merge of
// the pull request asks for the apply.
type NoPlan struct{ Merged bool }

func (r NoPlan) words() (text, remedy string) {
	return "There is no plan to apply.", planAgain(r.Merged)
}

// BeingPlanned: the plan to apply is not made yet.
type BeingPlanned struct {
	Merged bool
	Verb   grammar.Verb `json:",omitempty"` // of the command, where it is no apply
}

func (r BeingPlanned) words() (text, remedy string) {
	if r.Merged {
		return "It is being planned.", planAgain(true)
	}
	if r.Verb != "" {
		return "It is being planned.", fmt.Sprintf("Look at the plan when it is there, and then comment %s.", markdown.Code(grammar.Command{Verb: r.Verb}.String()))
	}
	return "It is being planned.", "Look at the plan when it is there, and then apply it."
}

// BeingApplied: an apply of the same project is under way, or waits for its turn.
type BeingApplied struct {
	By   string       // login of the user who asked for it
	Verb grammar.Verb // of the refused command
	// Late is set for an apply that a merge has asked for, and that waits for what is missing.
	Late bool `json:",omitempty"`
}

func (r BeingApplied) words() (text, remedy string) {
	text = fmt.Sprintf("An apply, asked for by %s, is under way.", markdown.Code(r.By))
	if r.Late {
		return "It waits for what is missing: the merge has asked for its apply.",
			fmt.Sprintf("It is applied by itself once that is there, if the plan still fits the base branch then: %s ends that, and %s makes a new plan.", markdown.Code("lockstep stop"), markdown.Code("lockstep retry"))
	}
	switch r.Verb {
	case grammar.Plan:
		remedy = "It can be planned when that is done."
	case grammar.Recover:
		remedy = "It brings everything into the state itself, when it ends or goes on."
	case grammar.Unlock:
		remedy = "Its lock is released when it ends."
	}
	return text, remedy
}

// PlanIsBad: planning failed, or was stopped.
type PlanIsBad struct {
	Head      string
	Merged    bool
	StoppedBy string `json:",omitempty"` // login of the user who stopped it
	// Plain is the command for a plan without the options of this one, where a retry after the merge would have them again; "" elsewhere.
	Plain string `json:",omitempty"`
	// Vain is set if nothing is left to be applied of what was planned before.
	Vain bool `json:",omitempty"`
}

func (r PlanIsBad) words() (text, remedy string) {
	text = fmt.Sprintf("Planning %s failed.", markdown.Code(markdown.SHA(r.Head)))
	if r.StoppedBy != "" {
		text = fmt.Sprintf("There is no plan for %s: %s stopped it.", markdown.Code(markdown.SHA(r.Head)), markdown.Code(r.StoppedBy))
	}
	if r.Vain {
		return text + " Of what was planned before, nothing is left to be applied.", ""
	}
	if r.Plain != "" {
		return text, fmt.Sprintf("Comment %s for a plan of the base branch without the options of this one, look at it, and apply that one.", markdown.Code(r.Plain))
	}
	if r.Merged || r.StoppedBy != "" {
		return text, planAgain(r.Merged)
	}
	return text, fmt.Sprintf("Push a correction; if the files are not at fault, comment %s.", markdown.Code("lockstep plan"))
}

// AlreadyDone: the plan is applied.
type AlreadyDone struct {
	Head, By string
	// Number is that of another pull request whose apply has done it; 0 for its own.
	Number int `json:",omitempty"`
}

func (r AlreadyDone) words() (text, remedy string) {
	if r.Number != 0 {
		return fmt.Sprintf("The apply of #%d has finished what was merged.", r.Number), ""
	}
	return fmt.Sprintf("The plan for %s is applied already, as %s asked.", markdown.Code(markdown.SHA(r.Head)), markdown.Code(r.By)), ""
}

// ApplyBroken: the apply of the plan failed.
type ApplyBroken struct{ Merged bool }

func (r ApplyBroken) words() (text, remedy string) {
	return "The apply of this plan failed: the remaining changes need a new plan.", planAgain(r.Merged)
}

// NothingToDo: the plan has no changes.
type NothingToDo struct{}

func (NothingToDo) words() (text, remedy string) { return "The plan has no changes.", "" }

// PlanIsNewer: the author of the comment, or who merged, cannot have seen the plan. Shown is set if it was shown
// after the comment was written, or after the merge, and not set if it was never shown.
type PlanIsNewer struct {
	Project, Plan string // Plan is the hash
	Shown         bool
	Merged        bool
}

func (r PlanIsNewer) words() (text, remedy string) {
	switch {
	case r.Merged && r.Shown:
		return "The plan was shown after the merge, or in the same second: whoever merged has not seen it.", planAgain(true)
	case r.Merged:
		return "The plan was not shown before the merge: whoever merged has not seen it.", planAgain(true)
	}
	text = "The plan was not shown yet: whoever wrote this comment has not seen it."
	if r.Shown {
		text = "The plan was shown after this comment was written, or in the same second: whoever wrote it has not seen the plan."
	}
	return text, fmt.Sprintf("Look at the plan, and comment %s again, or name the plan: %s.", markdown.Code("lockstep apply"), ApplyOnly(r.Project, r.Plan))
}

// PlanRenewed: the plan took the place of another one without anybody's asking, and the command does
// not name it.
type PlanRenewed struct {
	Project, Plan string // Plan is the hash
	Merged        bool
	// Outputs is set if that was because of planned outputs of other projects.
	Outputs bool `json:",omitempty"`
}

func (r PlanRenewed) words() (text, remedy string) {
	since := "another pull request was applied to the same state"
	if r.Outputs {
		since = "the outputs of other projects are not those that were planned"
	}
	text = "The plan is another one than before, since " + since + ": whoever asked for the former one has not asked for this."
	if r.Merged {
		return text, planAgain(true)
	}
	return text, fmt.Sprintf("Look at the plan that is there now. To apply it, comment %s.", ApplyOnly(r.Project, r.Plan))
}

// OtherPlan: the comment names a plan that is not the project's.
type OtherPlan struct{ Project, Named, Plan string }

func (r OtherPlan) words() (text, remedy string) {
	return fmt.Sprintf("%s is not the plan of %s, which is %s.", markdown.Code(r.Named), markdown.Code(r.Project), markdown.PlanName(r.Plan)),
		fmt.Sprintf("Look at the plan that is there now. To apply it, comment %s.", ApplyOnly(r.Project, r.Plan))
}

// ApplyOnly is the command that applies one plan and no other.
func ApplyOnly(project, plan string) string {
	return markdown.Code(grammar.Command{Verb: grammar.Apply, Plan: markdown.PlanShort(plan), Project: project}.String())
}

// SavedExchanged: the saved plan has another hash than the plan that was made.
type SavedExchanged struct {
	Saved, Made string
	Merged      bool
}

func (r SavedExchanged) words() (text, remedy string) {
	return fmt.Sprintf("The saved plan is not the one that was made: it is %s, and %s was made. Somebody has exchanged it.", markdown.PlanName(r.Saved), markdown.PlanName(r.Made)), planAgain(r.Merged)
}

// ShownExchanged: the check run shows another plan than the one that was made; Shown is "" if it
// shows none.
type ShownExchanged struct {
	Check, Shown, Made string
	Merged             bool
}

func (r ShownExchanged) words() (text, remedy string) {
	if r.Shown == "" {
		return fmt.Sprintf("Nobody can tell whether the plan is the one that was shown: the check %s names none.", markdown.Code(r.Check)), planAgain(r.Merged)
	}
	return fmt.Sprintf("The plan is not the one that was shown: the check %s shows %s, and %s is to be applied. Somebody has exchanged it.", markdown.Code(r.Check), markdown.PlanName(r.Shown), markdown.PlanName(r.Made)), planAgain(r.Merged)
}

// KeptExchanged: the stored inputs of the plan are not those it was made from.
type KeptExchanged struct {
	Problem string
	Merged  bool
}

func (r KeptExchanged) words() (text, remedy string) {
	return fmt.Sprintf("What the plan was made from is not what is kept of it: %s.", markdown.Code(r.Problem)), planAgain(r.Merged)
}
