package integrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// Hooks calls the hooks of a run: programs of a team, at the events for which the base branch names them. A
// pull request cannot add hooks. All hooks for an event are called at the same time, so the run waits only for
// the slowest one.
type Hooks struct {
	Facts *gatefacts.Reader
	// Call calls one hook. If it is nil, no hook can be called, and each hook counts as failed.
	Call jobs.HookFunc
}

// Run calls the hooks for an event, and returns their answers in the order of the hook blocks. s describes the
// event and the run; its field Hook is not set.
func (r Hooks) Run(ctx context.Context, s jobs.HookCall) ([]reasons.Hooked, error) {
	s.Run.Pull = r.Facts.Message.Pull // the record has the repository's name at the time of the plan
	all, err := gatefacts.Hooks(ctx, r.Facts, s.Event, s.Run)
	if !s.Event.Before() {
		absent, lost := gatefacts.Absent(ctx, r.Facts, err)
		if absent {
			return nil, nil // the base branch is deleted, and everything is done
		}
		err = lost
	}
	if err != nil {
		return nil, fmt.Errorf("read the hooks of %s: %w", s.Run.Project, err)
	}
	out, errs := make([]reasons.Hooked, len(all)), make([]error, len(all))
	var calls sync.WaitGroup
	for i, h := range all {
		s := s
		s.Hook = h
		if r.Call == nil {
			out[i] = reasons.Hooked{Hook: h.Name, Event: string(s.Event), Mistake: "hooks cannot be called here"}
			continue
		}
		calls.Go(func() { out[i], errs[i] = r.Call(ctx, s) })
	}
	calls.Wait()
	return out, errors.Join(errs...)
}

// HookRefusal returns a decision from the answers of the hooks before a plan or an apply. All hooks must allow
// it. again is the command that calls the hooks once more.
func HookRefusal(all []reasons.Hooked, again comment.Command) admission.Decision {
	against := slices.DeleteFunc(slices.Clone(all), func(h reasons.Hooked) bool { return !h.Against() })
	var d admission.Decision
	for _, h := range against {
		h.Again = again.String()
		d.Reasons = append(d.Reasons, h)
	}
	return d
}
