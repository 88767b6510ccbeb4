package comment

import (
	"fmt"
	"time"

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

// NothingToLock: the pull request touches no project at present.
type NothingToLock struct{}

func (NothingToLock) words() (text, remedy string) {
	return "This pull request touches no project whose state it could lock.", ""
}

// LockedByAnother: a person keeps the state for another pull request.
type LockedByAnother struct {
	Number      int // of the other pull request
	By, Because string
	Since       time.Time `json:",omitzero"`
	// Merged is set for an apply that a merge asks for: no comment repeats it.
	Merged bool `json:",omitempty"`
}

func (r LockedByAnother) words() (text, remedy string) {
	if r.Merged {
		return LockedFor(r), r.lifts() + " " + planAgain(true)
	}
	return LockedFor(r), r.lifts() + " The plan can be applied then, if it still fits."
}

// lifts is the remedy for the lock itself.
func (r LockedByAnother) lifts() string {
	return fmt.Sprintf("%s on #%d lifts the lock, and so does its merge or its close.", markdown.Code("lockstep unlock"), r.Number)
}

// LockedFor is the note about a person's lock on a project's state.
func LockedFor(r LockedByAnother) string {
	since := ""
	if !r.Since.IsZero() {
		since = ", since " + r.Since.UTC().Format("2 January 2006, 15:04 MST")
	}
	return fmt.Sprintf("%s has locked the state for #%d%s: %s.", markdown.Code(r.By), r.Number, since, markdown.Code(r.Because))
}

// unblocked is the remedy for a blocked plan.
func (p ProjectStatus) unblocked() string {
	switch {
	case p.Locked && p.ByMerge:
		return fmt.Sprintf("Merge this pull request once %s there has lifted the lock: that applies this plan.", markdown.Code("lockstep unlock"))
	case p.Locked:
		return fmt.Sprintf("Once %s there has lifted the lock, comment %s on this pull request.", markdown.Code("lockstep unlock"), markdown.Code("lockstep apply -p "+p.Name))
	}
	return fmt.Sprintf("Once nothing is in its way, comment %s on the pull request.", markdown.Code("lockstep plan -p "+p.Name))
}
