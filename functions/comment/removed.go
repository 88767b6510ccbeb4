package comment

import (
	"fmt"
	"slices"
	"strings"
)

// removed returns the note on removed projects, with the commands that destroy their objects, for those that
// still have some.
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
		note += "\n\nTo manage these objects in another project, give it the state of the removed project: set the same key in its `backend` block."
	}
	if note == "" || len(all) == 0 {
		return note
	}
	names := strings.Join(all[:min(most, len(all))], ", ")
	if more := len(all) - most; more > 0 {
		names += fmt.Sprintf(" and the same for %d more", more)
	}
	how := fmt.Sprintf("comment %s", names)
	if len(all) > 1 {
		how = fmt.Sprintf("comment its command: %s", names)
	}
	return note + fmt.Sprintf("\n\nLockstep has planned to destroy the objects of %s, with the configuration of the base branch. To destroy them, %s. Without that, the objects stay.", plural(len(all) == 1, "the removed project", "each removed project"), how)
}
