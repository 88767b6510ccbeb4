package comment

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Behind tells of the applies before that of a plan, by the order of the settings.
type Behind struct {
	// On are the projects that are applied before, and are not yet. Left are those of them that nobody is about to apply, and
	// Again those of the latter that have to be planned again.
	On    []string `json:",omitempty"`
	Left  []string `json:",omitempty"`
	Again []string `json:",omitempty"`
	// OnMerge are those of Left that the merge applies, and no comment before it.
	OnMerge []string `json:",omitempty"`
	// Once is set if one of Left is applied after the merge, and nobody can apply it before.
	Once bool `json:",omitempty"`
	// Destroys is set if the plan destroys its project: On depend on it.
	Destroys bool `json:",omitempty"`
	// Cycle are projects that depend on each other, so that none of them can be applied.
	Cycle []string `json:",omitempty"`
}

// cell is the end of a table's cell; "" for a plan whose turn it is.
func (b *Behind) cell() string {
	switch {
	case b == nil:
		return ""
	case len(b.Cycle) > 0:
		return ", in a **cycle** of dependencies"
	case b.Destroys:
		return ", to be destroyed after " + someNames(b.On)
	}
	return ", after " + someNames(b.On)
}

// outOfTurn reports whether an apply of the plan alone is refused, because of the order.
func (b *Behind) outOfTurn() bool { return b != nil && (len(b.Left) > 0 || len(b.Cycle) > 0) }

// inCircle reports whether no command applies the plan, before the settings are changed. b may be nil.
func (b *Behind) inCircle() bool { return b != nil && len(b.Cycle) > 0 }

// afterFailed reports whether the plan comes after that of another project which has to be planned again.
func (b *Behind) afterFailed() bool { return b != nil && len(b.Again) > 0 }

// A behindPlan is one that comes after others.
type behindPlan struct {
	// Apply is the command for its apply, in Markdown.
	Apply string
	// Lacks is set if a requirement for its apply is not fulfilled, too.
	Lacks bool
	// OnMerge is set if the merge applies it, AfterMerge if a comment does after that, since another project comes before. Elsewhere is
	// set if it is told elsewhere how to apply it, Removed if it is of a removed project.
	OnMerge, AfterMerge, Elsewhere, Removed bool
}

// Text tells how the plan is applied.
func (b *Behind) Text(p behindPlan) string {
	if len(b.Cycle) > 0 {
		return reasons.List{reasons.InCycle{Projects: b.Cycle}}.Markdown()
	}
	one, held := len(b.On) == 1, ""
	if p.Lacks {
		held = ", and once its requirements are met"
	}
	text := fmt.Sprintf("This project is applied after %s, which it depends on%s.", someNames(b.On), held)
	if b.Destroys {
		text = fmt.Sprintf("This project can be destroyed only once the applies of %s, which %s on it, are done%s.", someNames(b.On), plural(one, "depends", "depend"), held)
	}
	again, left := b.Again, b.Left
	if p.OnMerge { // what the merge is to apply, too, and does not as it is planned
		again = union(b.Again, b.OnMerge)
		left = slices.DeleteFunc(slices.Clone(b.Left), func(n string) bool { return slices.Contains(b.OnMerge, n) })
	}
	first := "Comment"
	if len(again) > 0 {
		first = "Then comment"
		if len(again) == 1 {
			text += fmt.Sprintf(" First plan %s again: comment %s.", someNames(again), markdown.Code("lockstep plan -p "+again[0]))
		} else {
			text += fmt.Sprintf(" First plan %s again: comment %s for each.", someNames(again), markdown.Code("lockstep plan -p NAME"))
		}
	}
	switch {
	case b.Destroys && (p.AfterMerge || p.Removed && len(b.OnMerge) > 0):
		return text + " " + reasons.AfterMerge(b.OnMerge)
	case p.AfterMerge:
		return text + " " + reasons.AfterMerge(b.OnMerge) + " " + reasons.OrderFirst
	}
	applied := plural(one, "that project is", "those projects are")
	switch {
	case p.OnMerge && len(left) == 0:
		return text + " Then merge the pull request, which applies this plan."
	case p.OnMerge:
		return text + fmt.Sprintf(" Apply %s first. Then merge the pull request, which applies this plan.", someNames(left))
	case p.Elsewhere:
		return text
	case len(b.Left) == 0:
		return text + fmt.Sprintf(" The apply of %s in progress. To apply this plan then, comment %s on the pull request.", plural(one, "that project is", "those projects is"), p.Apply)
	case p.Removed:
		return text + fmt.Sprintf(" Once %s applied, comment %s on the pull request.", applied, p.Apply)
	}
	return text + fmt.Sprintf(" %s %s on the pull request to apply %s in that order. To apply this plan alone, once %s applied, comment %s.",
		first, markdown.Code("lockstep apply"), plural(one, "both", "all of them"), applied, p.Apply)
}

// union are the names of two lists, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// someNames lists names, the first of many.
func someNames(names []string) string { return reasons.SomeOf(names).Text() }

func plural(one bool, singular, plural string) string {
	if one {
		return singular
	}
	return plural
}

// afterMerge reports whether a plan that a comment applies comes after that of another project which the merge applies.
func (p ProjectStatus) afterMerge() bool {
	return p.Behind != nil && len(p.Behind.OnMerge) > 0 && !p.ByMerge && !p.Removed
}

// ownOrder reports whether such a plan waits for the merge, as the base branch lacked the order when it was made.
func (p ProjectStatus) ownOrder() bool {
	return p.Standing == Ready && p.afterMerge() && !p.Behind.Destroys
}

// onceMerged tells why nobody can apply a plan before the merge, and how what is merged is applied.
func (p ProjectStatus) onceMerged() string {
	if p.Owner == "" && p.Behind != nil {
		return reasons.OnceMerged("", p.Behind.On)
	}
	return reasons.OnceMerged(p.Owner, nil)
}

// inOrder tells how a plan is applied that comes after others.
func (p ProjectStatus) inOrder() string {
	return p.Behind.Text(behindPlan{
		Apply: p.command(Apply), Lacks: p.lacks(), OnMerge: p.Standing == OnMerge, AfterMerge: p.afterMerge(),
		Elsewhere: p.Standing == Renewed || p.Standing == Blocked, Removed: p.Removed,
	})
}
