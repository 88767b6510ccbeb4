package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestBlocksOfEachCommand holds that the gate asks for what is required of each command that can have require blocks.
func TestBlocksOfEachCommand(t *testing.T) {
	t.Parallel()
	for _, v := range grammar.Gated() {
		var d Decision
		for _, on := range []subject{theRun, aPlan} {
			d.ask(&Request{Command: Command{Verb: v.Asked()}, Required: &rulings.Ruling{Outcome: rulings.Fails}, Run: runs.Run{Plan: runs.Plan{Content: &runs.Content{}}}}, on)
		}
		if !Has[reasons.Required](d) {
			t.Errorf("the gate asks nothing that is required of %s", v)
		}
	}
}

// TestBlocksOf holds which blocks count for a plan, by its options, whatever the command that asked for it.
func TestBlocksOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command string
		want    []string
	}{
		{"lockstep plan", []string{"plan"}},
		{"lockstep retry", []string{"plan", "retry"}},
		{"lockstep plan --failed", []string{"plan", "retry"}},
		{"lockstep drift", []string{"plan", "drift"}},
		{"lockstep plan -refresh-only", []string{"plan", "drift"}},
		{"lockstep taint a.b", []string{"plan", "taint"}},
		{"lockstep plan -replace=a.b", []string{"plan", "taint"}},
		{"lockstep untaint a.b", []string{"plan", "untaint"}},
		{"lockstep invoke action.a.b", []string{"plan", "invoke"}},
		{"lockstep plan -invoke=action.a.b", []string{"plan", "invoke"}},
		{"lockstep import a.b x", []string{"plan", "import"}},
		{"lockstep state mv a.b a.c", []string{"plan", "state mv"}},
		{"lockstep state rm a.b", []string{"plan", "state rm"}},
	} {
		c := grammar.Parse(test.command)[0].Command.AsPlan()
		if diff := cmp.Diff(test.want, BlocksOf(comment.Plan, runs.Run{Spec: runs.Spec{Options: c.Options}, Asked: runs.Asked{Retry: c.Failed}})); diff != "" {
			t.Errorf("%s: %s", test.command, diff)
		}
	}
	for _, verb := range []comment.Verb{comment.Apply, comment.Stop, comment.Recover, comment.Lock, comment.Unlock} {
		if diff := cmp.Diff([]string{string(verb)}, BlocksOf(verb, runs.Run{Asked: runs.Asked{Retry: true}})); diff != "" {
			t.Errorf("%s: %s", verb, diff)
		}
	}
}
