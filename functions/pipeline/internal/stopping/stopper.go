package stopping

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Stopper carries out commands that stop plans and applies.
type Stopper struct {
	Facts  *gatefacts.Reader
	Ledger ledger.Ledger
}

// Stop orders that all plans and applies in progress that a command selects must stop. If none is in progress,
// there is one reply for all projects.
func (st *Stopper) Stop(ctx context.Context, c comment.Command) ([]comment.Reply, error) {
	all, err := st.Ledger.Runs(ctx, st.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	known := slices.Clone(all)
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool {
		return s.Phase == runs.Dropped || s.Phase == runs.Superseded || !s.SelectedBy(c)
	})
	// A person without the right to give the command learns nothing about the runs, not even that there are
	// none.
	_, d, err := st.Facts.Ask(ctx, st.Facts.Request(comment.Stop, runs.Run{}), nil)
	if err != nil {
		no, err := gatefacts.FinalReply(c, c.Project, err)
		return []comment.Reply{no}, err
	}
	if !d.Allowed() {
		return []comment.Reply{gatefacts.Refused(c, c.Project, d)}, nil
	}
	var replies []comment.Reply
	for _, s := range all {
		_, d, err := st.Facts.Ask(ctx, st.Facts.Request(comment.Stop, s.Run), nil)
		if err != nil {
			no, err := gatefacts.FinalReply(c, s.Project, err)
			if err != nil {
				return nil, err
			}
			replies = append(replies, no)
			continue
		}
		if !d.Allowed() {
			replies = append(replies, gatefacts.Refused(c, s.Project, d))
			continue
		}
		order, err := st.Ledger.OrderStop(ctx, s.Run, st.Facts.Message.Actor)
		if err != nil {
			return nil, err
		}
		if order.Number > 0 {
			replies = append(replies, comment.Stopping{Project: runs.Label(s.Run), Verb: order.Verb, By: order.By, Queued: s.Phase == runs.ApplyQueued || s.Waiting()})
		}
	}
	if len(replies) == 0 {
		var no reasons.Reason = reasons.NothingToStop{}
		if len(all) == 0 {
			no = gatefacts.WhyNoneSelected(c, known, no)
		}
		replies = append(replies, gatefacts.Refused(c, c.Project, admission.Refusal(no)))
	}
	return replies, nil
}
