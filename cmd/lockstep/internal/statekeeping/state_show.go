package statekeeping

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var StateShow = cli.Command{Name: "state show", Synopsis: "Show the attributes of one resource instance in the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true}
	var asJSON bool
	f := a.NewFlags("state show", "state show [OPTIONS] ADDRESS")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.StringVar(&x.Paths.State, "state", "", "the state file to read")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.ShowSensitive()
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.WrongArguments("write one address: lockstep state show 'aws_instance.web[0]'", "state show takes exactly one address")
	}
	addr, err := addrs.ParseAbsResourceInstance(f.Arg(0))
	if err != nil {
		return a.Usage("", "%s", err)
	}
	op, ds := opening.Stored(a, x)
	defer op.Close()
	if asJSON {
		return showJSON(a, op, addr, ds)
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	one, ok := justOne(op.Adopted(op.State.Current), addr)
	if !ok {
		return a.Usage("run `lockstep state list` for all addresses with their keys", "the state has no resource instance %s", addr)
	}
	if ds = append(ds, op.RequireProvidersOf(one)...); ds.HasErrors() {
		return a.Show(ds)
	}
	if err := formats.Readable(one, op.Schemas); err != nil {
		return a.WriteJSON(nil, err)
	}
	var text bytes.Buffer
	a.Print().State(&text, one, op.Schemas)
	fmt.Fprintln(a.Out, strings.TrimRight(text.String(), "\n"))
	return a.Show(ds)
}}

func notThere(addr addrs.AbsResourceInstance) string {
	return fmt.Sprintf("the state has no resource instance %s: run `lockstep state list` for all addresses with their keys", addr)
}

// showJSON prints an instance as JSON, together with all diagnostics.
func showJSON(a *cli.App, op *opening.Operation, addr addrs.AbsResourceInstance, ds diags.Diagnostics) int {
	var one *states.State
	if !ds.HasErrors() {
		var ok bool
		if one, ok = justOne(op.Adopted(op.State.Current), addr); !ok {
			ds = append(ds, diags.Errorf(nil, "No such resource instance", "%s.", notThere(addr))...)
		} else {
			ds = append(ds, op.RequireProvidersOf(one)...)
		}
	}
	data, err := formats.Instance(one, op.Schemas, ds, a.SourcesOf(ds))
	if code := a.WriteJSON(data, err); code != 0 || !ds.HasErrors() {
		return code
	}
	return 1
}

// justOne returns a state that contains only one instance of s. It returns false if s has no object for the
// instance.
func justOne(s *states.State, addr addrs.AbsResourceInstance) (*states.State, bool) {
	in := s.Instance(addr)
	if in == nil || in.Current == nil {
		return nil, false
	}
	r := *s.Resource(addr.AbsResource())
	r.Instances = map[addrs.InstanceKey]*states.Instance{addr.Resource.Key: {Current: in.Current, Provider: in.Provider}}
	return states.Of(nil, map[addrs.AbsResource]*states.Resource{addr.AbsResource(): &r}), true
}
