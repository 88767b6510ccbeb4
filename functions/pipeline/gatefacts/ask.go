package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Source reads one fact and stores it in the request to the gate.
type Source func(ctx context.Context, q *admission.Request) error

// Sources are functions that read facts, by fact.
type Sources map[admission.Fact]Source

// sources are the sources of facts that exist for every command. The remaining facts need the plan or a
// checkout, so only some callers of [Reader.Ask] can read them.
func (e *Reader) sources() Sources {
	return Sources{
		admission.BaseBranch:   e.readBaseBranch,
		admission.LastApply:    e.readLastApply,
		admission.MutualWait:   e.readMutualWait,
		admission.Reservation:  e.readReservation,
		admission.ShownAt:      e.readShownAt,
		admission.StateCopy:    e.readStateCopy,
		admission.UnseenApply:  e.readUnseenApply,
		admission.ApplyOrder:   e.readApplyOrder,
		admission.Requirements: e.require,
	}
}

func (e *Reader) readBaseBranch(ctx context.Context, q *admission.Request) (err error) {
	if q.BaseNamed, err = e.baseNamed(ctx); err == nil {
		q.Forks, err = forks(ctx, e, q.BaseNamed)
	}
	return err
}

func (e *Reader) readLastApply(ctx context.Context, q *admission.Request) (err error) {
	q.Last, err = e.LastApply(ctx, q.Run)
	return err
}

func (e *Reader) readMutualWait(ctx context.Context, q *admission.Request) (err error) {
	q.Mutual, err = Mutual(ctx, e, q.Last)
	return err
}

func (e *Reader) readReservation(ctx context.Context, q *admission.Request) (err error) {
	q.Reserved, err = e.Reserved(ctx, q.Run)
	return err
}

func (e *Reader) readShownAt(ctx context.Context, q *admission.Request) (err error) {
	q.Shown, err = e.Ledger.ShownAt(ctx, q.Run)
	return err
}

func (e *Reader) readStateCopy(ctx context.Context, q *admission.Request) (err error) {
	q.Copied, err = Copied(ctx, e, q.Run)
	return err
}

func (e *Reader) readUnseenApply(ctx context.Context, q *admission.Request) error {
	in, err := e.requirements(ctx)
	q.ApplyUnseen = err == nil && in.settings != nil && in.settings.ApplyUnseen
	return err
}

func (e *Reader) readApplyOrder(ctx context.Context, q *admission.Request) (err error) {
	q.Order, err = e.Ordered(ctx, q.Run)
	return err
}

// Request returns a request to the gate for the command in the message, without any facts.
func (e *Reader) Request(verb comment.Verb, r runs.Run) admission.Request {
	q := admission.Request{
		Command: admission.Command{Verb: verb, Entry: admission.ByComment, Actor: e.Message.Actor, Permission: e.permission, At: e.Message.At, Decided: verb == comment.Apply && e.Message.Kind == pipeline.ToApply},
		Pull:    e.Pull,
		Run:     r,
	}
	switch {
	case q.Actor == "":
		q.Entry = admission.ByPush
	case (verb == comment.Apply || verb == comment.Unlock) && (e.Message.Kind == pipeline.Closed || e.Message.Answer == ledger.MergeAnswer):
		q.Entry, q.At = admission.ByMerge, e.Pull.MergedAt
	}
	requiredOf(e, r, q.Entry == admission.ByMerge)
	return q
}

// Ask reads facts and asks the gate, until the gate has all facts to decide. It returns the request with these
// facts. own are sources of facts that only the caller has. To ask later with more facts, the caller passes the
// returned request.
func (e *Reader) Ask(ctx context.Context, q admission.Request, own Sources) (admission.Request, admission.Decision, error) {
	every := e.sources()
	source := func(f admission.Fact) Source {
		if s := own[f]; s != nil {
			return s
		}
		return every[f]
	}
	for {
		facts, d := admission.Needs(q, func(f admission.Fact) bool { return source(f) != nil })
		if len(facts) == 0 {
			return q, d, nil
		}
		for _, f := range facts {
			if err := source(f)(ctx, &q); err != nil {
				return q, admission.Decision{}, err
			}
			q.Read(f)
		}
	}
}

// Shown is the source of one fact for an apply: which plan Lockstep's check run shows on GitHub.
func (e *Reader) Shown() Sources { return Sources{admission.ShownPlan: e.CompareShown} }
