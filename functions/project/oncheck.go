package project

// Waiting is the outcome of the check of a pull request while a plan waits for somebody who applies
// it before the merge.
type Waiting string

const (
	WaitingPasses Waiting = "neutral"         // a rule that requires the check lets it be merged
	WaitingFails  Waiting = "action_required" // such a rule holds it until the plan is applied
)

// OnWaiting returns the setting, where s comes from the base branch and may be nil.
func (s *Settings) OnWaiting() Waiting {
	if s == nil || s.Waiting == "" {
		return WaitingPasses
	}
	return s.Waiting
}
