package comment

import (
	"fmt"
	"slices"
	"strings"
)

// removed returns the note about the projects that the pull request removes. For each one that still has
// objects, it contains the command that destroys them.
func (s Status) removed() string {
	const most = 10
	var all []string
	for _, p := range s.Projects {
		if p.Removed && !p.Copied && !slices.Contains([]Standing{Awaiting, ApplyQueued, Applying, Applied, NoChanges, NotApplied, Closed, Superseded}, p.Standing) {
			all = append(all, p.command(Apply))
		}
	}
	note := strings.TrimSpace(s.Removed)
	if note != "" && !s.some(func(p ProjectStatus) bool { return p.Removed && p.Standing == Applied }) {
		note += "\n\nTo manage the objects of a removed project in another project, set the key of its state in the `backend` block of the other project."
	}
	if note == "" || len(all) == 0 {
		return note
	}
	names := strings.Join(all[:min(most, len(all))], ", ")
	if more := len(all) - most; more > 0 {
		names += fmt.Sprintf(" and the same for %d more", more)
	}
	how := plural(len(all) == 1, "comment", "comment the command of the project:")
	return note + fmt.Sprintf("\n\nTo destroy the objects of a removed project, %s %s. Otherwise, the objects stay. The plan for that uses the configuration of the base branch.", how, names)
}
