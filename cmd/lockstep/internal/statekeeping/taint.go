package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var Taint = cli.Command{Name: "taint", Synopsis: "Mark a resource instance to be replaced", Run: func(a *cli.App, args []string) int {
	return markMain(a, "taint", args, states.Tainted, "Resource instance %s has been marked as tainted.\n")
}}

// markMain runs the commands taint and untaint, which set the status to.
func markMain(a *cli.App, name string, args []string, to states.Status, done string) int {
	x := opening.Access{Lock: name}
	var missing bool
	f := a.NewFlags(name, name+" [OPTIONS] ADDRESS")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	editing(f, &x)
	f.StringVar(&x.Paths.StateOut, "state-out", "", "the file for the new state")
	f.BoolVar(&missing, "allow-missing", false, "succeed even if the instance is not in the state")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.WrongArguments(fmt.Sprintf("write one address: lockstep %s aws_instance.web", name), "%s takes exactly one address", name)
	}
	addr, ds := cli.ParseInstance(f.Arg(0))
	switch {
	case ds.HasErrors():
		return a.Show(ds)
	case addr.Resource.Resource.Mode != addrs.Managed:
		return a.Usage("name a resource instance: aws_instance.web, or module.net.aws_subnet.a[0]", "%s is not an instance of a managed resource, and only these can be tainted", addr)
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	more := mark(op, addr, to)
	if missing && op.State.Current.Instance(addr) == nil {
		more = diags.Warningf(nil, "No such resource instance",
			"Resource instance %s was not found, but this is not an error because -allow-missing was set.", addr)
	}
	if !more.HasErrors() && len(more) == 0 {
		fmt.Fprintf(a.Out, done, addr)
	}
	return a.Tell(append(append(ds, more...), op.Unlock(a.Ctx)...))
}

// mark sets the status of the current object of an instance, such as tainted.
func mark(o *opening.Operation, addr addrs.AbsResourceInstance, to states.Status) diags.Diagnostics {
	s := o.State.Current
	if s.IsEmpty() {
		return diags.Errorf(nil, "No such resource instance",
			"The state currently contains no resource instances whatsoever: nothing was applied yet, or everything has been destroyed.")
	}
	in := s.Instance(addr)
	switch {
	case in == nil:
		return diags.Errorf(nil, "No such resource instance",
			"There is no resource instance in the state with the address %s. If it has just been added to the configuration, run \"lockstep apply\" once to create it; \"lockstep state list\" shows what there is.", addr)
	case in.Current == nil:
		return diags.Errorf(nil, "Resource instance has no current object",
			"Of %s there are only deposed objects, which the next apply will destroy anyway.", addr)
	case to == states.Ready && in.Current.Status != states.Tainted:
		return diags.Errorf(nil, "Resource instance is not tainted",
			"Resource instance %s is not currently tainted, and so it cannot be untainted.", addr)
	}
	object := *in.Current
	object.Status = to
	e := s.Edit()
	e.ReplaceObject(addrs.ResourceInstanceObject{Instance: addr}, &object)
	return o.Write(e.State())
}
