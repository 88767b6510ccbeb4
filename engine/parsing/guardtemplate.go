package parsing

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A template is a template of several parts. It checks the total length of its text.
type template struct {
	*hclsyntax.TemplateExpr
	literal int64 // bytes of the parts that are text
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (t *template) UnwrapExpression() hcl.Expression { return t.TemplateExpr }

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

// Value implements hcl.Expression. It evaluates the parts once, so that their lengths are known before the
// text is made. If all values are plain, it joins their texts. Otherwise HCL gets the values and makes the
// result.
func (t *template) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, _ := budgetOf(ctx)
	var few [8]result
	parts := few[:0]
	length, plain := t.literal, true
	for _, p := range t.Parts {
		r := result{}
		if l, ok := p.(*hclsyntax.LiteralValueExpr); ok {
			r.v = l.Val
		} else {
			excess := b.Step(1)
			if excess == nil {
				r.v, r.ds = p.Value(ctx)
				length += textBytes(r.v)
				excess = b.CheckText(length)
			}
			if excess != nil {
				return failed(b, excess.Of("The text of the template"), t.SrcRange)
			}
		}
		plain = plain && r.plain()
		parts = append(parts, r)
	}
	if !plain {
		v, ds := t.replay(ctx, parts)
		return t.counted(b, v, ds)
	}
	var text strings.Builder
	text.Grow(int(length))
	for _, r := range parts {
		text.WriteString(r.text())
	}
	return t.counted(b, cty.StringVal(text.String()), nil)
}

// counted returns the text v of a template with its diagnostics. It counts the text against the budget, and
// returns an error instead if the text is too long.
func (t *template) counted(b *budget.Budget, v cty.Value, ds hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	if ds.HasErrors() {
		return v, ds
	}
	s, excess := b.Measure(v)
	if excess == nil {
		excess = b.Made(s)
	}
	if excess != nil {
		return failed(b, excess.Of("The text of the template"), t.SrcRange)
	}
	return v, ds
}

// replay lets HCL make the text from parts that are already evaluated.
func (t *template) replay(ctx *hcl.EvalContext, parts []result) (cty.Value, hcl.Diagnostics) {
	e := *t.TemplateExpr
	e.Parts = make([]hclsyntax.Expression, len(parts))
	for i, p := range t.Parts {
		e.Parts[i] = &replayed{p, parts[i]}
	}
	return e.Value(ctx)
}

// A result is the value and the diagnostics of an evaluation.
type result struct {
	v  cty.Value
	ds hcl.Diagnostics
}

// plain reports whether a part is nothing but text: known, not null, without marks and diagnostics.
func (r result) plain() bool {
	return len(r.ds) == 0 && !r.v.IsMarked() && r.v.IsKnown() && !r.v.IsNull() && r.v.Type().IsPrimitiveType()
}

// text returns a plain part as text.
func (r result) text() string {
	if r.v.Type() == cty.String {
		return r.v.AsString()
	}
	v, err := convert.Convert(r.v, cty.String)
	if err != nil {
		panic("parsing: a " + r.v.Type().FriendlyName() + " cannot be written: " + err.Error())
	}
	return v.AsString()
}

// A replayed expression returns a result that was evaluated before.
type replayed struct {
	hclsyntax.Expression
	result result
}

// Value implements hcl.Expression. It returns the earlier result.
func (r *replayed) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return r.result.v, r.result.ds
}

// UnwrapExpression returns the original expression. HCL's static analyses call it.
func (r *replayed) UnwrapExpression() hcl.Expression { return r.Expression }
