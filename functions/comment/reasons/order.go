package reasons

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Awaits: other projects, whose applies are under way or accepted, are applied first.
type Awaits struct {
	Project string
	On      []string
}

func (r Awaits) words() (text, remedy string) {
	return fmt.Sprintf("%s depends on %s, %s not applied yet.", markdown.Code(r.Project), markdown.List(r.On), are(r.On)),
		fmt.Sprintf("Comment %s: it is applied after that.", markdown.Code("lockstep apply -p "+r.Project))
}

// OutOfOrder: projects that this one depends on are not applied, and nobody is about to apply them.
type OutOfOrder struct {
	Project string
	Left    []string
	Merged  bool `json:",omitempty"`
}

func (r OutOfOrder) words() (text, remedy string) {
	text = fmt.Sprintf("%s depends on %s, %s not applied.", markdown.Code(r.Project), markdown.List(r.Left), are(r.Left))
	all := markdown.Code("lockstep apply")
	switch {
	case r.Merged:
		return text, planAgain(true)
	case len(r.Left) == 1:
		return text, fmt.Sprintf("Apply that first, with %s, or both in their order, with %s.", markdown.Code("lockstep apply -p "+r.Left[0]), all)
	}
	return text, fmt.Sprintf("Apply those first, each with %s, or all in their order, with %s.", markdown.Code("lockstep apply -p NAME"), all)
}

func are(names []string) string {
	if len(names) == 1 {
		return "which is"
	}
	return "which are"
}

// InCycle: the settings of the base branch and those of the head together have projects wait for each other:
// each for the next one, and the last one is the first again.
type InCycle struct{ Projects []string }

func (r InCycle) words() (text, remedy string) {
	var names []string
	for _, p := range r.Projects {
		names = append(names, markdown.Code(p))
	}
	return fmt.Sprintf("These projects depend on each other: %s. What the base branch says and what this pull request says count together; neither has such a circle by itself.", strings.Join(names, " -> ")),
		fmt.Sprintf("A depends_on of the base branch holds until the merge of its change. Change %s there first, in a pull request of its own, or take the new depends_on out of this one.", settings)
}
