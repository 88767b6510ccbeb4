package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A Backend is the place of the state.
type Backend struct {
	Type  string
	Body  hcl.Body
	Range hcl.Range

	// Evaluate returns the value of an argument that is not literal; nil if all are.
	Evaluate func(hcl.Expression) (cty.Value, hcl.Diagnostics)
}

// An Encryption is an encryption block, OpenTofu's: how states and plans are encrypted.
type Encryption struct {
	Body  hcl.Body
	Range hcl.Range
}

// A ProviderMeta is a provider_meta block: values that a module sends along with
// every request to a provider.
type ProviderMeta struct {
	LocalName string
	Body      hcl.Body
	Range     hcl.Range
}

// Value returns the value of one of the backend's arguments.
func (b *Backend) Value(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if b.Evaluate != nil && !IsLiteral(e) {
		return b.Evaluate(e)
	}
	return e.Value(nil)
}

// IsLiteral reports whether an expression has a value of its own.
func IsLiteral(e hcl.Expression) bool {
	if len(e.Variables()) > 0 {
		return false
	}
	_, ds := e.Value(nil)
	return !ds.HasErrors()
}
