package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// requiredWords are the requirements for an apply that nobody has asked for yet, as a section of the
// status; "" if there are none.
func requiredWords(r *rulings.Ruling) string {
	if r == nil || len(r.Of) == 0 {
		return ""
	}
	return fmt.Sprintf("To be applied, the base branch's %s requires:\n\n%s", markdown.Code(reasons.SettingsFile), r.Markdown(0))
}
