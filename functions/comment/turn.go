package comment

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/internal/turns"
)

// A Turn is the apply of another pull request to the same state.
type Turn = turns.Turn

// behind returns the place of a queued apply: ": place 2 in the queue of this state, behind #12 (`bob`) and #15";
// "" for the first.
func (p ProjectStatus) behind() string {
	if len(p.Ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(": place %d in the queue of this state, behind %s", len(p.Ahead), turns.List(p.Ahead))
}

// queues reports whether all applies that are under way are queued behind those of other pull requests.
func (s Status) queues() bool {
	here := func(p ProjectStatus) bool { return p.ranked() == Applying || p.ranked() == ApplyQueued }
	return len(s.ahead()) > 0 && !slices.ContainsFunc(s.Projects, here)
}

// ahead are the applies of other pull requests that come before those that are queued behind some, each once.
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

// place is that of the applies that are queued, for the headline: the place of a single one, and the applies ahead.
func (s Status) place() string {
	text := "behind " + turns.List(s.ahead())
	if n, _, _ := s.count([]Standing{inLine}); n > 1 {
		return text
	}
	i := slices.IndexFunc(s.Projects, func(p ProjectStatus) bool { return p.ranked() == inLine })
	return fmt.Sprintf("place %d, %s", len(s.Projects[i].Ahead), text)
}
