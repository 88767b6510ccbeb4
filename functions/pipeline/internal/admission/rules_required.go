package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// required holds that the requirements of the base branch's settings are fulfilled, as far as package
// gates has decided about them.
func required(q *Request) reasons.Reason {
	if q.Required == nil || q.Required.Outcome.Allows() {
		return nil
	}
	return reasons.Required{Verb: q.Verb, Tree: *q.Required, Merged: q.merged(), Later: q.later()}
}
