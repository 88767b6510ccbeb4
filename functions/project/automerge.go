package project

// Automerge is the merge of a pull request by Lockstep once all of its projects are applied.
type Automerge struct {
	Method       string // "merge", "squash" or "rebase"
	DeleteBranch bool   // of the pull request, after the merge
}

// DefaultMethod is the way to merge where the settings name none.
const DefaultMethod = "merge"

// OnApplied returns the setting, where s comes from the base branch and may be nil; nil if people merge. A
// file with errors merges nothing.
func (s *Settings) OnApplied() *Automerge {
	if s == nil || s.Unreadable {
		return nil
	}
	return s.Automerge
}
