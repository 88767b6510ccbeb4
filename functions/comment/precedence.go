package comment

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Behind lists projects that must be applied before a plan. The reason is a dependency in the settings: the
// plan's project depends on these projects.
type Behind struct {
	// On are projects that must be applied first, and that are not applied yet. Left are those in On for which
	// no apply is accepted or in progress. Again are those in Left that need a new plan.
	On    []string `json:",omitempty"`
	Left  []string `json:",omitempty"`
	Again []string `json:",omitempty"`
	// OnMerge are those projects in Left that only the merge can apply.
	OnMerge []string `json:",omitempty"`
	// Once is set if a project in Left cannot be applied before the merge.
	Once bool `json:",omitempty"`
	// Destroys is set if the plan destroys its project. On then lists the projects that depend on this one:
	// they must be destroyed first.
	Destroys bool `json:",omitempty"`
	// Cycle are projects that depend on each other in a cycle. None of them can be applied.
	Cycle []string `json:",omitempty"`
}

// cell returns an addition to the plan's cell in a table: ", after `net`". It returns "" if no project must be
// applied before the plan.
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

// outOfTurn reports whether Lockstep refuses to apply the plan now, because other projects must be applied
// first or because of a cycle of dependencies.
func (b *Behind) outOfTurn() bool { return b != nil && (len(b.Left) > 0 || len(b.Cycle) > 0) }

// inCircle reports whether the plan cannot be applied at all, because its project is in a cycle of
// dependencies. b may be nil.
func (b *Behind) inCircle() bool { return b != nil && len(b.Cycle) > 0 }

// afterFailed reports whether the plan must be applied after a project that needs a new plan. b may be nil.
func (b *Behind) afterFailed() bool { return b != nil && len(b.Again) > 0 }

// A behindPlan is a plan that must be applied after other projects.
type behindPlan struct {
	// Apply is the command that applies the plan, in Markdown.
	Apply string
	// Lacks is set if the apply of the plan also needs a requirement that is not met.
	Lacks bool
	// How the plan can be applied:
	//   - OnMerge is set if the merge applies it.
	//   - AfterMerge is set if a comment applies it after the merge. The merge first applies a project that it
	//     depends on.
	//   - Elsewhere is set if another part of the text says how to apply it.
	//
	// Removed is set if the pull request removes the plan's project.
	OnMerge, AfterMerge, Elsewhere, Removed bool
}

// Text returns the advice on how to apply the plan.
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
	if p.OnMerge { // the merge has to apply these projects, too, but does not apply their present plans
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

// union returns the names of two lists, sorted, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// someNames returns a list of the first names, and how many more there are.
func someNames(names []string) string { return reasons.SomeOf(names).Text() }

func plural(one bool, singular, plural string) string {
	if one {
		return singular
	}
	return plural
}

// afterMerge reports whether the plan is applied by a comment, but only after the merge has applied another
// project.
func (p ProjectStatus) afterMerge() bool {
	return p.Behind != nil && len(p.Behind.OnMerge) > 0 && !p.ByMerge && !p.Removed
}

// ownOrder reports whether the plan is ready, but must wait for a project that only the merge applies, because
// this pull request adds the dependency: the base branch did not have it when the plan was made.
func (p ProjectStatus) ownOrder() bool {
	return p.Standing == Ready && p.afterMerge() && !p.Behind.Destroys
}

// onceMerged returns the reason why the plan can be applied only after the merge, and what to do after the
// merge.
func (p ProjectStatus) onceMerged() string {
	if p.Owner == "" && p.Behind != nil {
		return reasons.OnceMerged("", p.Behind.On)
	}
	return reasons.OnceMerged(p.Owner, nil)
}

// inOrder returns the advice on how to apply a plan that must be applied after other projects.
func (p ProjectStatus) inOrder() string {
	return p.Behind.Text(behindPlan{
		Apply: p.command(Apply), Lacks: p.lacks(), OnMerge: p.Standing == OnMerge, AfterMerge: p.afterMerge(),
		Elsewhere: p.Standing == Renewed || p.Standing == Blocked, Removed: p.Removed,
	})
}
