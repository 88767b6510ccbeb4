package project

// Automerge is the setting by which Lockstep merges a pull request once all of its projects are applied.
type Automerge struct {
	Method       string // "merge", "squash" or "rebase"
	DeleteBranch bool   // delete the pull request's branch after the merge
}

// DefaultMethod is how Lockstep merges if the settings do not name a method.
const DefaultMethod = "merge"

// OnApplied returns the automerge setting. It returns nil if people merge, or if the settings could not be
// read. s comes from the base branch, and may be nil.
func (s *Settings) OnApplied() *Automerge {
	if s == nil || s.Unreadable {
		return nil
	}
	return s.Automerge
}
