package opening

import (
	"context"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// Rescue is called if the backend refused to store a state. It writes the state to a file. If that fails, it
// writes the state to standard output. In both cases the state is encrypted as the backend would have encrypted
// it.
func (o *Operation) Rescue(s *states.State) diags.Diagnostics {
	data, err := o.State.Sealed(context.WithoutCancel(o.App.Ctx), s)
	path := filepath.Join(o.Dir.Path, "errored.tfstate")
	if err == nil {
		err = workdir.WriteFile(path, data, 0o600)
	}
	if err != nil {
		o.App.Out.Write(data)
		return diags.Errorf(nil, "The state could not be kept anywhere",
			"Lockstep could write the new state neither to the backend nor to the file errored.tfstate (%s). The state is in the standard output: save it in a file. Once the backend works again, run \"lockstep state push FILE\".", err)
	}
	return diags.Errorf(nil, "The new state is in errored.tfstate",
		"Lockstep could not write the new state to the backend. It is in the file %s. Once the backend works again, run \"lockstep state push errored.tfstate\". Do not apply before that.", path)
}

// Write stores the state next, unless the stored state has the same content.
func (o *Operation) Write(next *states.State) diags.Diagnostics {
	return diags.FromError("Error saving the state", o.Save(o.App.Ctx, next))
}

// Finish releases the state's lock, prints the diagnostics, and returns the exit code.
func (o *Operation) Finish(ds diags.Diagnostics) int {
	return o.App.Show(append(ds, o.Unlock(o.App.Ctx)...))
}

// LeaveState stores an empty state if there is none: see [operation.Operation.SaveFirst].
func (o *Operation) LeaveState() diags.Diagnostics {
	return diags.FromError("Error saving the state", o.SaveFirst(o.App.Ctx))
}

// NoState tells the user that there is no state to show or to edit. It returns the exit code.
func (o *Operation) NoState(ds diags.Diagnostics) int {
	o.Finish(ds)
	return o.App.Usage("check the directory and the workspace, or name a state file with -state=FILE; `lockstep apply` creates a state", "No state file was found")
}
