package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NoPlan reports that there is no plan to apply. In all reasons, Merged is set if the merge of the pull request
// requests the apply.
type NoPlan struct{ Merged bool }

func (r NoPlan) words() (text, remedy string) {
	return "There is no plan to apply.", planAgain(r.Merged)
}

// RequestedFailed reports that the plan that was requested together with the apply has failed. The project still
// has its earlier plan.
type RequestedFailed struct{}

func (RequestedFailed) words() (text, remedy string) {
	return "The plan that you requested with this apply failed.", "To apply the plan from before, read it, then comment `lockstep apply`."
}

// BeingPlanned reports that the plan to apply is not made yet.
type BeingPlanned struct {
	Merged bool
	Verb   grammar.Verb `json:",omitempty"` // verb of the command; "" for an apply
}

func (r BeingPlanned) words() (text, remedy string) {
	if r.Merged {
		return "The plan was not ready when the pull request was merged.", planAgain(true)
	}
	if r.Verb != "" {
		return "The plan is not ready yet.", fmt.Sprintf("Wait for the plan and read it. Then comment %s again.", markdown.Code(grammar.Command{Verb: r.Verb}.String()))
	}
	return "The plan is not ready yet.", "Wait for the plan and read it. Then comment `lockstep apply`."
}

// BeingApplied reports that an apply of the project is already in progress or queued.
type BeingApplied struct {
	By   string       // login of the user who requested that apply
	Verb grammar.Verb // of the refused command
	// Late is set for an apply that a merge has requested, and that waits until its requirements are met.
	Late bool `json:",omitempty"`
}

func (r BeingApplied) words() (text, remedy string) {
	text = fmt.Sprintf("An apply that %s requested is in progress.", markdown.Code(r.By))
	if r.Late {
		return "The merge requested this apply, which waits for its requirements.",
			fmt.Sprintf("Lockstep applies the plan once they are met, if the plan is still up to date then. To cancel the apply, comment %s. For a new plan, comment %s.", markdown.Code("lockstep stop"), markdown.Code("lockstep retry"))
	}
	switch r.Verb {
	case grammar.Plan:
		remedy = "Plan again once the apply has ended."
	case grammar.Recover:
		remedy = "There is nothing to recover: the apply writes its results to the state itself."
	case grammar.Apply:
		remedy = "Wait for its result."
	case grammar.Unlock:
		remedy = "Wait: the apply releases its lock when it ends. To end it early, comment `lockstep stop`."
	}
	return text, remedy
}

// PlanIsBad reports that planning failed or was stopped.
type PlanIsBad struct {
	Head      string
	Merged    bool
	StoppedBy string `json:",omitempty"` // login of the user who stopped it
	// Plain is the command for a plan without options. It is set if `lockstep retry` would use the options of
	// this plan.
	Plain string `json:",omitempty"`
	// Vain is set if nothing is left to apply: the previous plan of the project is applied, or had no changes.
	Vain bool `json:",omitempty"`
}

func (r PlanIsBad) words() (text, remedy string) {
	text = fmt.Sprintf("Lockstep failed to plan %s.", markdown.Code(markdown.SHA(r.Head)))
	if r.StoppedBy != "" {
		text = fmt.Sprintf("%[2]s cancelled the plan of %[1]s.", markdown.Code(markdown.SHA(r.Head)), markdown.Code(r.StoppedBy))
	}
	if r.Vain {
		return text + " The earlier plan has nothing left to apply.", fmt.Sprintf("To try again, correct the files and push, or comment %s.", markdown.Code("lockstep plan"))
	}
	if r.Plain != "" {
		return text, fmt.Sprintf("Comment %s: it plans what was merged, without options such as `-target`. Read the plan, then apply it.", markdown.Code(r.Plain))
	}
	if r.Merged || r.StoppedBy != "" {
		return text, planAgain(r.Merged)
	}
	return text, fmt.Sprintf("The comment with the plans shows the error. Correct the files and push. If the files are not the cause, comment %s to try again.", markdown.Code("lockstep plan"))
}

// AlreadyDone reports that the plan is applied already.
type AlreadyDone struct {
	Head, By string
	// Number is the pull request whose apply has made these changes; 0 for the present one.
	Number int `json:",omitempty"`
}

func (r AlreadyDone) words() (text, remedy string) {
	if r.Number != 0 {
		return fmt.Sprintf("#%d has already applied what was merged.", r.Number), ""
	}
	return fmt.Sprintf("The plan of %s is already applied, requested by %s.", markdown.Code(markdown.SHA(r.Head)), markdown.Code(r.By)), ""
}

// ApplyBroken reports that an earlier apply of the plan failed. Merged is set if the merge requests the apply.
type ApplyBroken struct{ Merged bool }

func (r ApplyBroken) words() (text, remedy string) {
	return "The apply of this plan failed, so the remaining changes need a new plan.", planAgain(r.Merged)
}

// NothingToDo reports that the plan has no changes.
type NothingToDo struct{}

func (NothingToDo) words() (text, remedy string) {
	return "The plan has no changes, so there is nothing to apply.", ""
}

// PlanIsNewer reports that the author of the comment, or the person who merged, cannot have seen the plan.
// Shown is set if the plan became visible after the comment or the merge. Shown is false if the plan was never
// visible.
type PlanIsNewer struct {
	Project, Plan string // Plan is the hash
	Shown         bool
	Merged        bool
}

func (r PlanIsNewer) words() (text, remedy string) {
	switch {
	case r.Merged && r.Shown:
		return "The plan was posted after the merge, so nobody had seen it.", planAgain(true)
	case r.Merged:
		return "The plan was not posted before the merge, so nobody had seen it.", planAgain(true)
	}
	text = "The plan was not posted yet when you wrote this comment, so you have not seen it."
	if r.Shown {
		text = "This plan was posted after your comment, so you have not seen it."
	}
	return text, fmt.Sprintf("Read the plan. Then comment %s again, or %s for exactly this plan.", markdown.Code("lockstep apply"), ApplyOnly(r.Project, r.Plan))
}

// PlanRenewed reports that Lockstep itself has replaced the plan by a new one, and that the command does not
// name the new plan.
type PlanRenewed struct {
	Project, Plan string // Plan is the hash
	Merged        bool
	// Outputs is set if the plan was replaced because planned outputs of other projects have changed.
	Outputs bool `json:",omitempty"`
}

func (r PlanRenewed) words() (text, remedy string) {
	since := "another pull request was applied to the same state"
	if r.Outputs {
		since = "the outputs of other projects differ from the planned ones"
	}
	text = "The plan has changed, because " + since + ". Nobody has confirmed the new plan."
	if r.Merged {
		return text, planAgain(true)
	}
	return text, fmt.Sprintf("Read the current plan. To apply it, comment %s.", ApplyOnly(r.Project, r.Plan))
}

// OtherPlan reports that the command names a plan (Named) that is not the project's present plan (Plan).
type OtherPlan struct{ Project, Named, Plan string }

func (r OtherPlan) words() (text, remedy string) {
	if r.Plan == "" {
		return fmt.Sprintf("%s is not a plan of %s, which has no plan now.", markdown.Code(r.Named), markdown.Code(r.Project)),
			fmt.Sprintf("Comment %s. Read the plan, then apply it.", markdown.Code(grammar.Command{Verb: grammar.Plan, Project: r.Project}.String()))
	}
	return fmt.Sprintf("%s is not the current plan of %s (%s).", markdown.Code(r.Named), markdown.Code(r.Project), markdown.PlanName(r.Plan)),
		fmt.Sprintf("Read the current plan. To apply it, comment %s.", ApplyOnly(r.Project, r.Plan))
}

// ApplyOnly returns the command that applies the project if its plan is still the given one.
func ApplyOnly(project, plan string) string {
	return markdown.Code(grammar.Command{Verb: grammar.Apply, Plan: markdown.PlanShort(plan), Project: project}.String())
}

// tampered is the beginning of the advice after somebody other than Lockstep has changed a plan.
const tampered = "Tell an operator of Lockstep: this may be an attack. "

// SavedExchanged reports that the stored plan file does not have the hash that the plan had when it was made.
type SavedExchanged struct {
	Saved, Made string
	Merged      bool
}

func (r SavedExchanged) words() (text, remedy string) {
	return fmt.Sprintf("The saved plan was replaced: it is %s, but Lockstep made %s. Somebody has written to the storage of Lockstep.", markdown.PlanName(r.Saved), markdown.PlanName(r.Made)), tampered + planAgain(r.Merged)
}

// ShownExchanged reports that the check run does not show the plan that Lockstep made. Shown is the hash that
// it shows; "" if it shows none.
type ShownExchanged struct {
	Check, Shown, Made string
	Merged             bool
}

func (r ShownExchanged) words() (text, remedy string) {
	if r.Shown == "" {
		return fmt.Sprintf("Lockstep cannot verify that this plan is the one you saw: the check %s names no plan.", markdown.Code(r.Check)), planAgain(r.Merged)
	}
	return fmt.Sprintf("This plan is not the one you saw: the check %s shows %s, but the apply would use %s. Somebody has replaced it.", markdown.Code(r.Check), markdown.PlanName(r.Shown), markdown.PlanName(r.Made)), tampered + planAgain(r.Merged)
}

// KeptExchanged reports that somebody has changed the stored inputs of the plan.
type KeptExchanged struct {
	Problem string
	Merged  bool
}

func (r KeptExchanged) words() (text, remedy string) {
	return fmt.Sprintf("The files that Lockstep stored for this plan were changed later: %s. Lockstep does not apply such a plan.", markdown.Code(r.Problem)), tampered + planAgain(r.Merged)
}
