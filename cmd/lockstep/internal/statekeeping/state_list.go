package statekeeping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var StateList = cli.Command{Name: "state list", Alias: "state ls", Synopsis: "List the resource instances in the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true}
	var id string
	f := a.NewFlags("state list", "state list [OPTIONS] [ADDRESS...]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.StringVar(&x.Paths.State, "state", "", "the state file to read")
	f.StringVar(&id, "id", "", "only instances whose attribute \"id\" has this value")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	found, more := chosen(op.State.Current, f.Args(), id)
	for _, r := range found {
		fmt.Fprintln(a.Out, r)
	}
	return a.Show(append(ds, more...))
}}

// chosen returns the instances in a state that the addresses select. Without addresses, it returns all. If id
// is not "", chosen returns only the instances whose attribute "id" has that value.
func chosen(s *states.State, addresses []string, id string) (found []addrs.AbsResourceInstance, ds diags.Diagnostics) {
	if len(addresses) == 0 {
		found = instances(s, func(addrs.AbsResourceInstance) bool { return true })
	}
	for _, text := range addresses {
		some, more := matching(s, text)
		found, ds = append(found, some...), append(ds, more...)
	}
	return slices.DeleteFunc(found, func(a addrs.AbsResourceInstance) bool { return id != "" && id != objectID(s.Instance(a)) }), ds
}

// instances returns the instances in a state for which the function want returns true, in order.
func instances(s *states.State, want func(addrs.AbsResourceInstance) bool) []addrs.AbsResourceInstance {
	var out []addrs.AbsResourceInstance
	for r, x := range s.Resources() {
		for k := range x.Instances {
			if a := r.Instance(k); want(a) {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, listOrder)
	return out
}

// listOrder compares instances in the order of `terraform state list`: first by the depth of their modules,
// then by address.
func listOrder(a, b addrs.AbsResourceInstance) int {
	if d := cmp.Compare(len(a.Module.Steps()), len(b.Module.Steps())); d != 0 {
		return d
	}
	return a.Compare(b)
}

// matching returns the instances that an address from the command line selects.
func matching(s *states.State, text string) ([]addrs.AbsResourceInstance, diags.Diagnostics) {
	t, ds := cli.ParseTarget(text)
	if ds.HasErrors() {
		return nil, ds
	}
	found := instances(s, t.Contains)
	switch {
	case len(found) > 0:
		return found, nil
	case t.IsModule():
		return nil, diags.Errorf(nil, "Unknown module",
			"The current state contains no module at %s. If you've just added this module to the configuration, run \"lockstep apply\" first to create its entry in the state.", t)
	case t.Key.IsNone():
		return nil, diags.Errorf(nil, "Unknown resource",
			"The current state contains no resource %s. If you've just added it to the configuration, run \"lockstep apply\" first to create its entry in the state.", t)
	}
	return nil, diags.Errorf(nil, "Unknown resource instance",
		"The current state contains no resource instance %s. If you've just added its resource, or changed its count or for_each, run \"lockstep apply\" first to bring the state up to date.", t)
}

// objectID returns the attribute "id" of an instance's current object; "" if it has none.
func objectID(in *states.Instance) string {
	if in == nil || in.Current == nil {
		return ""
	}
	if in.Current.AttrsFlat != nil {
		return in.Current.AttrsFlat["id"]
	}
	var attrs struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(in.Current.AttrsJSON, &attrs) != nil {
		return ""
	}
	id, _ := attrs.ID.(string)
	return id
}
