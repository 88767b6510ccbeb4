package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var stateShowCommand = command{name: "state show", synopsis: "Show the attributes of one resource instance in the state", run: func(a *app, args []string) int {
	x := access{file: true}
	f := a.newFlags("state show", "state show [OPTIONS] ADDRESS")
	f.vars(&varFlags{}) // the backend may need them
	f.StringVar(&x.paths.State, "state", "", "look into this state file")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return a.usage("state show takes exactly one address")
	}
	addr, err := addrs.ParseAbsResourceInstance(f.Arg(0))
	if err != nil {
		return a.usage("%s", err)
	}
	op, ds := a.stored(x)
	defer op.close()
	if ds.HasErrors() {
		return a.show(ds)
	}
	if !op.state.Exists() {
		return op.noState(ds)
	}
	one, ok := justOne(op.state.Current, addr)
	if !ok {
		return a.usage("the state has no resource instance %s; `lockstep state list` shows those that it has, with their keys", addr)
	}
	if ds = append(ds, op.providersFor(a.ctx, one)...); ds.HasErrors() {
		return a.show(ds)
	}
	var text bytes.Buffer
	a.print().State(&text, one, op.schemas)
	fmt.Fprintln(a.out, strings.TrimRight(text.String(), "\n"))
	return a.show(ds)
}}

// justOne returns a state that holds nothing but one instance of s.
func justOne(s *states.State, addr addrs.AbsResourceInstance) (*states.State, bool) {
	in := s.Instance(addr)
	if in == nil || in.Current == nil {
		return nil, false
	}
	r := *s.Resource(addr.AbsResource())
	r.Instances = map[addrs.InstanceKey]*states.Instance{addr.Resource.Key: {Current: in.Current, Provider: in.Provider}}
	return states.Of(nil, map[addrs.AbsResource]*states.Resource{addr.AbsResource(): &r}), true
}
