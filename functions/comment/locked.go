package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Locked reports that a person keeps other pull requests from applying to the state of a project.
type Locked struct{ Project, Because string }

func (l Locked) markdown() string {
	return fmt.Sprintf("**Locked** %s: %s. Until %s here, the merge or the close of this pull request, no other one is applied to its state. Pushes do not lift it.",
		markdown.Code(l.Project), markdown.Code(l.Because), markdown.Code(Command{Verb: Unlock, Project: l.Project}.String()))
}

// Lifted reports that the lock of a person is lifted.
type Lifted struct {
	Project, By, Because string // of the lock
}

func (l Lifted) markdown() string {
	return fmt.Sprintf("**Unlocked** %s for other pull requests: %s had locked it (%s).", markdown.Code(l.Project), markdown.Code(l.By), markdown.Code(l.Because))
}

// unblocked is the remedy for a blocked plan.
func (p ProjectStatus) unblocked() string {
	switch {
	case p.Locked && p.ByMerge:
		return fmt.Sprintf("Merge this pull request once %s there has lifted the lock: that applies this plan.", markdown.Code("lockstep unlock"))
	case p.Locked:
		return fmt.Sprintf("Once %s there has lifted the lock, comment %s on this pull request.", markdown.Code("lockstep unlock"), p.command(Apply))
	}
	return fmt.Sprintf("Once nothing is in its way, comment %s on the pull request.", p.command(Plan))
}
