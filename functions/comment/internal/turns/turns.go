// Package turns lists the applies that come before another one in the queue of a state.
package turns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Turn is the apply of a pull request to a state.
type Turn struct {
	Number int
	By     string // login of the user who asked for it, "" for a merge
}

// most is the number of turns that a cell of a table has room for.
const most = 3

// List lists the applies ahead, for a text.
func List(all []Turn) string {
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

// Pulls lists the pull requests of the applies ahead, each once, for a title.
func Pulls(all []Turn) string {
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
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	text := names[len(names)-1]
	if len(names) > 1 {
		text = strings.Join(names[:len(names)-1], ", ") + " and " + text
	}
	return text
}
