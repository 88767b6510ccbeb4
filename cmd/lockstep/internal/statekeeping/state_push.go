package statekeeping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

var StatePush = cli.Command{Name: "state push", Synopsis: "Replace the stored state with a state file", Run: func(a *cli.App, args []string) int {
	x := opening.Access{Lock: "state-push"}
	var force bool
	f := a.NewFlags("state push", "state push [OPTIONS] PATH")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.Locking(&x.Locks)
	f.BoolVar(&force, "force", false, "push even if the lineage differs or the stored state is newer")
	f.Bool("ignore-remote-version", false, "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.WrongArguments("name the file, or - for standard input: lockstep state push errored.tfstate", "state push takes exactly one state file")
	}
	next, ds, err := readState(a, f.Arg(0))
	if err != nil {
		return a.Usage("", "%s", err)
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	op, more := opening.Stored(a, x)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	if err := push(op, next, force); err != nil {
		op.Finish(ds)
		return a.Usage("", "the state is not pushed: %s", err)
	}
	return op.Finish(ds)
}}

// readState reads a state from a file or from standard input. The diagnostics are about decrypting the state.
func readState(a *cli.App, path string) (*states.State, diags.Diagnostics, error) {
	var data []byte
	var ds diags.Diagnostics
	var err error
	if path == "-" {
		data, err = io.ReadAll(a.In)
	} else {
		data, err = os.ReadFile(a.Path(path))
	}
	if err == nil && len(data) == 0 {
		err = errors.New("it is empty")
	}
	if encryption.IsEncrypted(data) {
		if data, ds = decrypted(a, data); ds.HasErrors() {
			return nil, ds, nil
		}
	}
	var s *states.State
	if err == nil {
		s, err = statefile.Read(data)
	}
	if err != nil {
		return nil, ds, fmt.Errorf("the state %s cannot be read: %s", path, cli.Reason(err))
	}
	return s, ds, nil
}

// decrypted returns the decrypted content of a state file, such as errored.tfstate.
func decrypted(a *cli.App, data []byte) ([]byte, diags.Diagnostics) {
	d, cfg, ds := a.Load()
	if ds.HasErrors() {
		return nil, ds
	}
	return d.DecryptState(a.Ctx, cfg, data)
}

// push stores the state next unchanged. It does nothing if the stored state is the same. It returns an error if
// [pushable] does, unless force is set.
func push(o *opening.Operation, next *states.State, force bool) error {
	stored := o.State.Current
	if o.State.Exists() && stored.Lineage == next.Lineage && stored.Serial == next.Serial && stored.SameContent(next) {
		return nil
	}
	if err := pushable(stored, next); err != nil && !force {
		return fmt.Errorf("%w (-force ignores this)", err)
	}
	return o.State.Replace(context.WithoutCancel(o.App.Ctx), next)
}

// pushable returns an error if the state next must not replace the state stored. The rules are those of
// `terraform state push`: for example, next must not be older.
func pushable(stored, next *states.State) error {
	switch {
	case stored.IsEmpty():
		return nil
	case stored.Lineage != "" && next.Lineage != "" && stored.Lineage != next.Lineage:
		return fmt.Errorf("the state of lineage %q cannot replace the unrelated state of lineage %q", next.Lineage, stored.Lineage)
	case next.Serial < stored.Serial:
		return fmt.Errorf("the state with serial %d cannot replace the newer state with serial %d", next.Serial, stored.Serial)
	case next.Serial == stored.Serial && !stored.SameContent(next):
		return errors.New("the stored state has the same serial, but another content")
	}
	return nil
}
