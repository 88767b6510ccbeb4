package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/eval"
)

// Evaluator returns an evaluator in which resources have their stored values, for expressions typed in
// by a person.
func Evaluator(ctx context.Context, in Input) *eval.Evaluator {
	p := newPlanner(ctx, in)
	p.valueOf = p.storedValue
	return p.s.Eval
}
