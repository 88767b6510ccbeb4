package project

// Waiting is the conclusion of a pull request's check while a plan must still be applied before the merge.
type Waiting string

const (
	WaitingPasses Waiting = "neutral"         // a rule that requires the check allows the merge
	WaitingFails  Waiting = "action_required" // a rule that requires the check blocks the merge until the plan is applied
)

// OnWaiting returns the argument `waiting` of the check block. s comes from the base branch, and may be nil.
func (s *Settings) OnWaiting() Waiting {
	if s == nil || s.Waiting == "" {
		return WaitingPasses
	}
	return s.Waiting
}
