package budget

import (
	"context"
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

type contextKey struct{}

// With returns a context that carries the budget b: from the caller that knows the process's memory to the
// code that starts the run.
func With(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// From returns the budget that [With] put into a context, or nil.
func From(ctx context.Context) *Budget {
	b, _ := ctx.Value(contextKey{}).(*Budget)
	return b
}

// name is the name of a budget among the variables of an evaluation. No expression can refer to it, and it is
// too different from other names to be suggested.
const name = "\x00the budget of this evaluation\x00"

var capsule = cty.Capsule("budget", reflect.TypeFor[Budget]())

// Put makes b the budget of evaluations that use these variables. An evaluation takes the budget from the
// innermost scope that has one. So put it into the outermost scope, or into a scope that has no budget yet.
func (b *Budget) Put(variables map[string]cty.Value) {
	if b != nil {
		variables[name] = cty.CapsuleVal(capsule, b)
	}
}

// Of returns the budget of evaluations in ctx, or nil.
func Of(ctx *hcl.EvalContext) *Budget {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[name]; ok {
			return v.EncapsulatedValue().(*Budget)
		}
	}
	return nil
}
