package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// BlocksOf returns the commands whose require blocks a request has to meet. They are the commands that ask for
// the same thing, even under another name.
func BlocksOf(verb comment.Verb, r runs.Run) []string {
	var out []string
	for _, v := range grammar.Gated() {
		if v.Asked() == verb && v.Means(r.Spec.Options, r.Asked.Retry) {
			out = append(out, string(v))
		}
	}
	return out
}
