package funcs

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/budget/growth"
)

// Whoever adds a function says how large its result may be.
func TestEveryFunctionIsBounded(t *testing.T) {
	for _, s := range []Scope{{}, {ConsoleMode: true}} {
		for name := range Table(s) {
			if !growth.Known(strings.TrimPrefix(name, namespace)) {
				t.Errorf("%s has no bound: say in engine/budget/growth how large its result may be", name)
			}
		}
	}
}
