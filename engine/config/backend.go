package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// A Backend is a backend block: where the state is stored.
type Backend struct {
	Type  string
	Body  hcl.Body
	Range hcl.Range

	// Evaluate returns the value of an argument that is not literal. It is nil if all arguments are literal.
	Evaluate func(hcl.Expression) (cty.Value, hcl.Diagnostics)
}

// An Encryption is OpenTofu's encryption block, which says how states and plans are encrypted.
type Encryption struct {
	Body  hcl.Body
	Range hcl.Range
}

// A ProviderMeta is a provider_meta block: values that a module sends to a provider with every request.
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

// IsLiteral reports whether an expression can be evaluated without variables and functions.
func IsLiteral(e hcl.Expression) bool {
	if len(e.Variables()) > 0 {
		return false
	}
	_, ds := e.Value(nil)
	return !ds.HasErrors()
}
