package comment

import (
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestProblems holds that each kind of problem has words; a line for another program has its own.
func TestProblems(t *testing.T) {
	for _, k := range grammar.Kinds() {
		if problemWords[k] == nil && k != grammar.Foreign {
			t.Errorf("%q has no words", k)
		}
	}
	for k := range problemWords {
		if !slices.Contains(grammar.Kinds(), k) {
			t.Errorf("%q is no kind of problem", k)
		}
	}
}
