package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Source reads one fact into a request.
type Source func(ctx context.Context, q *admission.Request) error

// Sources are the sources of facts.
type Sources map[admission.Fact]Source

// sources are the sources that every command has. The other facts need the plan or a checkout: only some
// callers of [Reader.Ask] can read them.
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

// Request returns a request for the command of the message, before any fact is read.
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

// Ask reads the facts that the gate needs for a request, until the gate can decide. It returns the request with
// these facts. own are the facts that only the caller can read. A caller that wants to ask with more facts
// later passes the returned request again.
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

// Shown is the source of the plan in our check run on GitHub, for an apply.
func (e *Reader) Shown() Sources { return Sources{admission.ShownPlan: e.CompareShown} }
