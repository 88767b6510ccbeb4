package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Turn is the apply of another pull request to the same state.
type Turn struct {
	Number int
	By     string // login of the user who asked for it, "" for a merge
}

// maxTurns is the number of turns that a cell of the table has room for.
const maxTurns = 3

// behind returns the place of a queued apply: ": place 2 in the queue of this state, behind #12 (`bob`) and #15";
// "" for the first.
func (p ProjectStatus) behind() string {
	if len(p.Ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(": place %d in the queue of this state, behind %s", len(p.Ahead), turns(p.Ahead))
}

// turns lists the applies ahead.
func turns(all []Turn) string {
	var names []string
	for _, t := range all {
		name := fmt.Sprintf("#%d", t.Number)
		if t.By != "" {
			name += " (" + markdown.Code(t.By) + ")"
		}
		names = append(names, name)
	}
	return several(names)
}

// pulls lists the pull requests of the applies ahead, each once, for a title.
func pulls(all []Turn) string {
	var names []string
	for _, t := range all {
		if name := fmt.Sprintf("#%d", t.Number); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return several(names)
}

// several lists as many names as there is room for.
func several(names []string) string {
	if more := len(names) - maxTurns; more > 0 {
		names = append(slices.Clone(names[:maxTurns]), fmt.Sprintf("%d more", more))
	}
	text := names[len(names)-1]
	if len(names) > 1 {
		text = strings.Join(names[:len(names)-1], ", ") + " and " + text
	}
	return text
}
