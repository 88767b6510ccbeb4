package reasons

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Awaits reports that other projects must be applied first. Their applies are already requested: they are
// queued, accepted or in progress.
type Awaits struct {
	Project string
	On      []string
	// Destroys is set if the plan destroys the project. On then lists projects that depend on it. Held is set
	// if the apply is also blocked by another reason, which must be resolved first.
	Destroys bool `json:",omitempty"`
	Held     bool `json:",omitempty"`
}

func (r Awaits) words() (text, remedy string) {
	apply, applies, those := "The apply", "is", "that apply"
	if len(r.On) > 1 {
		apply, applies, those = "The applies", "are", "those applies"
	}
	order := fmt.Sprintf("%s depends on %s.", markdown.Code(r.Project), markdown.List(r.On))
	if r.Destroys {
		order = fmt.Sprintf("%s can be destroyed only once %s, which %s on it, %s applied.", markdown.Code(r.Project), markdown.List(r.On), depend(r.On), is(r.On))
	}
	remedy = fmt.Sprintf("Wait for %s. Then comment %s.", those, markdown.Code("lockstep apply -p "+r.Project))
	if r.Held {
		remedy = fmt.Sprintf("Wait for %s, too.", those)
	}
	return fmt.Sprintf("%s %s of %s %s queued or in progress.", order, apply, markdown.List(r.On), applies), remedy
}

// OutOfOrder reports that the project depends on projects that are not applied, and for which nobody has
// requested an apply.
type OutOfOrder struct {
	Project string
	Left    []string
	// Again are those projects in Left that need a new plan. OnMerge are those in Left that only the merge can
	// apply.
	Again   []string `json:",omitempty"`
	OnMerge []string `json:",omitempty"`
	Merged  bool     `json:",omitempty"`
	// Once is set if a project in Left cannot be applied before the merge.
	Once bool `json:",omitempty"`
	// Later is set if the merge applies this project. The projects in Left must then be applied before the
	// merge.
	Later bool `json:",omitempty"`
	// Destroys is set if the plan destroys the project. Left then lists projects that depend on it, and that
	// must be destroyed first. Removed is set if the pull request removes the project. `lockstep apply` for all
	// projects does not include a removed project.
	Destroys bool `json:",omitempty"`
	Removed  bool `json:",omitempty"`
	// Held is set if the apply is also blocked by another reason. `lockstep apply` for all projects would then
	// not apply this project.
	Held bool `json:",omitempty"`
}

func (r OutOfOrder) words() (text, remedy string) {
	text = fmt.Sprintf("%s depends on %s, %s not applied.", markdown.Code(r.Project), markdown.List(r.Left), are(r.Left))
	if r.Destroys {
		text = fmt.Sprintf("%s can be destroyed only once %s, which %s on it, %s applied.", markdown.Code(r.Project), markdown.List(r.Left), depend(r.Left), is(r.Left))
	}
	if r.Once {
		text += fmt.Sprintf(" %s can be applied only after the merge.", markdown.List(r.Left))
	}
	apply := "lockstep apply"
	all := fmt.Sprintf(" To apply all in order, comment %s.", markdown.Code(apply))
	switch {
	case r.Removed || r.Later || r.Held:
		all = ""
	case len(r.Left) == 1:
		all = fmt.Sprintf(" To apply both in order, comment %s.", markdown.Code(apply))
	}
	switch {
	case r.Merged:
		return text, fmt.Sprintf("Comment %s for new plans of what was merged. Read them, then comment %s: it applies them in order.", markdown.Code("lockstep retry"), markdown.Code(apply))
	case r.Once:
		return text, onceMerged
	case len(r.OnMerge) > 0 && !r.Later && r.Destroys:
		return text, AfterMerge(r.OnMerge)
	case len(r.OnMerge) > 0 && !r.Later && !r.Removed:
		return text, fmt.Sprintf("%[1]s Choose one:\n\n- After the merge, comment %[2]s for a new plan, and apply it.\n- To apply %[3]s before the merge, remove its `depends_on` from this pull request.\n- To have the merge apply %[3]s, too, first merge the `depends_on` in a pull request of its own. Then comment `lockstep plan` here.",
			onlyOnMerge(r.OnMerge), markdown.Code("lockstep retry"), markdown.Code(r.Project))
	case len(r.OnMerge) == len(r.Left): // A merge applies these projects, but not their present plans.
		remedy = fmt.Sprintf("The present plan of %s is not confirmed or not complete, so the merge does not apply it. First comment %s, and read the result.", markdown.List(r.OnMerge), planOf(r.OnMerge))
		if r.Later {
			remedy += " Then merge: the merge applies all in order."
		}
		return text, remedy
	case len(r.Again) > 0:
		remedy = fmt.Sprintf("The plan of %s cannot be applied as it is. First comment %s, and read the result.", markdown.List(r.Again), planOf(r.Again))
		switch {
		case all != "":
			return text, fmt.Sprintf("%s Then comment %s: it applies all in order.", remedy, markdown.Code(apply))
		case len(r.Left) == 1:
			return text, fmt.Sprintf("%s Then comment %s.", remedy, markdown.Code(apply+" -p "+r.Left[0]))
		}
		return text, fmt.Sprintf("%s Then comment %s for each project, in order.", remedy, markdown.Code(apply+" -p NAME"))
	case len(r.Left) == 1:
		return text, fmt.Sprintf("First apply that project: comment %s.%s", markdown.Code(apply+" -p "+r.Left[0]), all)
	}
	return text, fmt.Sprintf("First apply those projects: comment %s for each.%s", markdown.Code(apply+" -p NAME"), all)
}

// planOf returns the command, in Markdown, that makes new plans of the projects in names.
func planOf(names []string) string {
	if len(names) == 1 {
		return markdown.Code("lockstep plan -p " + names[0])
	}
	return markdown.Code("lockstep plan -p NAME") + " for each"
}

// AfterMerge returns the advice for a project that must be applied after the projects in names, which only the
// merge can apply.
func AfterMerge(names []string) string {
	return fmt.Sprintf("%s After the merge, comment %s for a new plan, and apply it.", onlyOnMerge(names), markdown.Code("lockstep retry"))
}

func onlyOnMerge(names []string) string {
	return SomeOf(names).Text() + " applies on merge, and not before."
}

// OrderFirst is the advice for a pull request that itself adds the dependency between two projects. It says how
// the merge can apply both.
const OrderFirst = "Or, to have the merge apply this project, too, first merge the `depends_on` in a pull request of its own. Then comment `lockstep plan` here."

func depend(names []string) string {
	if len(names) == 1 {
		return "depends"
	}
	return "depend"
}

func is(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}

func has(names []string) string {
	if len(names) == 1 {
		return "has"
	}
	return "have"
}

func are(names []string) string {
	if len(names) == 1 {
		return "which is"
	}
	return "which are"
}

// InCycle reports that projects depend on each other in a cycle. Each project in the list depends on the next
// one; the last entry repeats the first. Dependencies in the settings of the base branch and in those of the
// head both count.
type InCycle struct{ Projects []string }

func (r InCycle) words() (text, remedy string) {
	var names []string
	for _, p := range r.Projects {
		names = append(names, markdown.Code(p))
	}
	return fmt.Sprintf("These projects depend on each other: %s. The `depends_on` of the base branch and of this pull request both count, and together they form a cycle.", strings.Join(names, " -> ")),
		fmt.Sprintf("First remove the old `depends_on` from %s on the base branch, in a pull request of its own. Or remove the new one from this pull request.", settings)
}
