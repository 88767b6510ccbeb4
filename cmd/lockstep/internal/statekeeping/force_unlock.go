package statekeeping

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

var ForceUnlock = cli.Command{Name: "force-unlock", Synopsis: "Release the state lock of a process that has died", Run: func(a *cli.App, args []string) int {
	var force bool
	f := a.NewFlags("force-unlock", "force-unlock [OPTIONS] LOCK_ID")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.BoolVar(&force, "force", false, "do not ask for confirmation")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.WrongArguments("copy the ID from the message about the lock: lockstep force-unlock ID", "force-unlock takes exactly one lock ID")
	}
	op := opening.New(a)
	b, ds := op.OpenBackend(opening.Access{})
	if ds.HasErrors() {
		return a.Show(ds)
	}
	st, more := workdir.OpenState(b, op.Workspace)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	id := f.Arg(0)
	if !force && !a.Confirm("Do you really want to force-unlock?",
		"The lock is removed, and others may write the state although its holder may\n  still be at work. Only 'yes' will be accepted to confirm.") {
		fmt.Fprintln(a.Out, "force-unlock cancelled.")
		return 1
	}
	if err := st.Workspace.Unlock(context.WithoutCancel(a.Ctx), id); err != nil {
		a.Show(ds)
		if errors.Is(err, statebackend.ErrNotLocked) {
			return a.Usage("if a command reported a lock, run force-unlock in the directory and the workspace of that command; `lockstep workspace show` names the current workspace", "Failed to unlock state: %s; nothing was released", err)
		}
		return a.Usage("copy the lock ID from the message about the lock, and run the command again", "Failed to unlock state: %s; nothing was released", err)
	}
	fmt.Fprintf(a.Out, "The lock %s has been released: others can lock the state now.\n", id)
	return a.Show(ds)
}}
