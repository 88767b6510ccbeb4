package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// TestRequireHasTheGrammar holds that the require block has the arguments of the table, by which
// editors complete it, and no others.
func TestRequireHasTheGrammar(t *testing.T) {
	t.Parallel()
	for _, b := range []grammar.Block{grammar.Require, grammar.Require.Inner[0]} {
		for _, a := range append(b.Args, grammar.Argument{Name: "nothing"}) {
			src := "require \"apply\" {\n  " + a.Name + " = null\n}\n"
			if b.Type != grammar.Require.Type {
				src = "require \"apply\" {\n  " + b.Type + " \"x\" {\n    " + a.Name + " = null\n  }\n}\n"
			}
			_, ds := Parse(FileName, []byte(src))
			if unknown := strings.Contains(fmt.Sprint(ds), "Unsupported argument"); unknown != (a.Name == "nothing") {
				t.Errorf("%s.%s: %v", b.Type, a.Name, ds)
			}
		}
	}
}
