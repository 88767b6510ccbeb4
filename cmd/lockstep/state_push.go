package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

var statePushCommand = command{name: "state push", synopsis: "Replace the stored state by a state file", run: func(a *app, args []string) int {
	x := access{lock: "state-push"}
	var force bool
	f := a.newFlags("state push", "state push [OPTIONS] PATH")
	f.vars(&varFlags{}) // the backend may need them
	f.locking(&x.locks)
	f.BoolVar(&force, "force", false, "even if the lineages differ, or the stored state is newer")
	f.Bool("ignore-remote-version", false, "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return a.usage("state push takes exactly one state file, or - for standard input")
	}
	next, err := a.readState(f.Arg(0))
	if err != nil {
		return a.usage("%s", err)
	}
	op, ds := a.stored(x)
	if ds.HasErrors() {
		return a.show(ds)
	}
	if err := op.push(next, force); err != nil {
		op.finish(ds)
		return a.usage("the state is not pushed: %s", err)
	}
	return op.finish(ds)
}}

// readState reads a state file that the user names, or standard input.
func (a *app) readState(path string) (*states.State, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(a.in)
	} else {
		data, err = os.ReadFile(a.path(path))
	}
	if err == nil && len(data) == 0 {
		err = errors.New("it is empty")
	}
	var s *states.State
	if err == nil {
		s, err = statefile.Read(data)
	}
	if err != nil {
		return nil, fmt.Errorf("the state %s cannot be read: %s", path, reason(err))
	}
	return s, nil
}

// push stores a state as it is.
func (o *operation) push(next *states.State, force bool) error {
	is := o.state.Current
	if o.state.Exists() && is.Lineage == next.Lineage && is.Serial == next.Serial && is.SameContent(next) {
		return nil
	}
	if err := pushable(is, next); err != nil && !force {
		return fmt.Errorf("%w (-force ignores this)", err)
	}
	return o.state.Replace(context.WithoutCancel(o.a.ctx), next)
}

// pushable says why a state should not take the place of the stored one. The rules
// are those of Terraform's state push.
func pushable(is, next *states.State) error {
	switch {
	case is.IsEmpty():
		return nil
	case is.Lineage != "" && next.Lineage != "" && is.Lineage != next.Lineage:
		return fmt.Errorf("the state of lineage %q cannot replace the unrelated state of lineage %q", next.Lineage, is.Lineage)
	case next.Serial < is.Serial:
		return fmt.Errorf("the state with serial %d cannot replace the newer state with serial %d", next.Serial, is.Serial)
	case next.Serial == is.Serial && !is.SameContent(next):
		return errors.New("the stored state has the same serial, but says something else")
	}
	return nil
}
