package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// required refuses if the requirements in lockstep.hcl on the base branch are not met. Package gatefacts sets
// q.Required, the decision about them.
func required(q *Request) reasons.Reason {
	if q.Required == nil || q.Required.Outcome.Allows() {
		return nil
	}
	return reasons.Required{Verb: q.Verb, Tree: *q.Required, Merged: q.merged(), Later: q.asksForMerge(), OnIssue: q.Pull.Issue != ""}
}
