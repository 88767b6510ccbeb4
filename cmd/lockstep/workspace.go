package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

func workspaceListCommand(family string) command {
	return command{name: family + " list", synopsis: "List the workspaces", run: func(a *app, args []string) int {
		f := a.newFlags(family+" list", family+" list")
		f.vars(&varFlags{}) // the backend may need them
		if code, ok := f.parseWorkspace(args); !ok {
			return code
		}
		if code, ok := f.noArguments(); !ok {
			return code
		}
		op, ds := a.workspaces()
		if ds.HasErrors() {
			return a.show(ds)
		}
		for _, n := range op.names {
			mark := " "
			if n == op.workspace {
				mark = "*"
			}
			fmt.Fprintf(a.out, "%s %s\n", mark, n)
		}
		fmt.Fprintln(a.out)
		if a.getenv(workspaceVariable) != "" {
			fmt.Fprintf(a.out, "\nThe selected workspace is given by the environment variable %s.\n", workspaceVariable)
		}
		return a.show(ds)
	}}
}

func workspaceShowCommand(family string) command {
	return command{name: family + " show", synopsis: "Show the name of the selected workspace", run: func(a *app, args []string) int {
		f := a.newFlags(family+" show", family+" show")
		f.vars(&varFlags{}) // the backend may need them
		if code, ok := f.parseWorkspace(args); !ok {
			return code
		}
		d, ds := a.dir()
		name := d.Workspace()
		if err := statebackend.CheckWorkspaceName(name); err != nil {
			ds = append(ds, diags.FromError("Invalid workspace name", err)...)
		}
		if ds.HasErrors() {
			return a.show(ds)
		}
		fmt.Fprintln(a.out, name)
		return a.show(ds)
	}}
}

func workspaceSelectCommand(family string) command {
	return command{name: family + " select", synopsis: "Select another workspace", run: func(a *app, args []string) int {
		var create bool
		f := a.newFlags(family+" select", family+" select [OPTIONS] NAME")
		f.vars(&varFlags{}) // the backend may need them
		f.BoolVar(&create, "or-create", false, "create the workspace if it does not exist")
		name, code, ok := f.workspaceName(args, "select")
		if !ok {
			return code
		}
		op, ds := a.workspaces()
		if ds.HasErrors() {
			return a.show(ds)
		}
		switch {
		case name == op.workspace && op.has(name):
			return a.show(ds)
		case !op.has(name) && !create:
			a.show(ds)
			return a.usage("Workspace %q doesn't exist: create it with `lockstep workspace new`, or use -or-create", name)
		case !op.has(name):
			return a.show(append(ds, op.create(name, lockFlags{lock: true}, nil)...))
		}
		if err := op.dir.SelectWorkspace(name); err != nil {
			return a.show(append(ds, diags.FromError("The selection cannot be recorded", err)...))
		}
		fmt.Fprintf(a.out, "Switched to workspace %q.\n", name)
		return a.show(ds)
	}}
}

func workspaceNewCommand(family string) command {
	return command{name: family + " new", synopsis: "Create a workspace and select it", run: func(a *app, args []string) int {
		var locks lockFlags
		var from string
		f := a.newFlags(family+" new", family+" new [OPTIONS] NAME")
		f.vars(&varFlags{}) // the backend may need them
		f.locking(&locks)
		f.StringVar(&from, "state", "", "copy this state file into the new workspace")
		name, code, ok := f.workspaceName(args, "create")
		if !ok {
			return code
		}
		op, ds := a.workspaces()
		if ds.HasErrors() {
			return a.show(ds)
		}
		if op.has(name) {
			a.show(ds)
			return a.usage("Workspace %q already exists: select it with `lockstep workspace select`", name)
		}
		var first *states.State
		if from != "" {
			var err error
			if first, err = a.readState(from); err != nil {
				a.show(ds)
				return a.usage("%s", err)
			}
		}
		return a.show(append(ds, op.create(name, locks, first)...))
	}}
}

func workspaceDeleteCommand(family string) command {
	return command{name: family + " delete", synopsis: "Delete a workspace", run: func(a *app, args []string) int {
		var locks lockFlags
		var force bool
		f := a.newFlags(family+" delete", family+" delete [OPTIONS] NAME")
		f.vars(&varFlags{}) // the backend may need them
		f.locking(&locks)
		f.BoolVar(&force, "force", false, "even if the workspace is managing resources, which are forgotten then")
		if code, ok := f.parseWorkspace(args); !ok {
			return code
		}
		if f.NArg() != 1 {
			return a.usage("%s takes exactly one name", f.Name())
		}
		op, ds := a.workspaces()
		if ds.HasErrors() {
			return a.show(ds)
		}
		name := f.Arg(0)
		switch {
		case !op.has(name):
			a.show(ds)
			return a.usage("Workspace %q doesn't exist; `lockstep workspace list` shows those that there are", name)
		case name == op.workspace:
			a.show(ds)
			return a.usage("the workspace %q is the selected one, and cannot be deleted: select another one first", name)
		case name == statebackend.DefaultWorkspace:
			a.show(ds)
			return a.usage("the workspace %q is always there, and cannot be deleted", name)
		}
		return a.show(append(ds, op.delete(name, locks, force)...))
	}}
}

// workspaceVariable selects a workspace, whatever was selected last.
const workspaceVariable = "TF_WORKSPACE"

// parseWorkspace is parse for the commands of a family, `workspace` or `env`, which is
// what Terraform called it long ago.
func (f *flags) parseWorkspace(args []string) (code int, ok bool) {
	code, ok = f.parse(args)
	if ok && strings.HasPrefix(f.Name(), "env ") {
		f.app.tell(renamed)
	}
	return code, ok
}

// renamed is said whenever a command of the family `env` is used.
var renamed = diags.Warningf(nil, `The "lockstep env" family of commands is deprecated`,
	`What were environments once are workspaces now. Use the "lockstep workspace" commands instead.`)

// workspaceName parses the command line of a command that takes the name of a
// workspace to select. If ok is false, the command ends with the code.
func (f *flags) workspaceName(args []string, deed string) (name string, code int, ok bool) {
	if code, ok := f.parseWorkspace(args); !ok {
		return "", code, false
	}
	a := f.app
	switch {
	case f.NArg() != 1:
		return "", a.usage("%s takes exactly one name", f.Name()), false
	case a.getenv(workspaceVariable) != "":
		return "", a.usage("the environment variable %s selects the workspace %q: unset it to %s another one", workspaceVariable, a.getenv(workspaceVariable), deed), false
	}
	if err := statebackend.CheckWorkspaceName(f.Arg(0)); err != nil {
		return "", a.usage("%s", err), false
	}
	return f.Arg(0), 0, true
}

// workspaces is a backend with the names of its workspaces.
type workspaces struct {
	*operation
	backend statebackend.Backend
	names   []string
}

// workspaces opens the backend and lists its workspaces.
func (a *app) workspaces() (workspaces, diags.Diagnostics) {
	o := workspaces{operation: &operation{a: a}}
	var ds diags.Diagnostics
	if o.backend, ds = o.openBackend(access{}); ds.HasErrors() {
		return o, ds
	}
	var err error
	o.names, err = o.backend.Workspaces(a.ctx)
	return o, append(ds, diags.FromError("Error listing the workspaces", err)...)
}

func (o workspaces) has(name string) bool { return slices.Contains(o.names, name) }

// create makes a workspace with a first state, or nil, and selects it.
func (o workspaces) create(name string, locks lockFlags, first *states.State) diags.Diagnostics {
	ds := o.occupy(name, locks, first)
	if ds.HasErrors() {
		return ds
	}
	if err := o.dir.SelectWorkspace(name); err != nil {
		return append(ds, diags.FromError("The selection cannot be recorded", err)...)
	}
	fmt.Fprintf(o.a.out, "Created and switched to workspace %q!\n", name)
	if first == nil {
		fmt.Fprintln(o.a.out, "\nYou're now on a new, empty workspace. Each workspace has a state of its own:\n\"lockstep plan\" will not see what the others have.")
	}
	return ds
}

// occupy brings a workspace into being. On this machine a directory does; elsewhere
// there must be a state, which is an empty one if first is nil.
func (o workspaces) occupy(name string, locks lockFlags, first *states.State) diags.Diagnostics {
	if first == nil && o.settings.Type == "local" {
		o.workspace = name
		err := os.MkdirAll(filepath.Dir(o.a.path(o.localPath())), 0o755)
		return diags.FromError("Error creating the workspace", err)
	}
	st, ds := workdir.OpenState(o.backend, name)
	if ds.HasErrors() {
		return ds
	}
	o.state = st
	if locks.lock {
		if more := st.Lock(o.a.ctx, statebackend.NewLockInfo("workspace-new", engine.LanguageVersion), locks.timeout); more.HasErrors() {
			return append(ds, more...)
		}
	}
	if ds = append(ds, st.Read(o.a.ctx)...); !ds.HasErrors() && !st.Exists() {
		if first == nil {
			first = states.Empty().With(states.NewLineage(), 0)
		}
		err := st.Replace(context.WithoutCancel(o.a.ctx), first)
		ds = append(ds, diags.FromError("Error creating the workspace", err)...)
	}
	return append(ds, o.unlock()...)
}

// delete removes a workspace with its state.
func (o workspaces) delete(name string, locks lockFlags, force bool) diags.Diagnostics {
	st, ds := workdir.OpenState(o.backend, name)
	if ds.HasErrors() {
		return ds
	}
	o.state = st
	if locks.lock {
		if more := st.Lock(o.a.ctx, statebackend.NewLockInfo("workspace-delete", engine.LanguageVersion), locks.timeout); more.HasErrors() {
			return append(ds, more...)
		}
	}
	ds = append(ds, o.deleteLocked(name, force)...)
	return append(ds, o.unlock()...)
}

// deleteLocked removes a workspace whose state is locked, unless it is in use.
func (o workspaces) deleteLocked(name string, force bool) diags.Diagnostics {
	if ds := o.state.Read(o.a.ctx); ds.HasErrors() {
		return ds
	}
	var managed string
	n := 0
	for r, x := range o.state.Current.Resources() {
		for k := range x.Instances {
			managed, n = r.Instance(k).String(), n+1
		}
	}
	if n > 0 && !force {
		return diags.Errorf(nil, "Workspace is not empty",
			"The workspace %q keeps track of %d resource instance(s), such as %s. Deleting it would lose track of what they stand for, which would have to be destroyed by hand. Destroy them with \"lockstep destroy\" first, or use -force to delete the workspace anyway.", name, n, managed)
	}
	if err := o.backend.DeleteWorkspace(context.WithoutCancel(o.a.ctx), name, o.state.Version()); err != nil {
		return diags.FromError("Error deleting the workspace", err)
	}
	fmt.Fprintf(o.a.out, "Deleted workspace %q!\n", name)
	if n > 0 {
		return diags.Warningf(nil, "Workspace was not empty",
			"The workspace %q kept track of %d resource instance(s): what they stand for may still exist, but is not managed any more.", name, n)
	}
	return nil
}
