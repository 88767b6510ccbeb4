package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A standing is what the records say about an open pull request.
type standing struct {
	seen        ledger.Look
	open, waits bool       // there are open plans; one of the head waits for its apply
	applied     bool       // a project is applied at the head
	gone        []runs.Run // runs of the head whose projects the base branch has removed
}

// states adds to found, by the keys of their states, the runs whose plans were not checked since the last
// apply. It lists each such plan again, because the list of open plans may have lost it. It skips plans of
// earlier heads, which nobody can apply. The result s is what the records say about the pull request.
func (j *Janitor) states(ctx context.Context, p pipeline.Pull, pull github.PullRequest, found map[string]runs.Run) (s standing, err error) {
	ld := j.Pipeline.Ledger()
	if s.seen, err = ld.LastLook(ctx, p); err != nil {
		return s, err
	}
	all, err := ld.Runs(ctx, p)
	if err != nil {
		return s, err
	}
	for _, r := range all {
		s.open = s.open || r.Phase.Open()
		s.applied = s.applied || r.Phase == runs.Applied && r.Spec.Head == pull.Head.SHA
		s.waits = s.waits || r.Phase == runs.Planned && r.Plan.Applyable && r.Spec.Head == pull.Head.SHA
		if r.End.Fate == runs.Gone && r.Spec.Head == pull.Head.SHA {
			gone := r.Run
			gone.Pull = p
			s.gone = append(s.gone, gone)
		}
		if !runs.Checkable(r.Run) && r.End.Fate != runs.Gone || r.Spec.Head != pull.Head.SHA {
			continue
		}
		last, err := ld.LastApply(ctx, r.Run)
		if err != nil {
			return s, err
		}
		now, err := ld.Applies(ctx, r.Run)
		if err != nil {
			return s, err
		}
		if !openplans.Due(r.Run, last) && !openplans.ReadsOutdated(r.Run, now) {
			continue
		}
		if err := ld.ListPlan(ctx, r.Run, pull.Author); err != nil {
			return s, err
		}
		found[r.StateKey()] = r.Run
	}
	return s, nil
}

// recheck sends a message to check the open plans of each state, at most once an hour for each state.
func (j *Janitor) recheck(ctx context.Context, states map[string]runs.Run, now time.Time, f *Found) error {
	for _, key := range slices.Sorted(maps.Keys(states)) {
		r := states[key]
		m := openplans.Message(r)
		m.Pull, m.ID = r.Pull, fmt.Sprintf("%s-%s", m.Kind, r.MessageName())
		if err := j.Pipeline.Queue.Send(ctx, m.Resend(fmt.Sprint(now.Unix()/3600))); err != nil {
			return err
		}
		f.States++
	}
	return nil
}
