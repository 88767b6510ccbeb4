package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NotResumable is the report of an apply that cannot go on: it had come to its end, and nobody could
// write that down, or somebody else has recovered or written its state since.
func NotResumable() string {
	return "The apply cannot continue, because its journal is gone. Either it ended before its end was recorded, or somebody has recovered or written the state since."
}

// PlanGone is the report of an apply that cannot go on, because its saved plan is not there any
// more, or is another one.
func PlanGone() string {
	return fmt.Sprintf("The apply cannot continue, because the saved plan is gone or was replaced. The state contains the changes so far. Comment %s for a plan of the rest.", markdown.Code("lockstep plan"))
}
