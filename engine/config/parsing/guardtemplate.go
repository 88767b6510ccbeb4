package parsing

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A template is one of several parts, whose length counts.
type template struct {
	*hclsyntax.TemplateExpr
	literal int64 // bytes of the parts that are text
}

func guardTemplate(x *hclsyntax.TemplateExpr) hclsyntax.Expression {
	t := &template{TemplateExpr: x}
	grows := false
	for i, p := range x.Parts {
		x.Parts[i] = guard(p)
		if l, ok := p.(*hclsyntax.LiteralValueExpr); ok {
			t.literal += textBytes(l.Val)
		} else {
			grows = true
		}
	}
	if !grows {
		return x
	}
	return t
}

// Value implements hcl.Expression.
func (t *template) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	w := &writing{literal: t.literal}
	w.b, _ = of(ctx)
	e := *t.TemplateExpr
	e.Parts = make([]hclsyntax.Expression, len(t.Parts))
	parts := make([]part, len(t.Parts))
	for i, p := range t.Parts {
		if e.Parts[i] = p; isLiteral(p) {
			continue
		}
		parts[i] = part{p, w}
		e.Parts[i] = &parts[i]
	}
	v, ds := e.Value(ctx)
	if w.excess == nil && !ds.HasErrors() {
		var s budget.Size
		if s, w.excess = w.b.Measure(v); w.excess == nil {
			w.excess = w.b.Made(s)
		}
	}
	if w.excess != nil {
		return failed(w.b, w.excess.Of("The text of the template"), t.SrcRange)
	}
	return v, ds
}

func isLiteral(x hclsyntax.Expression) bool {
	_, ok := x.(*hclsyntax.LiteralValueExpr)
	return ok
}

// writing is one evaluation of a template.
type writing struct {
	b       *budget.Budget
	literal int64
	length  int64
	excess  *budget.Excess
}

// A part is a part of a template that has a value.
type part struct {
	hclsyntax.Expression
	w *writing
}

// Value implements hcl.Expression.
func (p *part) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if p.w.excess != nil {
		return cty.DynamicVal, nil
	}
	if p.w.excess = p.w.b.Step(1); p.w.excess != nil {
		return cty.DynamicVal, nil
	}
	v, ds := p.Expression.Value(ctx)
	if ds.HasErrors() {
		return v, ds
	}
	p.w.length += textBytes(v)
	if p.w.excess = p.w.b.CheckText(p.w.literal + p.w.length); p.w.excess != nil {
		return cty.DynamicVal, nil
	}
	return v, ds
}

// UnwrapExpression is for HCL's static analyses.
func (p *part) UnwrapExpression() hcl.Expression { return p.Expression }
