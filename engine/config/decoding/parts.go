package decoding

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
)

// Condition reads an assert block of a test, which has the shape of an assert block in a check.
func Condition(b *hcl.Block) (*config.Condition, hcl.Diagnostics) {
	var r reader
	return r.condition(b), r.diags
}

// PassedProviders reads the providers argument of a test's run block, which has the shape of a module call's.
func PassedProviders(e hcl.Expression) ([]config.PassedProvider, hcl.Diagnostics) {
	var r reader
	return r.passedProviders(e), r.diags
}

// Variable reads a variable block of a test file.
func Variable(b *hcl.Block) (*config.Variable, hcl.Diagnostics) {
	d := New(".", Options{})
	d.variable(b)
	return d.content.Variables[b.Labels[0]], d.diags
}
