package admission

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/github"
)

// TestGeneral holds that a refusal which is about who asks, or about the pull request, is no project's, and that others are.
func TestGeneral(t *testing.T) {
	t.Parallel()
	mallory := Request{Command: Command{Verb: comment.Apply, Entry: ByComment, Actor: "mallory", Permission: github.ReadPermission}, Pull: github.PullRequest{Open: true}}
	for name, test := range map[string]struct {
		all  reasons.List
		want bool
	}{
		"none":              {},
		"of the gate":       {Decide(mallory).Reasons, true},
		"of a run":          {reasons.List{reasons.NoPlan{}}, false},
		"of a run, as well": {reasons.List{reasons.NoPermission{}, reasons.NoPlan{}}, false},
		"of a fork":         {reasons.List{reasons.ForkUnnamed{}}, true},
	} {
		if got := SameForAllProjects(test.all); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
