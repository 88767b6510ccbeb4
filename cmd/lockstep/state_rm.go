package main

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var stateRmCommand = command{name: "state rm", synopsis: "Forget objects without destroying them", run: func(a *app, args []string) int {
	x := access{file: true, lock: "state-rm", backup: true}
	var dry bool
	f := a.newFlags("state rm", "state rm [OPTIONS] ADDRESS...")
	f.vars(&varFlags{}) // the backend may need them
	f.editing(&x)
	f.BoolVar(&dry, "dry-run", false, "only say what would be removed")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() == 0 {
		return a.usage("state rm takes the addresses of what to remove")
	}
	if dry {
		x.lock = ""
	}
	op, ds := a.stored(x)
	if ds.HasErrors() {
		return a.show(ds)
	}
	if !op.state.Exists() {
		return op.noState(ds)
	}
	return op.finish(append(ds, op.remove(f.Args(), dry)...))
}}

// remove forgets what the addresses mean.
func (o *operation) remove(texts []string, dry bool) diags.Diagnostics {
	w, verb := o.a.out, "Removed"
	if dry {
		verb = "Would remove"
	}
	var found []addrs.AbsResourceInstance
	known := map[addrs.AbsResourceInstance]bool{}
	for _, text := range texts {
		t, ds := parseTarget(text)
		if ds.HasErrors() {
			return ds
		}
		for _, r := range instances(o.state.Current, t.Contains) {
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
	e := o.state.Current.Edit()
	for _, r := range found {
		e.RemoveInstance(r)
	}
	if !dry {
		if ds := o.write(e.State()); ds.HasErrors() {
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
