package testfiles

import (
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/funcs"
)

// A reader collects the diagnostics about one file. Its methods report problems instead of returning them, so
// that one pass finds all problems.
type reader struct {
	diags    hcl.Diagnostics
	registry string // the default one; see config.Content
}

func (r *reader) add(ds hcl.Diagnostics) { r.diags = append(r.diags, ds...) }

func (r *reader) errorf(at *hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, diags.HCLError(at, summary, detail, args...))
}

func (r *reader) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, ds := body.Content(schema)
	r.add(ds)
	return content
}

// once reports whether b is the first block of its type. If not, it adds an error. where is the enclosing
// block, for the message.
func (r *reader) once(seen map[string]hcl.Range, b *hcl.Block, where string) bool {
	old, again := seen[b.Type]
	if again {
		r.errorf(&b.DefRange, fmt.Sprintf("Multiple %q blocks", b.Type), "This %s has a %s block at %s already. Bring both together in one block.", where, b.Type, old)
		return false
	}
	seen[b.Type] = b.DefRange
	return true
}

// literal reads an argument without references into target. It reports whether the argument is present and
// valid.
func (r *reader) literal(a *hcl.Attribute, target any) bool {
	if a == nil {
		return false
	}
	ds := gohcl.DecodeExpression(a.Expr, nil, target)
	r.add(ds)
	return !ds.HasErrors()
}

// mockContext lets values of mocks and overrides call functions. They cannot refer to anything, and read no
// files.
var mockContext = sync.OnceValue(func() *hcl.EvalContext {
	return &hcl.EvalContext{Functions: funcs.Table(funcs.Scope{BaseDir: "/", Home: "/", Files: funcs.NoFiles{}, Budget: budget.Generous()})}
})

// object reads an argument that is an object without references. The result is cty.NilVal if the argument is
// absent or wrong. block is the type of the enclosing block, for messages.
func (r *reader) object(a *hcl.Attribute, block string) cty.Value {
	if a == nil {
		return cty.NilVal
	}
	v, ds := a.Expr.Value(mockContext())
	r.add(ds)
	switch {
	case ds.HasErrors():
		return cty.NilVal
	case v.IsNull() || !v.Type().IsObjectType():
		r.errorf(&a.Range, fmt.Sprintf("Invalid %s attribute", a.Name), "The argument %s of %s is an object, with a value for each attribute: { name = value, ... }.", a.Name, block)
		return cty.NilVal
	}
	return v
}

// variables reads a variables block. It returns the expression of each variable.
func (r *reader) variables(b *hcl.Block) map[string]hcl.Expression {
	attrs, ds := b.Body.JustAttributes()
	r.add(ds)
	out := make(map[string]hcl.Expression, len(attrs))
	for name, a := range attrs {
		out[name] = a.Expr
	}
	return out
}
