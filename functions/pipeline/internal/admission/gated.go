package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// BlocksOf returns the names of commands. A request must meet the require blocks for these commands. For
// example, a plan that repeats a failed one must meet the blocks for "plan" and for "retry".
func BlocksOf(verb comment.Verb, r runs.Run) []string {
	var out []string
	for _, v := range grammar.Gated() {
		if v.Asked() == verb && v.Means(r.Spec.Options, r.Asked.Retry) {
			out = append(out, string(v))
		}
	}
	return out
}
