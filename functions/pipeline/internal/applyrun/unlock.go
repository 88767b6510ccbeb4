package applyrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/locking"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Unlock releases the locks that people have taken on states for this pull request. It also releases the locks
// that earlier applies of the pull request have left.
func (un *Unlocker) Unlock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := un.Ledger.Runs(ctx, un.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(all)
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !s.SelectedBy(c) })
	if len(all) == 0 {
		// A person without the right to give the command learns nothing about the runs, not even that there are
		// none.
		_, d, err := un.Facts.Ask(ctx, un.Facts.Request(comment.Unlock, runs.Run{}), nil)
		if err != nil {
			no, err := gatefacts.FinalReply(c, "", err)
			return []comment.Reply{no}, err
		}
		if d.Allowed() {
			d = admission.Refusal(gatefacts.WhyNoneSelected(c, known, reasons.NothingToUnlock{}))
		}
		return []comment.Reply{gatefacts.Refused(c, "", d)}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		some, err := un.unlockOne(ctx, c, s.Run)
		if err != nil {
			return nil, fmt.Errorf("unlock %s: %w", s.Project, err)
		}
		replies = append(replies, some...)
	}
	return replies, nil
}

func (un *Unlocker) unlockOne(ctx context.Context, c comment.Command, r runs.Run) ([]comment.Reply, error) {
	x := stateAccess{un.Facts, un.Report, un.Audit, c}
	d, no, err := x.allowed(ctx, r)
	if err == nil && no != nil && only[reasons.BeingApplied](d) {
		no, err = un.unlockUnderWay(ctx, r, no)
	}
	if err == nil && no != nil && only[reasons.Required](d) {
		no, err = un.lockedElsewhere(ctx, c, r, no)
	}
	if err != nil || no != nil {
		return []comment.Reply{no}, err
	}
	// The step that can be repeated is made before the other. Releasing the engine's lock cannot be repeated,
	// and is reported once.
	lifter := locking.Lifter{Ledger: un.Ledger, Open: un.Open}
	v, err := lifter.Lift(ctx, r)
	if err != nil {
		return nil, err
	}
	have, err := un.Facts.Reserved(ctx, r)
	if err != nil {
		return nil, err
	}
	reply, err := x.do(ctx, r, func(j jobs.Job) (comment.Reply, error) {
		u, err := un.Engine.Unlock(ctx, j)
		return comment.Unlocked{Project: runs.Label(r), Locks: u.Locks, Others: u.Others, Elsewhere: have.Blocks(r.Pull.Number)}, err
	})
	if err != nil || v == nil {
		return []comment.Reply{reply}, err
	}
	if err := lifter.Finish(ctx, r, un.Facts.Message.ID); err != nil {
		return nil, err
	}
	lifted := comment.Lifted{Project: runs.Label(r), By: v.By, Because: v.Reason}
	if u, is := reply.(comment.Unlocked); is && u.Locks == 0 && len(u.Others) == 0 {
		return []comment.Reply{lifted}, nil
	}
	return []comment.Reply{lifted, reply}, nil
}

// lockedElsewhere returns the refusal of an unlock command whose requirements are not met. If a person has
// locked the state for another pull request, the refusal adds that this lock must be released there.
func (un *Unlocker) lockedElsewhere(ctx context.Context, c comment.Command, r runs.Run, refusal comment.Reply) (comment.Reply, error) {
	have, err := un.Facts.Reserved(ctx, r)
	if err != nil {
		return nil, err
	}
	other := have.Blocks(r.Pull.Number)
	no, is := refusal.(comment.Refused)
	if other == nil || !is {
		return refusal, nil
	}
	other.Locking = true // no plan is involved
	for i, why := range no.Reasons {
		if required, is := why.(reasons.Required); is {
			required.Elsewhere = true
			no.Reasons[i] = required
		}
	}
	no.Reasons = append(no.Reasons, *other)
	return no, nil
}

// unlockUnderWay releases a person's lock while an apply is in progress, because that lock does not belong to
// the apply. If there is no such lock, it returns the refusal.
func (un *Unlocker) unlockUnderWay(ctx context.Context, r runs.Run, refusal comment.Reply) (comment.Reply, error) {
	lifter := locking.Lifter{Ledger: un.Ledger, Open: un.Open}
	v, err := lifter.Lift(ctx, r)
	if err != nil || v == nil {
		return refusal, err
	}
	lifted := comment.Lifted{Project: runs.Label(r), By: v.By, Because: v.Reason, Applying: r.Asked.By}
	return lifted, lifter.Finish(ctx, r, un.Facts.Message.ID)
}
