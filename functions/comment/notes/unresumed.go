package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NotResumable is the report of an apply that cannot go on: it had come to its end, and nobody could
// write that down, or somebody else has recovered or written its state since.
func NotResumable() string {
	return "It cannot go on where it was: its journal is gone, because it had come to its end before that could be written down, or because the state was recovered or written by somebody else since."
}

// PlanGone is the report of an apply that cannot go on, because its saved plan is not there any
// more, or is another one.
func PlanGone() string {
	return fmt.Sprintf("The saved plan is not what was approved, or is gone, so the apply cannot go on. The state contains what was done: comment %s for a plan of the rest.", markdown.Code("lockstep plan"))
}
