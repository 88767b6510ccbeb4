package main

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var taintCommand = command{name: "taint", synopsis: "Mark a resource instance to be replaced", run: func(a *app, args []string) int {
	return a.markMain("taint", args, states.Tainted, "Resource instance %s has been marked as tainted.\n")
}}

var untaintCommand = command{name: "untaint", synopsis: "Take the mark of a tainted resource instance away", run: func(a *app, args []string) int {
	return a.markMain("untaint", args, states.Ready, "Resource instance %s has been successfully untainted.\n")
}}

// markMain is taint and untaint.
func (a *app) markMain(name string, args []string, to states.Status, done string) int {
	x := access{lock: name}
	var missing bool
	f := a.newFlags(name, name+" [OPTIONS] ADDRESS")
	f.vars(&varFlags{}) // the backend may need them
	f.editing(&x)
	f.StringVar(&x.paths.StateOut, "state-out", "", "where to write the new state")
	f.BoolVar(&missing, "allow-missing", false, "succeed even if the instance is not in the state")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return a.usage("%s takes exactly one address", name)
	}
	addr, ds := parseInstance(f.Arg(0))
	switch {
	case ds.HasErrors():
		return a.show(ds)
	case addr.Resource.Resource.Mode != addrs.Managed:
		return a.usage("only instances of managed resources can be tainted, and %s is none", addr)
	}
	op, ds := a.stored(x)
	if ds.HasErrors() {
		return a.show(ds)
	}
	more := op.mark(addr, to)
	if missing && op.state.Current.Instance(addr) == nil {
		more = diags.Warningf(nil, "No such resource instance",
			"Resource instance %s was not found, but this is not an error because -allow-missing was set.", addr)
	}
	if !more.HasErrors() && len(more) == 0 {
		fmt.Fprintf(a.out, done, addr)
	}
	return a.tell(append(append(ds, more...), op.unlock()...))
}

// mark gives the current object of an instance a status.
func (o *operation) mark(addr addrs.AbsResourceInstance, to states.Status) diags.Diagnostics {
	s := o.state.Current
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
	e.SetObject(addrs.ResourceInstanceObject{Instance: addr}, s.Resource(addr.AbsResource()).Provider, &object)
	return o.write(e.State())
}
