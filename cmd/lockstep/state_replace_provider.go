package main

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var stateReplaceProviderCommand = command{name: "state replace-provider", synopsis: "Give resources in the state to another provider", run: func(a *app, args []string) int {
	x := access{file: true, lock: "state-replace-provider", backup: true}
	var approve bool
	f := a.newFlags("state replace-provider", "state replace-provider [OPTIONS] FROM TO")
	f.vars(&varFlags{}) // the backend may need them
	f.editing(&x)
	f.BoolVar(&approve, "auto-approve", false, "do not ask")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return a.usage("state replace-provider takes exactly two providers' source addresses: from which, to which")
	}
	var ds diags.Diagnostics
	var ps [2]addrs.Provider
	for i, role := range []string{"from", "to"} {
		p, err := addrs.ParseProvider(f.Arg(i))
		ds = append(ds, diags.FromError(fmt.Sprintf("Invalid %q provider %q", role, f.Arg(i)), err)...)
		ps[i] = p
	}
	if ds.HasErrors() {
		return a.show(ds)
	}
	op, ds := a.stored(x)
	if ds.HasErrors() {
		return a.show(ds)
	}
	if !op.state.Exists() {
		return op.noState(ds)
	}
	more, code := op.replaceProvider(ps[0], ps[1], approve)
	return max(code, op.finish(append(ds, more...)))
}}

// replaceProvider gives what one provider looks after to another one.
func (o *operation) replaceProvider(from, to addrs.Provider, approve bool) (diags.Diagnostics, int) {
	s, w := o.state.Current, o.a.out
	var found []addrs.AbsResource
	for r, x := range s.Resources() {
		if x.Provider.Provider == from {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, addrs.AbsResource.Compare)
	if len(found) == 0 {
		fmt.Fprintln(w, "No matching resources found.")
		return nil, 0
	}
	fmt.Fprintf(w, "Lockstep will perform the following actions:\n\n  ~ Updating provider:\n    - %s\n    + %s\n\nChanging %d resources:\n\n", from, to, len(found))
	for _, r := range found {
		fmt.Fprintf(w, "  %s\n", r)
	}
	fmt.Fprintln(w)
	if !approve && !o.a.confirm("Do you want to make these changes?", "Only 'yes' will be accepted to continue.") {
		fmt.Fprintln(w, "Cancelled replacing providers.")
		return nil, 0
	}
	e := s.Edit()
	for _, r := range found {
		p := s.Resource(r).Provider
		p.Provider = to
		e.SetProvider(r, p)
	}
	if ds := o.write(e.State()); ds.HasErrors() {
		return ds, 1
	}
	fmt.Fprintf(w, "Successfully replaced provider for %d resources.\n", len(found))
	return nil, 0
}
