package statekeeping

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// workspaces are an open backend and the names of its workspaces.
type workspaces struct {
	*opening.Operation
	backend statebackend.Backend
	names   []string
}

// openWorkspaces opens the backend and lists its workspaces.
func openWorkspaces(a *cli.App) (workspaces, diags.Diagnostics) {
	o := workspaces{Operation: opening.New(a)}
	var ds diags.Diagnostics
	if o.backend, ds = o.OpenBackend(opening.Access{}); ds.HasErrors() {
		return o, ds
	}
	var err error
	o.names, err = o.backend.Workspaces(a.Ctx)
	return o, append(ds, diags.FromError("Error listing the workspaces", err)...)
}

func (o workspaces) has(name string) bool { return slices.Contains(o.names, name) }

// create creates a workspace and selects it. first is the state to store in the workspace; nil means an empty
// one.
func (o workspaces) create(name string, locks cli.LockFlags, first *states.State) diags.Diagnostics {
	ds := o.occupy(name, locks, first)
	if ds.HasErrors() {
		return ds
	}
	if err := o.Dir.SelectWorkspace(name); err != nil {
		return append(ds, diags.FromError("The selection cannot be recorded", err)...)
	}
	fmt.Fprintf(o.App.Out, "Created and switched to workspace %q!\n", name)
	if first == nil {
		fmt.Fprintln(o.App.Out, "\nYou're now on a new, empty workspace. Each workspace has a state of its own:\n\"lockstep plan\" does not see the objects of the others.")
	}
	return ds
}

// occupy creates a workspace. In the local backend, an empty workspace is a directory. In other backends it is
// a stored state. first is the state to store; nil means an empty one.
func (o workspaces) occupy(name string, locks cli.LockFlags, first *states.State) diags.Diagnostics {
	if first == nil && o.Settings.Type == "local" {
		o.Workspace = name
		err := os.MkdirAll(filepath.Dir(o.App.Path(o.LocalPath())), 0o755)
		return diags.FromError("Error creating the workspace", err)
	}
	ds := o.OpenState(o.App.Ctx, o.backend, name, opening.Lock(locks, "workspace-new"))
	if ds.HasErrors() {
		return ds
	}
	if !o.State.Exists() {
		if first == nil {
			first = states.Empty().With(states.NewLineage(), 0)
		}
		err := o.State.Replace(context.WithoutCancel(o.App.Ctx), first)
		ds = append(ds, diags.FromError("Error creating the workspace", err)...)
	}
	return append(ds, o.Unlock(o.App.Ctx)...)
}

// delete deletes a workspace with its state.
func (o workspaces) delete(name string, locks cli.LockFlags, force bool) diags.Diagnostics {
	ds := o.OpenState(o.App.Ctx, o.backend, name, opening.Lock(locks, "workspace-delete"))
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, o.deleteLocked(name, force)...)
	return append(ds, o.Unlock(o.App.Ctx)...)
}

// deleteLocked deletes a workspace, whose state the caller has locked. If the state has objects, deleteLocked
// returns an error unless force is set.
func (o workspaces) deleteLocked(name string, force bool) diags.Diagnostics {
	var managed string
	n := 0
	for r, x := range o.State.Current.Resources() {
		for k := range x.Instances {
			managed, n = r.Instance(k).String(), n+1
		}
	}
	if n > 0 && !force {
		return diags.Errorf(nil, "Workspace is not empty",
			"The workspace %q keeps track of %d resource instance(s), such as %s. Deleting it would lose track of the real objects, which would have to be destroyed by hand. Destroy them with \"lockstep destroy\" first, or use -force to delete the workspace anyway.", name, n, managed)
	}
	if err := o.backend.DeleteWorkspace(context.WithoutCancel(o.App.Ctx), name, o.State.Version()); err != nil {
		return diags.FromError("Error deleting the workspace", err)
	}
	fmt.Fprintf(o.App.Out, "Deleted workspace %q!\n", name)
	if n > 0 {
		return diags.Warningf(nil, "Workspace was not empty",
			"The workspace %q kept track of %d resource instance(s): the real objects may still exist, but are not managed any more.", name, n)
	}
	return nil
}
