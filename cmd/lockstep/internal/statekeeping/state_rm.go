package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var StateRm = cli.Command{Name: "state rm", Synopsis: "Forget objects without destroying them", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true, Lock: "state-rm", Backup: true}
	var dry bool
	f := a.NewFlags("state rm", "state rm [OPTIONS] ADDRESS...")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	editing(f, &x)
	f.BoolVar(&dry, "dry-run", false, "only print the addresses")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() == 0 {
		return a.Usage("write one or more addresses: lockstep state rm aws_instance.web", "state rm needs an address")
	}
	if dry {
		x.Lock = ""
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	return op.Finish(append(ds, remove(op, f.Args(), dry)...))
}}

// remove removes instances from the state. texts are their addresses. If dry is set, it only prints what it
// would remove.
func remove(o *opening.Operation, texts []string, dry bool) diags.Diagnostics {
	w, verb := o.App.Out, "Removed"
	if dry {
		verb = "Would remove"
	}
	var found []addrs.AbsResourceInstance
	known := map[addrs.AbsResourceInstance]bool{}
	for _, text := range texts {
		t, ds := cli.ParseTarget(text)
		if ds.HasErrors() {
			return ds
		}
		for _, r := range instances(o.State.Current, t.Contains) {
			if !known[r] {
				known[r] = true
				found = append(found, r)
			}
		}
	}
	switch {
	case len(found) == 0 && dry:
		fmt.Fprintln(w, "Would have removed nothing.")
		return nil
	case len(found) == 0:
		return diags.Errorf(nil, "Invalid target address",
			"No matching objects found. To view the available instances, use \"lockstep state list\", and name one of them, or a resource or module around it.")
	}
	e := o.State.Current.Edit()
	for _, r := range found {
		e.RemoveInstance(r)
	}
	if !dry {
		if ds := o.Write(e.State()); ds.HasErrors() {
			return ds
		}
	}
	for _, r := range found {
		fmt.Fprintf(w, "%s %s\n", verb, r)
	}
	if !dry {
		fmt.Fprintf(w, "Successfully removed %d resource instance(s).\n", len(found))
	}
	return nil
}
