package schema

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// CheckEphemeral returns an error for each attribute in v, a value of b's implied type, that is ephemeral
// although it is stored. Only write-only attributes may be ephemeral. The path is in Attribute; the caller
// adds address and place.
func (b *Block) CheckEphemeral(v cty.Value) diags.Diagnostics {
	if !marks.Any(v) {
		return nil
	}
	_, paths := marks.Paths(v, marks.Ephemeral)
	var out diags.Diagnostics
	for _, p := range paths {
		a := b.layout().attributeAt(p)
		if a != nil && a.WriteOnly {
			continue
		}
		why := "it is not a write-only attribute and must be persisted to state"
		if a == nil {
			why = "it is not an assignable attribute"
		}
		out = append(out, diags.Diagnostic{
			Severity: diags.Error,
			Summary:  "Invalid use of ephemeral value",
			Detail: fmt.Sprintf("Ephemeral values are not valid for %q, because %s.",
				strings.TrimPrefix(FormatPath(p), "."), why),
			Attribute: p,
		})
	}
	return out
}

// WithoutWriteOnly returns v, a value of b's implied type, with null in all write-only attributes. The result
// may be stored.
func (b *Block) WithoutWriteOnly(v cty.Value) cty.Value {
	l := b.layout()
	if !l.writeOnly {
		return v
	}
	return l.edit(v, func(f *field, v cty.Value) (cty.Value, bool) {
		if f.WriteOnly {
			return f.null, true
		}
		return v, !(f.object != nil && f.object.writeOnly)
	}, func(in *layout) bool { return in.writeOnly })
}

// AttributeAt returns the attribute at the path p, or the attribute that contains the value at p. It returns
// nil if p ends at a block or leads nowhere.
func (b *Block) AttributeAt(p cty.Path) *Attribute { return b.layout().attributeAt(p) }

func (l *layout) attributeAt(p cty.Path) *Attribute {
	for len(p) > 0 {
		step, ok := p[0].(cty.GetAttrStep)
		if !ok {
			return nil
		}
		p = p[1:]
		if f := l.field(step.Name); f != nil {
			if f.object == nil {
				return f.Attribute
			}
			rest := f.Nested.Nesting.skipKey(p)
			if len(rest) == 0 {
				return f.Attribute
			}
			l, p = f.object, rest
			continue
		}
		n := l.nest(step.Name)
		if n == nil {
			return nil
		}
		l, p = n.in, n.Nesting.skipKey(p)
	}
	return nil
}

// skipKey returns p without its first step, if that step selects one of several blocks or objects.
func (n Nesting) skipKey(p cty.Path) cty.Path {
	if n == NestingSingle || n == NestingGroup || len(p) == 0 {
		return p
	}
	return p[1:]
}

func (l *layout) field(name string) *field {
	for i := range l.attrs {
		if l.attrs[i].name == name {
			return &l.attrs[i]
		}
	}
	return nil
}

func (l *layout) nest(name string) *nest {
	for i := range l.blocks {
		if l.blocks[i].name == name {
			return &l.blocks[i]
		}
	}
	return nil
}
