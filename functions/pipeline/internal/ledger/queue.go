package ledger

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Queue returns the applies that wait for the state of a run, in their order.
func (ld Ledger) Queue(ctx context.Context, r runs.Run) ([]runs.Turn, error) {
	queue, over, err := turns(ctx, ld, r)
	return without(queue, over), err
}

// turns returns the applies in the record of the queue: those that wait, and those that no longer do (over).
func turns(ctx context.Context, ld Ledger, r runs.Run) (queue, over []runs.Turn, err error) {
	if queue, err = Get[[]runs.Turn](ctx, ld, r.QueueKey()); err != nil {
		return nil, nil, err
	}
	for _, t := range queue {
		target := t.Target
		if target == "" {
			target = r.Target()
		}
		s, err := ld.Read(ctx, t.Pull.Runs()+"/"+target)
		if err != nil {
			return nil, nil, err
		}
		if t.Over(s.Run) {
			over = append(over, t)
		}
	}
	return queue, over, nil
}

func without(queue, over []runs.Turn) []runs.Turn {
	return slices.DeleteFunc(slices.Clone(queue), func(t runs.Turn) bool { return slices.Contains(over, t) })
}

// Join adds the apply of a run to the end of its state's queue, unless it is already there. It also removes
// applies that no longer wait; nothing else does that.
func (ld Ledger) Join(ctx context.Context, r runs.Run) error {
	_, over, err := turns(ctx, ld, r)
	if err != nil {
		return err
	}
	return Edit(ctx, ld, r.QueueKey(), func(have *[]runs.Turn) *[]runs.Turn {
		var queue []runs.Turn
		if have != nil {
			queue = *have
		}
		next := runs.Join(without(queue, over), r.Turn())
		return &next
	})
}
