package changing

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// testStates stores the states of tests with real objects in files of the data directory, each with a journal,
// until the end of the test. If the process is killed, the files stay, and the next test reports which objects
// exist.
type testStates struct {
	op *opening.Operation

	mu   sync.Mutex
	open map[string]*operation.Operation // by key
}

func (t *testStates) dir() string { return filepath.Join(string(t.op.Dir.DataDir), "tests") }

// openState opens the file of a state. The file stays locked until the end of the command.
func (t *testStates) openState(ctx context.Context, name string) (*operation.Operation, diags.Diagnostics) {
	if err := os.MkdirAll(t.dir(), 0o755); err != nil {
		return nil, diags.FromError("The state of the test cannot be kept", err)
	}
	b, err := local.Open(nil, local.Options{Dir: t.dir(), StatePath: name, BackupPath: "-"})
	if err != nil {
		return nil, diags.FromError("The state of the test cannot be kept", err)
	}
	o := &operation.Operation{Language: t.op.Language, Journaled: true, Providers: t.op.Providers}
	return o, o.OpenState(ctx, b, statebackend.DefaultWorkspace, &operation.Lock{Operation: "OperationTypeApply"})
}

// apply implements [testruns.Input.Apply].
func (t *testStates) apply(ctx context.Context, key string, r engine.Run, plan *plans.Plan) (*states.State, diags.Diagnostics) {
	t.mu.Lock()
	o := t.open[key]
	t.mu.Unlock()
	if o == nil {
		opened, ds := t.openState(ctx, rand.Text()+".tfstate")
		if ds.HasErrors() {
			return plan.PriorState, ds
		}
		o = opened
		t.mu.Lock()
		t.open[key] = o
		t.mu.Unlock()
	}
	done, ds := o.Apply(ctx, r, plan, engine.ApplyOptions{SaveSoon: true})
	if done.Unsaved {
		ds = append(ds, diags.Errorf(nil, "The state of the test could not be kept", "The directory %s did not take the new state. If this process is killed now, nothing tells what the test has made.", t.dir())...)
	}
	return done.State, ds
}

// close unlocks all states and deletes their files. Objects that remain were reported before.
func (t *testStates) close() {
	for _, o := range t.open {
		o.Unlock(context.Background())
		o.Close()
		t.remove(o.State.Workspace)
	}
}

// remove removes the files of a state.
func (t *testStates) remove(w statebackend.Workspace) {
	files, _ := filepath.Glob(filepath.Join(t.dir(), "*"))
	name := filepath.Base(w.Place())
	for _, f := range files {
		if strings.Contains(filepath.Base(f), name) {
			os.RemoveAll(f)
		}
	}
}

// report returns warnings about states that killed tests have left. It moves each of these states to a file
// beside the module. States of running tests stay.
func (t *testStates) report(v cli.View) (ds diags.Diagnostics) {
	files, _ := filepath.Glob(filepath.Join(t.dir(), "*.tfstate"))
	for _, f := range files {
		o, more := t.openState(context.Background(), filepath.Base(f))
		if o == nil || o.State == nil || more.HasErrors() {
			continue
		}
		var lines []string
		for _, a := range leftIn(o.State.Current) {
			lines = append(lines, fmt.Sprintf("  - %s", a))
		}
		for _, x := range o.Recovery.Unresolved {
			lines = append(lines, fmt.Sprintf("  - %s, which may or may not exist: its creation had begun", x.Address))
		}
		o.Unlock(context.Background())
		if len(lines) > 0 {
			ds = append(ds, diags.Warningf(nil, "A killed test has left objects",
				"An earlier \"lockstep test\" was killed before it could destroy these objects. Destroy them by hand:\n%s", strings.Join(lines, "\n"))...)
			keepLeft(t.op.Dir.Path, o.State.Current, v)
		}
		t.remove(o.State.Workspace)
	}
	return ds
}

// leftIn returns the addresses of the managed objects of a state.
func leftIn(s *states.State) (out []string) {
	for abs, r := range s.Resources() {
		for k := range r.Instances {
			if abs.Resource.Mode == addrs.Managed {
				out = append(out, abs.Instance(k).String())
			}
		}
	}
	return out
}
