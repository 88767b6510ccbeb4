package report

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// askTimeout limits the time for asking for an update. The plan or the apply waits meanwhile.
const askTimeout = 5 * time.Second

// Updates asks for updates of what people read about one plan or apply in progress.
type Updates struct {
	Run runs.Run
	// Name distinguishes the plan or apply from others of the run, in names of messages.
	Name []any

	due time.Time // no earlier question is useful
}

// Ask sends a message to write the progress of the pull request, if that is due. Another process writes it, so the work
// never waits for GitHub. A failure does not matter: the next report of progress tries again, and the result is
// written in any case.
func (u *Updates) Ask(ctx context.Context, rp *Reporter, w ratelimits.Work, now time.Time) {
	if now.Before(u.due) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	pull := rp.Facts.Message.Pull
	extent, next, err := rp.Ledger.AskUpdate(ctx, pull, w, now)
	if u.due = next; err != nil {
		u.due = now.Add(time.Minute)
		return
	}
	if extent != "" {
		m := pipeline.Message{Kind: pipeline.SyncComments, Progress: string(extent), Target: u.Run.Target()}
		_ = pipeline.Send(ctx, rp.Queue, pull, m, append(append([]any{u.Run.MessageName()}, u.Name...), "progress", now.Unix())...)
	}
}

// unannounced is how soon the next update comes, if readers need not know of it.
const unannounced = time.Minute

// SyncProgress writes the progress of the applies and plans of the pull request, from the records: in the answers to
// the commands, and in the status comment and the check run of the run with the key asks, if the extent of the update
// includes these. It is called under the same conditions as [Reporter.Sync]. If an apply or a plan has ended meanwhile,
// its result is written.
//
// failed is an error that does not matter, because the next update or the result writes the same. After err,
// SyncProgress must be called once more: a check run may show an apply in progress that has ended.
func (rp *Reporter) SyncProgress(ctx context.Context, extent ratelimits.Extent, asks string) (failed, err error) {
	failed = rp.progress(ctx, extent)
	if extent != ratelimits.AndChecks {
		return failed, nil
	}
	r, err := rp.Ledger.Read(ctx, asks)
	if err == nil && failed == nil && inProgress(r.Run) {
		if failed = rp.checkProgress(ctx, r.Run); failed == nil {
			return nil, nil
		}
		r, err = rp.Ledger.Read(ctx, asks)
	}
	if err != nil || inProgress(r.Run) {
		return failed, err
	}
	// An earlier attempt may have died after it had written the check run, and before it found that the apply had
	// ended.
	return failed, rp.PutCheck(ctx, r.Run)
}

// inProgress reports whether a run is being planned or applied.
func inProgress(r runs.Run) bool {
	return r.Standing() == comment.Applying || r.Standing() == comment.Planning
}

// progress writes the comments for [Reporter.SyncProgress]: first the answers, because the status comment of many
// projects takes longer.
func (rp *Reporter) progress(ctx context.Context, extent ratelimits.Extent) error {
	if err := rp.syncAnswers(ctx); err != nil || extent == ratelimits.AnswerOnly {
		return err
	}
	if err := rp.Facts.Look(ctx); err != nil {
		return err
	}
	return rp.status(ctx)
}

// checkProgress writes the check run of an apply or a plan in progress.
func (rp *Reporter) checkProgress(ctx context.Context, r runs.Run) error {
	if !r.Spec.Shared.IsZero() {
		return nil // a shared check run shows no progress
	}
	p, err := rp.project(ctx, r, &gatefacts.OrderCache{Facts: rp.Facts})
	if err != nil {
		return err
	}
	return moveUp(ctx, rp, r, p)
}

// addOngoing adds the present progress of applies and plans to those replies in an answer that say that these are
// pending. Only the last of them says when the next update comes.
func addOngoing(ctx context.Context, rp *Reporter, a ledger.Answer, replies []comment.Reply) error {
	now, last := time.Now(), -1
	var shown comment.Ongoing
	for i, p := range a.Replies {
		r, err := madeBy(ctx, rp, p, replies[i])
		if err != nil {
			return err
		}
		o, err := rp.Ledger.Ongoing(ctx, r, now)
		if err != nil {
			return err
		}
		if !o.Began.IsZero() {
			replies[i], shown, last = comment.WithOngoing(replies[i], o), o, i
		}
	}
	if last < 0 {
		return nil
	}
	shown, err := withNext(ctx, rp, shown)
	replies[last] = comment.WithOngoing(replies[last], shown)
	return err
}

// withNext returns o with the time of the next update, if readers need to know of it.
func withNext(ctx context.Context, rp *Reporter, o comment.Ongoing) (comment.Ongoing, error) {
	next, unavailable, err := rp.Ledger.NextUpdate(ctx, rp.Facts.Message.Pull)
	if next.Sub(o.At) > unannounced {
		o.Next = next
	}
	o.NoNext = unavailable
	return o, err
}

// madeBy returns the run whose plan or apply a pending reply is about; the zero value if there is none.
func madeBy(ctx context.Context, rp *Reporter, p ledger.Reply, reply comment.Reply) (runs.Run, error) {
	pending, is := reply.(comment.Pending)
	if !is || pending.Verb != comment.Apply && pending.Verb != comment.Plan {
		return runs.Run{}, nil
	}
	id, named := strings.CutPrefix(p.ID, string(pending.Verb)+" ")
	i := strings.LastIndexByte(id, ' ')
	if !named || i < 0 {
		return runs.Run{}, nil
	}
	s, err := rp.Ledger.Read(ctx, rp.Facts.Message.Pull.Runs()+"/"+id[:i])
	number := s.Asked.Try
	if pending.Verb == comment.Plan {
		number = s.Asked.Attempt
	}
	if err != nil || strconv.Itoa(number) != id[i+1:] || (s.Standing() == comment.Planning) != (pending.Verb == comment.Plan) {
		return runs.Run{}, err
	}
	return s.Run, nil
}
