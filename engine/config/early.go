package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
)

// Early returns the value of an expression of module m that is needed while modules are
// loaded; it is known and has no marks. Of m, and of those that call it, everything but
// the Children is there.
type Early func(m *Module, e hcl.Expression) (cty.Value, hcl.Diagnostics)

// An earlyCall has the arguments of a call that are not literal, nil for others.
type earlyCall struct {
	source, version hcl.Expression
	versioned       bool // there is a version argument
}

func (c *Call) evaluated() *earlyCall {
	if c.early == nil {
		c.early = &earlyCall{}
	}
	return c.early
}

// isLiteral reports whether an expression has a value of its own.
func isLiteral(e hcl.Expression) bool {
	if len(e.Variables()) > 0 {
		return false
	}
	_, ds := e.Value(nil)
	return !ds.HasErrors()
}

// evaluateCalls finds out the sources and versions of m's calls that are not literal.
// Modules that share their content may come by other values, so m gets one of its own.
func (l *loader) evaluateCalls(m *Module) {
	own := false
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		if m.Calls[name].early == nil {
			continue
		}
		if !own {
			content := *m.Content
			content.Calls = maps.Clone(content.Calls)
			m.Content, own = &content, true
		}
		call := *m.Calls[name]
		m.Calls[name] = &call
		l.diags = append(l.diags, l.evaluateCall(m, &call)...)
	}
}

func (l *loader) evaluateCall(m *Module, c *Call) hcl.Diagnostics {
	if e := c.early.version; e != nil {
		v, ds := l.in.Early(m, e)
		if ds.HasErrors() {
			return ds
		}
		if !v.IsNull() {
			text, more := constraintFromValue(v, "version", e.Range())
			if ds = append(ds, more...); ds.HasErrors() {
				return ds
			}
			c.Version = []VersionConstraint{text}
		}
	}
	e := c.early.source
	if e == nil {
		return nil
	}
	v, ds := l.in.Early(m, e)
	if ds.HasErrors() {
		return ds
	}
	if v.IsNull() {
		return append(ds, problem(&c.SourceRange, "Invalid module source address", "The source of module %q is null here: it needs an address.", c.Name))
	}
	ctx := &hcl.EvalContext{}
	if ds = append(ds, gohcl.DecodeExpression(hcl.StaticExpr(v, e.Range()), ctx, &c.Source)...); ds.HasErrors() {
		return ds
	}
	return append(ds, c.parseSource(c.early.versioned)...)
}

// evaluateBackend makes the arguments of the root module's backend known.
func (l *loader) evaluateBackend(root *Module) {
	if root.Backend != nil && l.in.Early != nil {
		root.Backend.early = func(e hcl.Expression) (cty.Value, hcl.Diagnostics) { return l.in.Early(root, e) }
	}
}

// Value returns the value of one of the backend's arguments.
func (b *Backend) Value(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if b.early != nil && !isLiteral(e) {
		return b.early(e)
	}
	return e.Value(nil)
}
