package statekeeping

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var StateReplaceProvider = cli.Command{Name: "state replace-provider", Synopsis: "Replace the provider of resources in the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true, Lock: "state-replace-provider", Backup: true}
	var approve bool
	f := a.NewFlags("state replace-provider", "state replace-provider [OPTIONS] FROM TO")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	editing(f, &x)
	f.BoolVar(&approve, "auto-approve", false, "do not ask for confirmation")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return f.WrongArguments("write the old and the new source address: lockstep state replace-provider hashicorp/foo acme/foo", "state replace-provider takes exactly two providers")
	}
	var ds diags.Diagnostics
	var ps [2]addrs.Provider
	for i, role := range []string{"from", "to"} {
		p, err := addrs.ParseProvider(f.Arg(i))
		ds = append(ds, diags.FromError(fmt.Sprintf("Invalid %q provider %q", role, f.Arg(i)), err)...)
		ps[i] = p
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	if tofu, _ := addrs.ParseProviderIn(addrs.OpenTofuRegistryHost, f.Arg(0)); tofu != ps[0] && uses(op.State.Current, tofu) {
		ps[0] = tofu // in the state of a configuration for OpenTofu, a name without a host means this provider
		ps[1], _ = addrs.ParseProviderIn(tofu.Host, f.Arg(1))
	}
	more, code := replaceProvider(op, ps[0], ps[1], approve)
	return max(code, op.Finish(append(ds, more...)))
}}

// uses reports whether a resource in the state belongs to p.
func uses(s *states.State, p addrs.Provider) bool {
	for _, x := range s.Resources() {
		if x.Provider.Provider == p {
			return true
		}
	}
	return false
}

// replaceProvider changes the provider of resources in the state. It returns the exit code.
func replaceProvider(o *opening.Operation, from, to addrs.Provider, approve bool) (diags.Diagnostics, int) {
	s, w := o.State.Current, o.App.Out
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
	if !approve && !o.App.Confirm("Do you want to make these changes?", "Only 'yes' will be accepted to continue.") {
		fmt.Fprintln(w, "Cancelled replacing providers.")
		return nil, 0
	}
	e := s.Edit()
	for _, r := range found {
		p := s.Resource(r).Provider
		p.Provider = to
		e.SetProvider(r, p)
	}
	if ds := o.Write(e.State()); ds.HasErrors() {
		return ds, 1
	}
	fmt.Fprintf(w, "Successfully replaced provider for %d resources.\n", len(found))
	return nil, 0
}
