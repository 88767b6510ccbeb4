package funcs

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/internal/growth"
)

// Whoever adds a function says how large its result may be.
func TestEveryFunctionIsBounded(t *testing.T) {
	for _, s := range []Scope{{}, {ConsoleMode: true}} {
		for name := range Table(s) {
			if !growth.Known(strings.TrimPrefix(name, namespace)) {
				t.Errorf("%s has no bound: say in engine/internal/growth how large its result may be", name)
			}
		}
	}
}
