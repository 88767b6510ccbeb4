package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Turn is a pull request's apply, in the queue of applies to the same state.
type Turn struct {
	Number int
	By     string // login of the user who requested the apply, "" for a merge
}

// mostTurns is the maximum number of queued applies that one cell of a table lists.
const mostTurns = 3

// turnList returns a text that lists queued applies: "#12 (`alice`) and #15".
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

// turnPulls returns a text for a title that lists the pull requests of queued applies, each once: "#12 and
// #15".
func turnPulls(all []Turn) string {
	var names []string
	for _, t := range all {
		if name := fmt.Sprintf("#%d", t.Number); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return severalTurns(names)
}

// severalTurns joins names for a sentence. It writes only the first mostTurns names, and the number of the
// rest: "#1, #2, #3 and 4 more".
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

// behind returns the place of a queued apply in the queue, such as " (3rd, behind #12 and #15)". It returns ""
// for the first place.
func (p ProjectStatus) behind() string {
	if len(p.Ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, behind %s)", ordinal(len(p.Ahead)+1), turnPulls(p.Ahead))
}

// ordinal returns the ordinal number of n: "1st", "2nd", "11th".
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

// queues reports whether this pull request has queued applies, and each of them waits for applies of other
// pull requests. It returns false if another apply of this pull request is queued or in progress.
func (s Status) queues() bool {
	here := func(p ProjectStatus) bool { return p.ranked() == Applying || p.ranked() == ApplyQueued }
	return len(s.ahead()) > 0 && !slices.ContainsFunc(s.Projects, here)
}

// ahead returns the applies of other pull requests for which the queued applies of this pull request wait. Each
// is returned once.
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
