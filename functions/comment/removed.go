package comment

import (
	"fmt"
	"slices"
	"strings"
)

// removed is the note on projects that are removed, with the commands that destroy the objects of those that still have
// some.
func (s Status) removed() string {
	const most = 10
	var all []string
	for _, p := range s.Projects {
		if p.Removed && !p.Copied && !slices.Contains([]Standing{Awaiting, ApplyQueued, Applying, Applied, NoChanges, NotApplied, Closed, Superseded}, p.Standing) {
			all = append(all, p.command(Apply))
		}
	}
	note := strings.TrimSpace(s.Removed)
	if note == "" || len(all) == 0 {
		return note
	}
	names := strings.Join(all[:min(most, len(all))], ", ")
	if more := len(all) - most; more > 0 {
		names += fmt.Sprintf(" and the same for %d more", more)
	}
	return note + fmt.Sprintf("\n\nLockstep has planned to destroy the objects of the removed projects, with the configuration of the base branch. To destroy them, comment %s. Without that, the objects stay.", names)
}
