package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// states adds the states of a pull request whose plans were not checked since the last apply, by
// their keys, to found. The list of open plans may be what is lost: each is put on it again. A plan of
// an earlier head stays planned while the present one conflicts with the base branch: nobody can apply
// it, so it is not checked.
func (j *Janitor) states(ctx context.Context, p pipeline.Pull, pull github.PullRequest, found map[string]runs.Run) error {
	ld := j.Pipeline.Ledger()
	all, err := ld.Runs(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !runs.Checkable(s.Run) && !s.Gone || s.Head != pull.Head.SHA {
			continue
		}
		last, err := ld.LastApply(ctx, s.Run)
		if err != nil {
			return err
		}
		now, err := ld.Applies(ctx, s.Run)
		if err != nil {
			return err
		}
		if !openplans.Due(s.Run, last) && !openplans.Outdated(s.Run, now) {
			continue
		}
		if err := ld.Open(ctx, s.Run, pull.Author); err != nil {
			return err
		}
		found[s.StateKey()] = s.Run
	}
	return nil
}

// recheck sends a message about each state, once in an hour.
func (j *Janitor) recheck(ctx context.Context, states map[string]runs.Run, now time.Time, f *Found) error {
	for _, key := range slices.Sorted(maps.Keys(states)) {
		r := states[key]
		m := openplans.Message(r)
		m.Pull, m.ID = r.Pull, fmt.Sprintf("%s-%s", m.Kind, r.Plain())
		if err := j.Pipeline.Queue.Send(ctx, m.Again(fmt.Sprint(now.Unix()/3600))); err != nil {
			return err
		}
		f.States++
	}
	return nil
}
