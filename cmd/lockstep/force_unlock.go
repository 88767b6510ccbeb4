package main

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var forceUnlockCommand = command{name: "force-unlock", synopsis: "Release a lock that its holder left behind", run: func(a *app, args []string) int {
	var force bool
	f := a.newFlags("force-unlock", "force-unlock [OPTIONS] LOCK_ID")
	f.vars(&varFlags{}) // the backend may need them
	f.BoolVar(&force, "force", false, "do not ask")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return a.usage("force-unlock takes exactly one lock ID, which the message about the lock shows")
	}
	op := &operation{a: a}
	b, ds := op.openBackend(access{})
	if ds.HasErrors() {
		return a.show(ds)
	}
	st, more := workdir.OpenState(b, op.workspace)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	id := f.Arg(0)
	if !force && !a.confirm("Do you really want to force-unlock?",
		"The lock is removed, and others may write the state although its holder may\n  still be at work. Only 'yes' will be accepted to confirm.") {
		fmt.Fprintln(a.out, "force-unlock cancelled.")
		return 1
	}
	if err := st.Workspace.Unlock(context.WithoutCancel(a.ctx), id); err != nil {
		a.show(ds)
		return a.usage("Failed to unlock state: %s; nothing was released", err)
	}
	fmt.Fprintf(a.out, "The lock %s has been released: others can lock the state now.\n", id)
	return a.show(ds)
}}
