package admission

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Decision is the gate's answer about a command. The command is allowed if there are no reasons against it.
type Decision struct {
	Reasons reasons.List
	// settled are the reasons for which the plan was made again. They no longer matter, because the new plan has the
	// same changes as the old one.
	settled reasons.List
}

// Allowed reports whether the command may be carried out.
func (d Decision) Allowed() bool { return len(d.Reasons) == 0 }

// Refusal returns a decision with one reason.
func Refusal(r reasons.Reason) Decision { return Decision{Reasons: reasons.List{r}} }

// Has reports whether a decision has a reason of type R.
func Has[R reasons.Reason](d Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r reasons.Reason) bool { _, is := r.(R); return is })
}

// stale are reasons that never disappear. A plan that was refused for one of them is never applied.
var stale = []reasons.Reason{
	reasons.HeadMoved{}, reasons.Restored{}, reasons.StateMoved{}, reasons.FoundStale{}, reasons.InputsMoved{}, reasons.ModulesMoved{}, reasons.OtherVersion{},
	reasons.ProvidersMoved{}, reasons.OthersMoved{}, reasons.ConfigMoved{},
	reasons.NoPlan{}, reasons.CommitGone{}, reasons.Unusable{}, reasons.Conflicts{},
	reasons.SavedExchanged{}, reasons.ShownExchanged{}, reasons.KeptExchanged{}, reasons.PlaceMoved{}, reasons.PlaceKeptElse{},
}

// Stale reports whether this plan can never be applied, so that a new plan is needed.
func (d Decision) Stale() bool {
	return slices.ContainsFunc(d.Reasons, func(r reasons.Reason) bool {
		return slices.ContainsFunc(stale, func(s reasons.Reason) bool { return reflect.TypeOf(s) == reflect.TypeOf(r) })
	})
}

// general are the reasons of rules with the subject [anybody]: they are the same for all projects.
var general = []reasons.Reason{
	reasons.NoPermission{}, reasons.OtherBase{},
	reasons.FromFork{}, reasons.ForkUnnamed{}, reasons.OtherCommit{}, reasons.OwnFork{}, reasons.ForkOnlyPlanned{},
}

// SameForAllProjects reports whether all reasons of a refusal are about the user or the pull request. The
// refusal is then the same for each project.
func SameForAllProjects(all reasons.List) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(r reasons.Reason) bool {
		return !slices.ContainsFunc(general, func(g reasons.Reason) bool { return reflect.TypeOf(g) == reflect.TypeOf(r) })
	})
}

// A rule returns the reason why the gate refuses a request; nil if this rule does not refuse it.
type rule struct {
	verbs []comment.Verb // the commands that the rule is for
	on    subject
	no    func(*Request) reasons.Reason
}

// A subject is the group of facts that a rule needs, such as those about the plan.
type subject int

const (
	anybody   subject = iota // who asks, and which pull request
	theRun                   // the project's record
	aPlan                    // a plan that can be applied
	thePlace                 // the decision about the address of the state
	itsChange                // the same, if the address is granted
)

var (
	everything = grammar.Acting()
	// A stop and an unlock need no rights from the base branch.
	granted  = slices.DeleteFunc(grammar.Acting(), func(v comment.Verb) bool { return v == comment.Stop || v == comment.Unlock })
	planning = []comment.Verb{comment.Plan}
	applying = []comment.Verb{comment.Apply}
)

// rules are the rules of the gate, in the order in which people read their reasons.
var rules = []rule{
	{everything, anybody, permission},
	{everything, anybody, fork},
	{planning, anybody, otherCommit},
	{granted, anybody, otherBase},

	{[]comment.Verb{comment.Plan, comment.Apply}, theRun, servedElsewhere},
	{[]comment.Verb{comment.Plan, comment.Apply, comment.Recover, comment.Lock}, theRun, shadowed},
	{[]comment.Verb{comment.Plan, comment.Lock}, theRun, closed},
	{[]comment.Verb{comment.Plan, comment.Apply}, theRun, issueClosed},
	{[]comment.Verb{comment.Lock}, theRun, reserved},
	{[]comment.Verb{comment.Plan, comment.Unlock, comment.Recover}, theRun, beingApplied},
	{planning, theRun, conflict},
	{[]comment.Verb{comment.Plan, comment.Apply}, theRun, restored},
	{applying, theRun, occasion},
	{applying, theRun, notAll},
	{applying, theRun, phase},
	{everything, theRun, commitGone},
	{everything, theRun, ungenerated},
	{everything, theRun, unusable},

	{applying, aPlan, headMoved},
	{applying, aPlan, unseen},
	{applying, aPlan, planRenewed},
	{applying, aPlan, savedExchanged},
	{applying, aPlan, shownExchanged},
	{applying, aPlan, keptExchanged},
	{applying, aPlan, conflictSince},
	{applying, aPlan, inputsMoved},
	{applying, aPlan, blocksMoved},
	{applying, aPlan, othersMoved},
	{applying, aPlan, modulesMoved},
	{applying, aPlan, providersMoved},
	{applying, aPlan, otherVersion},
	{applying, aPlan, otherUnmerged},
	{applying, aPlan, reserved},
	{applying, aPlan, stateMoved},
	{applying, aPlan, copied},
	{applying, aPlan, outputsPlanned},
	{applying, aPlan, outputsMoved},

	{applying, aPlan, againElsewhere},
	{applying, aPlan, inOrder},

	{[]comment.Verb{comment.Plan, comment.Stop, comment.Recover, comment.Lock, comment.Unlock}, theRun, required},
	{applying, aPlan, required},

	{applying, itsChange, placeRenamed},
	{applying, itsChange, placeLeft},
	{applying, itsChange, encryptedFirst},
	{applying, itsChange, placeMoved},
}

// Decide decides whether a command may be carried out, whether it comes from a comment, a push or a merge. It
// returns all reasons against the command at once. But a person without the right to give the command learns
// nothing about the run.
func Decide(q Request) Decision {
	if !slices.Contains(everything, q.Verb) {
		panic(fmt.Sprintf("admission: the gate has no rules for %q", q.Verb))
	}
	if (q.Actor == "") != (q.Entry == ByPush) || q.Entry == ByPush && q.Verb != comment.Plan || q.Entry == ByMerge && q.Verb != comment.Apply && q.Verb != comment.Unlock {
		panic(fmt.Sprintf("admission: %q asked for by %q on %s", q.Verb, q.Actor, q.Entry))
	}
	var d Decision
	d.ask(&q, anybody)
	if !d.Allowed() {
		return d
	}
	d.ask(&q, theRun)
	if phase(&q) == nil {
		d.ask(&q, aPlan)
		if q.Again != nil && !q.Again.Equal {
			d.Reasons = append(d.Reasons, reasons.PlanDiffers{Project: q.Run.Project, Plan: q.Again.Hash, Since: d.settled, Merged: q.merged()})
		}
	}
	if len(d.Reasons) > 1 {
		comes := d.Reasons.MayCome()
		for i, r := range d.Reasons {
			d.Reasons[i] = besideOthers(r, comes)
		}
	}
	if p := q.Placing; p != nil {
		d.Reasons = append(d.Reasons, p.Reasons...)
		if len(p.Reasons) == 0 {
			d.ask(&q, itsChange)
		}
	}
	return d
}

// besideOthers returns the reason r, marked as one of several. comes is set if the remaining reasons may
// disappear after the merge.
func besideOthers(r reasons.Reason, comes bool) reasons.Reason {
	switch r := r.(type) {
	case reasons.AppliedLater:
		r.Held, r.Comes = true, comes
		return r
	case reasons.Awaits:
		r.Held = true
		return r
	case reasons.OutOfOrder:
		r.Held = true
		return r
	}
	return r
}

// ask checks all rules of one subject. It adds the reasons of those rules that refuse the request to d.
func (d *Decision) ask(q *Request, on subject) {
	for _, r := range rules {
		if r.on != on || !slices.Contains(r.verbs, q.Verb) {
			continue
		}
		no := r.no(q)
		switch {
		case no == nil:
		case q.Again != nil && settleable(no):
			d.settled = append(d.settled, no) // an equal plan has settled it; for a different plan, planDiffers refuses
		default:
			d.Reasons = append(d.Reasons, no)
		}
	}
}
