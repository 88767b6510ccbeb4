package runs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// An Entry is the way on which somebody asks.
type Entry string

const (
	ByPush    Entry = "push" // GitHub let somebody push, or open a pull request
	ByComment Entry = "comment"
	ByMerge   Entry = "merge" // somebody merged what is applied on merge
)

// A Request is everything that the decision about one command for one project
// depends on, as it is when the decision is made.
type Request struct {
	Verb  comment.Verb
	Entry Entry
	// Actor is who asks, with what they may do now; "" for a push.
	Actor      string
	Permission github.Permission
	// At is when a comment was written; the zero value of what is none.
	At time.Time
	// Named is the plan that a comment names, or the beginning of its hash; "" for none.
	// Shown is when the run's plan was first shown in our comment, by GitHub's clock; the
	// zero value if it was not. Decided says that both were decided about before.
	Named   string
	Shown   time.Time
	Decided bool
	// Saved is the hash of the saved plan as it was read, "" if it was not; OnGitHub the one
	// that our check run shows, nil if nobody looked; Kept what is wrong with what else is
	// kept of the plan.
	Saved    string
	OnGitHub *string
	Kept     string
	Pull     github.PullRequest
	// BaseNamed says that the default branch's settings let pull requests into Pull.Base,
	// if that is another branch, be planned and applied.
	BaseNamed bool
	// Run is the record of the project; Phase New if there is none.
	Run Run
	// Conflict says that the head cannot be merged into the base branch as it is now.
	Conflict bool
	// Differ are the files that the plan depends on, and that are not as they were:
	// merged into the base branch as it is now, or in the commit that the pull request
	// became.
	Differ []string
	// Whole says that the plan depends on every file, for programs could run and read it.
	Whole bool
	// Modules are those from elsewhere that are not what the plan was made with. It takes
	// fetching them to know.
	Modules []string
	// Outdated says that another version of Lockstep made the plan. It takes reading it.
	Outdated bool
	// Placing is where the project's state is; nil: it was not asked yet, and whoever
	// reads the state must ask again.
	Placing *Placing
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
	OtherBase     Rule = "the pull request goes into another branch than the default one"
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
	Conflicts     Rule = "it conflicts with the base branch"
	InputsMoved   Rule = "the files moved"
	ModulesMoved  Rule = "the modules moved"
	EngineMoved   Rule = "the plan is another version's"
	AppliedLater  Rule = "it is applied on merge"
	NotOnMerge    Rule = "it is not applied on merge"
	PlanIsNewer   Rule = "the plan is newer than the comment"
	OtherPlan     Rule = "the comment names another plan"
	PlanExchanged Rule = "what is kept is not what was made"
	NotMerged     Rule = "it is not merged"
	NotToBeHad    Rule = "what it needs cannot be had"

	PlaceTaken      Rule = "the state is another one's"
	PlaceNotAllowed Rule = "the state may not be there"
	PlaceRenamed    Rule = "the base branch has the state for a project of another name"
	PlaceMoved      Rule = "the plan is for a state elsewhere"
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
		rules, ok := rulesOf[q.Verb]
		if !ok {
			panic(fmt.Sprintf("runs: the gate has no rules for %q", q.Verb))
		}
		rules(g)
		g.place()
	}
	return Decision{g.reasons}
}

// rulesOf has the rules of each verb that acts on a project, besides those for all.
var rulesOf = map[comment.Verb]func(*gate){
	comment.Plan:   (*gate).plan,
	comment.Apply:  (*gate).apply,
	comment.Unlock: (*gate).unlock,
}

// Guards reports whether the gate has rules for a verb.
func Guards(v comment.Verb) bool { return rulesOf[v] != nil }

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
	if g.Actor != "" && g.Permission < github.WritePermission && !g.mergedByBot() {
		g.no(NoPermission, "Somebody who has it can say the same.",
			"%s has the permission %s on this repository, and this needs %s.", comment.Code(g.Actor), comment.Code(g.Permission.String()), comment.Code(github.WritePermission.String()))
	}
	if (g.Actor == "") != (g.Entry == ByPush) || g.Entry == ByPush && g.Verb != comment.Plan || g.Entry == ByMerge && g.Verb != comment.Apply {
		panic(fmt.Sprintf("runs: %q asked for by %q on %s", g.Verb, g.Actor, g.Entry))
	}
	if g.Pull.Fork() {
		g.no(FromFork, "Push the commits to a branch of this repository, after reading them, and open a pull request from there.",
			"The pull request comes from a fork: a plan runs what is in it, with the credentials of this repository.")
	}
	if base := g.Pull.Base.Ref; base != g.Pull.DefaultBranch && !g.BaseNamed {
		main, file := comment.Code(g.Pull.DefaultBranch), comment.Code(project.FileName)
		g.no(OtherBase, fmt.Sprintf("Let it go into %s, or have the allow block of %s on %s name the branch: %s.", main, file, main, comment.Code(fmt.Sprintf("branches = [%q]", base))),
			"The pull request goes into %s: whoever may push there would grant themselves what %s has to grant.", comment.Code(base), main)
	}
}

// mergedByBot reports whether the pull request was merged by an App, as merge queues do:
// GitHub tells no permission of those, and has let it merge.
func (g *gate) mergedByBot() bool {
	return g.Entry == ByMerge && g.Pull.Merged && g.Pull.MergedBy == g.Actor && strings.HasSuffix(g.Actor, "[bot]")
}

func (g *gate) plan() {
	if !g.Pull.Open {
		g.no(NotOpen, "", "The pull request is not open any more.")
	}
	if g.applying() {
		g.no(UnderWay, "It can be planned when that is done.", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	}
	if g.Conflict {
		g.no(Conflicts, "Merge the base branch into this one, or rebase it.", "%s conflicts with the base branch.", sha(g.Pull.Head.SHA))
	}
}

func (g *gate) applying() bool { return g.Run.Phase == Applying || g.Run.Phase == ApplyQueued }

func (g *gate) unlock() {
	if g.applying() {
		g.no(UnderWay, "Its lock is released when it ends.", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	}
}

// again is how to get a plan that can be applied.
func (g *gate) again() string {
	if g.Entry == ByMerge {
		return "Open a pull request that touches the project: its plan shows what is left to do."
	}
	return planAgain
}

var planAgain = fmt.Sprintf("Comment %s for a new plan, look at it, and apply that one.", comment.Code("lockstep plan"))

func (g *gate) apply() {
	g.occasion()
	if !g.phase() {
		return
	}
	if g.Run.Head != g.Pull.Head.SHA {
		g.no(HeadMoved, g.again(), "The plan was made for %s, and the head of the pull request is %s now.", sha(g.Run.Head), sha(g.Pull.Head.SHA))
	}
	g.seen()
	g.same()
	if g.Conflict {
		g.no(Conflicts, "Merge the base branch into this one, or rebase it: the push is planned.", "The base branch has moved, and %s conflicts with it.", sha(g.Pull.Head.SHA))
	}
	if len(g.Differ) > 0 {
		g.inputs()
	}
	if len(g.Modules) > 0 {
		g.no(ModulesMoved, g.again(), "The plan was made with other modules: the sources of these mean something else now, as those do that name no tag, commit or exact version: %s.", some(g.Modules))
	}
	if g.Outdated {
		g.no(EngineMoved, g.again(), "The plan was made by another version of Lockstep than the one that is to apply it.")
	}
	if l := g.Last; l != nil && l.Number != g.Pull.Number && !l.Settled {
		g.no(OtherUnmerged, fmt.Sprintf("Merge #%d, or close it to give it up, and bring its changes into this branch.", l.Number),
			"#%d was applied to the same state and is not merged yet: this apply would revert it.", l.Number)
	}
	if g.State != nil {
		g.state()
	}
}

// place says whether the state may be where the project has it.
func (g *gate) place() {
	p := g.Placing
	if p == nil {
		return
	}
	g.reasons = append(g.reasons, p.Reasons...)
	if g.Verb != comment.Apply || len(p.Reasons) > 0 {
		return
	}
	if p.Kind == RenamedPlace {
		g.no(PlaceRenamed, fmt.Sprintf("Merge the pull request first; then plan %s in another one, where there is something to do.", comment.Code(g.Run.Project)),
			"The state of %s is that of the project %s on the base branch.", comment.Code(g.Run.Project), comment.Code(p.Owner))
	}
	if was, is := g.Run.Place, p.Place.String(); was != "" && was != is {
		g.no(PlaceMoved, g.again(), "The plan was made for the state at %s, and now that of %s is at %s.", comment.Code(was), comment.Code(g.Run.Project), comment.Code(is))
	}
}

// occasion says whether this is when such plans are applied.
func (g *gate) occasion() {
	onMerge := g.Run.ApplyOn == project.OnMerge
	switch {
	case g.Entry == ByMerge && !g.Pull.Merged:
		g.no(NotMerged, "", "The pull request is not merged.")
	case g.Entry == ByMerge && !onMerge && g.Run.Phase != New:
		g.no(NotOnMerge, "", "The base branch does not say that merging applies %s.", comment.Code(g.Run.Project))
	case g.Entry == ByComment && !g.Pull.Open:
		g.no(NotOpen, "", "The pull request is not open any more.")
	case g.Entry == ByComment && onMerge:
		g.no(AppliedLater, "Merge the pull request: that applies the plan.", "The base branch says that %s is applied on merge.", comment.Code(g.Run.Project))
	}
}

// some lists names, but not too many.
func some(list []string) string {
	const most = 10
	var names []string
	for _, f := range list[:min(most, len(list))] {
		names = append(names, comment.Code(f))
	}
	if n := len(list) - most; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

// inputs names the files that moved.
func (g *gate) inputs() {
	where := "the base branch has moved, and merged into it these are"
	if g.Entry == ByMerge {
		where = "in the commit that this pull request became these are"
	}
	why := ""
	if g.Whole {
		why = fmt.Sprintf(" When it was planned, the base branch's %s let programs run, and these can read any file of the repository: so each one counts.", comment.Code(project.FileName))
	}
	g.no(InputsMoved, g.again(), "The plan was made from other files: %s different: %s.%s", where, some(g.ownFirst()), why)
}

// ownFirst lists the files that moved, those in the project's directory first: of the
// others there may be many.
func (g *gate) ownFirst() []string {
	own := func(name string) bool { return g.Run.Dir == "." || strings.HasPrefix(name, g.Run.Dir+"/") }
	return slices.SortedStableFunc(slices.Values(g.Differ), func(a, b string) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return -1
		}
		return 1
	})
}

// phase reports whether there is a plan to speak of.
func (g *gate) phase() bool {
	switch g.Run.Phase {
	case New, Dropped, Superseded:
		g.no(NotPlanned, g.again(), "There is no plan to apply.")
	case Queued, Planning:
		g.no(UnderWay, g.waiting(), "It is being planned.")
	case PlanFailed:
		g.no(PlanIsBad, g.correct(), "Planning %s failed.", sha(g.Run.Head))
	case ApplyQueued, Applying:
		g.no(UnderWay, "", "An apply, asked for by %s, is under way.", comment.Code(g.Run.Actor))
	case Applied:
		g.no(AlreadyDone, "", "The plan for %s is applied already, as %s asked.", sha(g.Run.Head), comment.Code(g.Run.Actor))
	case ApplyFailed:
		g.no(ApplyBroken, g.again(), "The apply of this plan failed: what is left to do has to be planned anew.")
	case Stale:
		g.no(StateMoved, g.again(), "The plan is out of date.")
	case Planned:
		if !g.Run.Applyable {
			g.no(NothingToDo, "", "The plan has no changes.")
			return false
		}
		return true
	}
	return false
}

// waiting and correct are what helps while there is no plan.
func (g *gate) waiting() string {
	if g.Entry == ByMerge {
		return g.again()
	}
	return "Look at the plan when it is there, and then apply it."
}

func (g *gate) correct() string {
	if g.Entry == ByMerge {
		return g.again()
	}
	return fmt.Sprintf("Push a correction; if the files are not at fault, comment %s.", comment.Code("lockstep plan"))
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
	g.no(StateMoved, g.again(), "The plan is stale, because the state has moved: %s.%s", why, by)
}

func sha(s string) string { return comment.Code(fmt.Sprintf("%.7s", s)) }
