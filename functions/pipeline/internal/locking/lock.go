package locking

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Locker carries out commands that lock states.
type Locker struct {
	Facts  *gatefacts.Reader
	Ledger ledger.Ledger
	Open   openplans.Finder
	Audit  audit.Trail
}

// Lock reserves the states of all projects that a command selects, or none of them, for the pull request. It
// can be repeated. A later lock of the same pull request replaces the earlier one.
func (lo *Locker) Lock(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	// A person without the right to give the command learns nothing about the runs, not even that there are
	// none.
	_, d, err := lo.Facts.Ask(ctx, lo.Facts.Request(comment.Lock, runs.Run{}), nil)
	if err != nil {
		no, err := gatefacts.FinalReply(c, c.Project, err)
		return []comment.Reply{no}, err
	}
	if !d.Allowed() {
		return []comment.Reply{gatefacts.Refused(c, c.Project, d)}, nil
	}
	all, err := lo.Ledger.Runs(ctx, lo.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(all)
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.SelectedBy(c)
	})
	if len(all) == 0 {
		return []comment.Reply{gatefacts.Refused(c, "", admission.Refusal(gatefacts.WhyNoneSelected(c, known, reasons.NothingToLock{})))}, nil
	}
	if replies, err := lo.mayLock(ctx, c, all); err != nil || replies != nil {
		return replies, err
	}
	for _, s := range all {
		if err := lo.Audit.Command(ctx, lo.Facts.Message, s.Run, audit.LockAllowed, c.Reason); err != nil {
			no, err := gatefacts.NotRecorded(c, runs.Label(s.Run), err)
			return []comment.Reply{no}, err
		}
	}
	conflict, no, err := lo.take(ctx, c, all)
	if err != nil {
		return nil, err
	}
	if no != nil { // it came in between
		refused := map[string]comment.Reply{conflict: gatefacts.Refused(c, conflict, admission.Refusal(*no))}
		return withOthers(c, all, refused), nil
	}
	var replies []comment.Reply
	for _, s := range all {
		if err := lo.Open.ShowAgain(ctx, s.Run, "locked", messagePart(lo.Facts.Message.ID)); err != nil {
			return nil, err
		}
		replies = append(replies, comment.Locked{Project: s.Project, Because: c.Reason, Workspace: runs.Status(s.Run).Workspace})
	}
	return replies, nil
}

// mayLock asks the gate about all runs that a command selects. It returns nil if all may be locked. Otherwise
// it returns a refusal for each of the runs: either all states are locked, or none.
func (lo *Locker) mayLock(ctx context.Context, c comment.Command, all []ledger.Versioned) ([]comment.Reply, error) {
	refused := map[string]comment.Reply{}
	for _, s := range all {
		_, d, err := lo.Facts.Ask(ctx, lo.Facts.Request(comment.Lock, s.Run), nil)
		if err != nil {
			no, err := gatefacts.FinalReply(c, runs.Label(s.Run), err)
			if err != nil {
				return nil, err
			}
			refused[runs.Label(s.Run)] = no
			continue
		}
		if !d.Allowed() {
			refused[runs.Label(s.Run)] = gatefacts.Refused(c, runs.Label(s.Run), d)
		}
	}
	if len(refused) == 0 {
		return nil, nil
	}
	return withOthers(c, all, refused), nil
}

// withOthers returns a refusal for each run in all. refused has the replies about the runs that the gate
// refuses, by label. The remaining runs are refused because of these.
func withOthers(c comment.Command, all []ledger.Versioned, refused map[string]comment.Reply) []comment.Reply {
	var replies []comment.Reply
	why := reasons.SetNotLocked{Projects: slices.Sorted(maps.Keys(refused))}
	for _, s := range all {
		no, is := refused[runs.Label(s.Run)]
		if !is {
			no = gatefacts.Refused(c, runs.Label(s.Run), admission.Refusal(why))
		}
		replies = append(replies, no)
	}
	return replies
}

// take locks the states of all runs, in their order, or none of them. If another pull request locks one of them
// first, take releases the locks that it has taken for this message. States that this pull request has already
// locked come last: nobody else can lock them, so their locks stay unchanged. conflict is the label of the
// project whose state could not be locked.
func (lo *Locker) take(ctx context.Context, c comment.Command, all []ledger.Versioned) (conflict string, no *reasons.LockedByAnother, err error) {
	m := lo.Facts.Message
	var fresh, had []runs.Run
	for _, s := range all {
		v, err := lo.Ledger.Reservation(ctx, s.Run)
		if err != nil {
			return "", nil, err
		}
		if v != nil && !v.Lifted && v.Number == s.Pull.Number && v.For != m.ID {
			had = append(had, s.Run)
		} else {
			fresh = append(fresh, s.Run)
		}
	}
	for _, r := range slices.Concat(fresh, had) {
		have, err := lo.Ledger.Reserve(ctx, r, runs.Reservation{Number: r.Pull.Number, By: m.Actor, Reason: c.Reason, At: m.At, For: m.ID})
		if err != nil {
			return "", nil, err
		}
		if no := have.Blocks(r.Pull.Number); no != nil {
			no.Locking = true
			return runs.Label(r), no, lo.giveBack(ctx, fresh)
		}
	}
	return "", nil, nil
}

// giveBack releases the locks that were taken for this message. It can be repeated.
func (lo *Locker) giveBack(ctx context.Context, taken []runs.Run) error {
	lifter := Lifter{Ledger: lo.Ledger, Open: lo.Open}
	for _, r := range taken {
		v, err := lo.Ledger.Reservation(ctx, r)
		if err != nil {
			return err
		}
		if v == nil || v.Number != r.Pull.Number || v.For != lo.Facts.Message.ID {
			continue
		}
		if _, err := lifter.Lift(ctx, r); err != nil {
			return err
		}
		if err := lifter.Finish(ctx, r, lo.Facts.Message.ID); err != nil {
			return err
		}
	}
	return nil
}
