package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NotResumable returns the report of an apply that cannot continue because its journal no longer exists. There
// are two causes. The apply had ended, but its process died before it recorded the end. Or somebody has
// recovered or written the state since.
func NotResumable() string {
	return "The apply cannot continue, because its journal is gone. Either it ended before its end was recorded, or somebody has recovered or written the state since."
}

// PlanGone returns the report of an apply that cannot continue because its saved plan was deleted or replaced.
func PlanGone() string {
	return fmt.Sprintf("The apply cannot continue, because the saved plan is gone or was replaced. The state contains the changes so far. Comment %s for a plan of the rest.", markdown.Code("lockstep plan"))
}
