package comment

import (
	"fmt"
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
	for _, t := range all[:min(len(all), maxTurns)] {
		name := fmt.Sprintf("#%d", t.Number)
		if t.By != "" {
			name += " (" + markdown.Code(t.By) + ")"
		}
		names = append(names, name)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	text := names[len(names)-1]
	if len(names) > 1 {
		text = strings.Join(names[:len(names)-1], ", ") + " and " + text
	}
	return text
}
