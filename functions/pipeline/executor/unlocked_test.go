package executor

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// busy is a backend whose state somebody writes while it is planned, a number of times.
type busy struct {
	*statebackendtest.Fake
	t      *testing.T
	writes int
}

func (b *busy) Open(name string) (statebackend.Workspace, error) {
	w, err := b.Fake.Open(name)
	return &busyWorkspace{w, b}, err
}

type busyWorkspace struct {
	statebackend.Workspace
	b *busy
}

// Get returns the state, and writes another one behind it.
func (w *busyWorkspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	before, err := w.Workspace.Get(ctx)
	if err != nil || w.b.writes == 0 {
		return before, err
	}
	w.b.writes--
	text, err := statefile.Write(states.Empty().With("lineage", uint64(100-w.b.writes)))
	if err == nil {
		_, err = w.Workspace.Put(ctx, text, before.Version)
	}
	return before, err
}

func (w *busyWorkspace) Lock(context.Context, statebackend.LockInfo) (string, error) {
	w.b.t.Error("a plan takes the lock")
	return "", statebackend.ErrNotLocked
}

// TestStateWrittenWhilePlanned holds that a plan is of the state that is there when it is shown: one
// that was overtaken is made again, and a state that never rests is said to be.
func TestStateWrittenWhilePlanned(t *testing.T) {
	t.Parallel()
	for writes, want := range map[int]string{0: "", 1: "", 2: "", 100: `The state of net was written each of the 3 times that it was planned`} {
		b := newBench(t, map[string]string{"net/main.tf": two})
		state := &busy{new(statebackendtest.Fake), t, writes}
		b.engine.Backend = func(context.Context, jobs.Job, *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			return state, nil
		}
		p := b.plan()
		if want != "" {
			if p.Plan != nil || !strings.Contains(flat(p.Report), want) {
				t.Errorf("%d writes: %+v", writes, p)
			}
			continue
		}
		w, err := state.Fake.Open("default")
		if err != nil {
			t.Fatal(err)
		}
		now, err := w.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Plan == nil || p.State.Version != string(now.Version) || p.Counts != (counting.Counts{Add: 2}) {
			t.Errorf("%d writes: the plan is of version %q, and %q is stored: %s", writes, p.State.Version, now.Version, p.Report)
		}
	}
}

// TestPlansSideBySide holds that twenty pull requests are planned on one state at once, also while
// an apply has it locked.
func TestPlansSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": two})
	w := b.workspace()
	if _, err := w.Lock(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1.0")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if p, err := b.engine.Plan(t.Context(), b.job); err != nil || p.Plan == nil {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	wg.Wait()
}
