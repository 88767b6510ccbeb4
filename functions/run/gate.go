package run

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// A Request is everything that the decision about one command for one project
// depends on, as it is when the decision is made.
type Request struct {
	Verb comment.Verb
	// Actor is who asks, with what they may do now; "" is a push, which GitHub let
	// somebody make.
	Actor      string
	Permission github.Permission
	Pull       github.PullRequest
	// Run is the record of the project; Phase New if there is none.
	Run Run
	// Last is the last apply to the project's state, nil if there was none.
	Last *LastApply
	// State is the state as it is now, under its lock. nil: it was not looked at yet,
	// and whoever does must ask again.
	State *StateID
}

// A Rule is what a refusal is based on.
type Rule string

const (
	NotOpen       Rule = "the pull request is not open"
	FromFork      Rule = "the pull request comes from a fork"
	NoPermission  Rule = "no permission"
	NotPlanned    Rule = "there is no plan"
	PlanIsBad     Rule = "planning failed"
	UnderWay      Rule = "something is under way"
	AlreadyDone   Rule = "it is applied already"
	NothingToDo   Rule = "there is nothing to do"
	HeadMoved     Rule = "the head moved"
	StateMoved    Rule = "the state moved"
	OtherUnmerged Rule = "another pull request was applied and is not merged"
	ApplyBroken   Rule = "the last apply failed"
)

// A Reason is one rule that says no, with what a person needs to know, in Markdown.
type Reason struct {
	Rule Rule
	comment.Reason
}

// A Decision is allowed if there is no reason against it.
type Decision struct{ Reasons []Reason }

// Allowed reports whether it may be done.
func (d Decision) Allowed() bool { return len(d.Reasons) == 0 }

// Has reports whether a rule is among the reasons.
func (d Decision) Has(r Rule) bool {
	for _, x := range d.Reasons {
		if x.Rule == r {
			return true
		}
	}
	return false
}

// Gate decides whether a command may be carried out, whichever way it came in. It
// gives all reasons against it at once, but does not go on about the plan to somebody
// who may not ask.
func Gate(q Request) Decision {
	g := &gate{Request: q}
	g.who()
	if len(g.reasons) == 0 {
		switch q.Verb {
		case comment.Plan:
			g.plan()
		case comment.Apply:
			g.apply()
		case comment.Unlock:
			g.unlock()
		default:
			panic(fmt.Sprintf("run: the gate has no rules for %q", q.Verb))
		}
	}
	return Decision{g.reasons}
}

// gate collects reasons.
type gate struct {
	Request
	reasons []Reason
}

func (g *gate) no(r Rule, remedy, text string, args ...any) {
	g.reasons = append(g.reasons, Reason{r, comment.Reason{Text: fmt.Sprintf(text, args...), Remedy: remedy}})
}

// who holds for all commands.
func (g *gate) who() {
	if g.Actor != "" && g.Permission < github.WritePermission {
		g.no(NoPermission, "Somebody who has it can say the same.",
			"%s has the permission %s on this repository, and this needs %s.", comment.Code(g.Actor), comment.Code(g.Permission.String()), comment.Code(github.WritePermission.String()))
	}
	if g.Actor == "" && g.Verb != comment.Plan {
		panic("run: only a plan can be asked for by nobody")
	}
	if g.Pull.Fork() {
		g.no(FromFork, "Push the commits to a branch of this repository, after reading them, and open a pull request from there.",
			"The pull request comes from a fork: a plan runs what is in it, with the credentials of this repository.")
	}
}

func (g *gate) plan() {
	if !g.Pull.Open {
		g.no(NotOpen, "", "The pull request is not open any more.")
	}
	if g.Run.Phase == Applying {
		g.no(UnderWay, "It can be planned when that is done.", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	}
}

func (g *gate) unlock() {
	if g.Run.Phase == Applying {
		g.no(UnderWay, "Its lock is released when it ends.", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	}
}

var planAgain = fmt.Sprintf("Comment %s for a new plan, look at it, and apply that one.", comment.Code("lockstep plan"))

func (g *gate) apply() {
	if !g.Pull.Open {
		g.no(NotOpen, "", "The pull request is not open any more.")
	}
	if !g.phase() {
		return
	}
	if g.Run.Head != g.Pull.Head.SHA {
		g.no(HeadMoved, planAgain, "The plan was made for %s, and the head of the pull request is %s now.", sha(g.Run.Head), sha(g.Pull.Head.SHA))
	}
	if l := g.Last; l != nil && l.Number != g.Pull.Number && !l.Settled {
		g.no(OtherUnmerged, fmt.Sprintf("Merge #%d, or close it to give it up, and bring its changes into this branch.", l.Number),
			"#%d was applied to the same state and is not merged yet: this apply would revert it.", l.Number)
	}
	if g.State != nil {
		g.state()
	}
}

// phase reports whether there is a plan to speak of.
func (g *gate) phase() bool {
	switch g.Run.Phase {
	case New, Dropped:
		g.no(NotPlanned, planAgain, "There is no plan to apply.")
	case Planning:
		g.no(UnderWay, "Look at the plan when it is there, and then apply it.", "It is being planned.")
	case PlanFailed:
		g.no(PlanIsBad, "Push a correction.", "Planning %s failed.", sha(g.Run.Head))
	case Applying:
		g.no(UnderWay, "", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	case Applied:
		g.no(AlreadyDone, "", "The plan for %s is applied already, as %s asked.", sha(g.Run.Head), comment.Code(g.Run.Actor))
	case ApplyFailed:
		g.no(ApplyBroken, planAgain, "The apply of this plan failed: what is left to do has to be planned anew.")
	case Stale:
		g.no(StateMoved, planAgain, "The plan is out of date.")
	case Planned:
		if !g.Run.Applyable {
			g.no(NothingToDo, "", "The plan has no changes.")
			return false
		}
		return true
	}
	return false
}

// state compares the state that the plan was made from with the present one.
func (g *gate) state() {
	was, is := g.Run.State, *g.State
	if was == is {
		return
	}
	why := ""
	switch {
	case was == StateID{}:
		why = "there was no state when the plan was made, and now there is one"
	case is == StateID{}:
		why = "the state that the plan was made from is gone"
	case was.Lineage != is.Lineage:
		why = "it is another state than the plan was made from"
	case was.Serial != is.Serial:
		why = fmt.Sprintf("it was at serial %d when the plan was made, and is at %d now", was.Serial, is.Serial)
	default:
		why = fmt.Sprintf("it was written since the plan was made, without a new serial (%d)", is.Serial)
	}
	by := ""
	if l := g.Last; l != nil && l.State == is {
		by = fmt.Sprintf(" %s has applied #%d in between.", comment.Code(l.By), l.Number)
	}
	g.no(StateMoved, planAgain, "The plan is stale, because the state has moved: %s.%s", why, by)
}

func sha(s string) string { return comment.Code(fmt.Sprintf("%.7s", s)) }
