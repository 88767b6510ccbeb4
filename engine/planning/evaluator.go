package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/eval"
)

// Evaluator returns an evaluator that knows what the state has, for expressions
// typed in by a person. ctx is that of all evaluations.
func Evaluator(ctx context.Context, in Input) *eval.Evaluator {
	p := newPlanner(ctx, in)
	p.valueOf = p.storedValue
	return p.s.Eval
}
