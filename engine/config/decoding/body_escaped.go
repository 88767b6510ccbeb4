package decoding

import (
	"github.com/hashicorp/hcl/v2"
)

// An escaped body is a body together with the content of its block named _. That block has arguments whose
// names have another meaning in the body, such as a provider's own argument alias.
type escaped struct {
	hcl.Body
	parts []hcl.Body
}

// Parts returns the body and the body of its block named _, for callers without a schema.
func (b *escaped) Parts() []hcl.Body { return b.parts }

// escapedBody returns body together with the content of its block named _.
func escapedBody(body, inner hcl.Body) hcl.Body {
	parts := []hcl.Body{body, inner}
	return &escaped{hcl.MergeBodies(parts), parts}
}

// isEmptyBody reports whether a body has no arguments and blocks.
func isEmptyBody(b hcl.Body) bool {
	attrs, ds := b.JustAttributes()
	return len(attrs) == 0 && !ds.HasErrors()
}

// optionalSchema returns s with nothing required, for override files.
func optionalSchema(s *hcl.BodySchema) *hcl.BodySchema {
	out := &hcl.BodySchema{Blocks: s.Blocks, Attributes: make([]hcl.AttributeSchema, len(s.Attributes))}
	for i, a := range s.Attributes {
		out.Attributes[i] = hcl.AttributeSchema{Name: a.Name}
	}
	return out
}
