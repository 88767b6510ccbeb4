package loading

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// evaluateCalls evaluates those sources and versions of m's calls that are not literal. m gets its own
// Content for that, since other modules with the same Content may have other values.
func (l *loader) evaluateCalls(m *config.Module) {
	own := false
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		if m.Calls[name].Computed == nil {
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

func (l *loader) evaluateCall(m *config.Module, c *config.Call) hcl.Diagnostics {
	if e := c.Computed.Version; e != nil {
		v, ds := l.in.Early(m, e)
		if ds.HasErrors() {
			return ds
		}
		if !v.IsNull() {
			text, more := config.NewVersionConstraint(v, "version", e.Range())
			if ds = append(ds, more...); ds.HasErrors() {
				return ds
			}
			c.Version = []config.VersionConstraint{text}
		}
	}
	e := c.Computed.Source
	if e == nil {
		return nil
	}
	v, ds := l.in.Early(m, e)
	if ds.HasErrors() {
		return ds
	}
	if v.IsNull() {
		return append(ds, diags.HCLError(&c.SourceRange, "Invalid module source address", "The source of module %q is null here: it needs an address.", c.Name))
	}
	ctx := &hcl.EvalContext{}
	if ds = append(ds, gohcl.DecodeExpression(hcl.StaticExpr(v, e.Range()), ctx, &c.Source)...); ds.HasErrors() {
		return ds
	}
	return append(ds, c.ParseSource(c.Computed.Versioned, m.Registry)...)
}

// evaluateConst checks the arguments that a module call passes to const variables. It reports an argument
// that is not known before there is a plan.
func (l *loader) evaluateConst(m, child *config.Module) {
	if l.in.Early == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(child.Call.Args)) {
		if v := child.Variables[name]; v != nil && v.Const {
			_, ds := l.in.Early(m, child.Call.Args[name].Expr)
			l.diags = append(l.diags, ds...)
		}
	}
}

// evaluateBackend makes it possible to evaluate the arguments of the root module's backend.
func (l *loader) evaluateBackend(root *config.Module) {
	if root.Backend != nil && l.in.Early != nil {
		root.Backend.Evaluate = func(e hcl.Expression) (cty.Value, hcl.Diagnostics) { return l.in.Early(root, e) }
	}
}
