package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Turn is the apply of a pull request in the queue of applies to a state.
type Turn struct {
	Number int
	By     string // login of the user who asked for it, "" for a merge
}

// mostTurns is the maximum number of queued applies that a cell of a table names.
const mostTurns = 3

// turnList returns applies that are ahead in the queue as a text: "#12 (`alice`) and #15".
func turnList(all []Turn) string {
	var names []string
	for _, t := range all {
		name := fmt.Sprintf("#%d", t.Number)
		if t.By != "" {
			name += " (" + markdown.Code(t.By) + ")"
		}
		names = append(names, name)
	}
	return severalTurns(names)
}

// turnPulls returns the pull requests of applies that are ahead in the queue, each once, for a title: "#12
// and #15".
func turnPulls(all []Turn) string {
	var names []string
	for _, t := range all {
		if name := fmt.Sprintf("#%d", t.Number); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return severalTurns(names)
}

// severalTurns joins the first mostTurns names, and the number of the others: "#1, #2, #3 and 4 more".
func severalTurns(names []string) string {
	if more := len(names) - mostTurns; more > 0 {
		names = append(slices.Clone(names[:mostTurns]), fmt.Sprintf("%d more", more))
	}
	text := names[len(names)-1]
	if len(names) > 1 {
		text = strings.Join(names[:len(names)-1], ", ") + " and " + text
	}
	return text
}

// behind returns the place of a queued apply: " (3rd, behind #12 and #15)"; "" for the first.
func (p ProjectStatus) behind() string {
	if len(p.Ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, behind %s)", ordinal(len(p.Ahead)+1), turnPulls(p.Ahead))
}

// ordinal returns a place as a text: "1st", "2nd", "11th".
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// queues reports whether the pull request has queued applies that wait for applies of other pull requests. It
// returns false if any other apply of this pull request is queued or in progress.
func (s Status) queues() bool {
	here := func(p ProjectStatus) bool { return p.ranked() == Applying || p.ranked() == ApplyQueued }
	return len(s.ahead()) > 0 && !slices.ContainsFunc(s.Projects, here)
}

// ahead returns the applies of other pull requests that this pull request's queued applies wait for, each once.
func (s Status) ahead() (all []Turn) {
	for _, p := range s.Projects {
		for _, t := range p.Ahead {
			if p.ranked() == inLine && !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}
