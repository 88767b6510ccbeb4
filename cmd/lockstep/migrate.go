package main

import (
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// migrate copies the states of all workspaces from one backend to another, if
// there are any and the user wants it.
func (a *app) migrate(d *workdir.Dir, from, to statebackend.Backend, old, want *workdir.Settings, o *initFlags, v view) diags.Diagnostics {
	names, err := from.Workspaces(a.ctx)
	if err != nil {
		return diags.FromError("Error listing the workspaces of the former backend", err)
	}
	type pair struct{ from, to *workdir.State }
	var copies []pair
	for _, name := range names {
		src, ds := workdir.OpenState(from, name)
		if ds.HasErrors() {
			return ds
		}
		if ds := src.Read(a.ctx); ds.HasErrors() {
			return ds
		}
		if !src.Exists() || src.Current.IsEmpty() {
			continue
		}
		dst, ds := workdir.OpenState(to, name)
		if ds.HasErrors() {
			return ds
		}
		if ds := dst.Read(a.ctx); ds.HasErrors() {
			return ds
		}
		if dst.Exists() && !dst.Current.IsEmpty() && dst.Current.Lineage != src.Current.Lineage {
			return diags.Errorf(nil, "Both backends hold a state",
				"The workspace %q has a state in the former backend and another one in the new backend. Use -reconfigure to take the new backend with what it holds, or remove one of the two first.", name)
		}
		if dst.Exists() && dst.Current.Serial >= src.Current.Serial {
			continue
		}
		copies = append(copies, pair{src, dst})
	}
	if len(copies) == 0 {
		return nil
	}
	if !o.forceCopy && !(o.migrate && !o.input) {
		if !o.input {
			return diags.Errorf(nil, "Backend configuration changed",
				"A change in the backend configuration has been detected, and the former backend holds states. Use -migrate-state (with -force-copy, if nobody can be asked) to copy them, or -reconfigure to leave them where they are.")
		}
		v.say("\nDo you want to copy existing state to the new backend?\n  Enter \"yes\" to copy and \"no\" to start with what the new backend holds.\n\n  Enter a value: ")
		line, err := a.readLine()
		if err != nil || strings.TrimSpace(line) != "yes" {
			return nil
		}
	}
	for _, c := range copies {
		if ds := a.copyState(c.from.Current, c.to, o); ds.HasErrors() {
			return ds
		}
	}
	return nil
}

// copyState writes a state as it is into another backend, under its lock.
func (a *app) copyState(s *states.State, to *workdir.State, o *initFlags) diags.Diagnostics {
	if o.locks.lock {
		if ds := to.Lock(a.ctx, statebackend.NewLockInfo("init", version), o.locks.timeout); ds.HasErrors() {
			return ds
		}
	}
	err := to.Replace(a.ctx, s)
	ds := to.Unlock(a.ctx)
	if err != nil {
		ds = append(ds, diags.FromError("Error copying the state", err)...)
	}
	return ds
}
