package statekeeping

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var StateMv = cli.Command{Name: "state mv", Synopsis: "Move objects to other addresses in the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true, Lock: "state-mv", Backup: true}
	var m movement
	var out, outBackup string
	f := a.NewFlags("state mv", "state mv [OPTIONS] SOURCE DESTINATION")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	editing(f, &x)
	f.BoolVar(&m.dry, "dry-run", false, "only print the moves")
	f.StringVar(&out, "state-out", "", "move into this state file")
	f.StringVar(&outBackup, "backup-out", "", "the backup file for the old content of -state-out")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return f.WrongArguments("write the old and the new address: lockstep state mv aws_instance.old aws_instance.web", "state mv takes exactly two addresses")
	}
	if m.dry {
		x.Lock = ""
	}
	var ds, more diags.Diagnostics
	m.from, ds = cli.ParseTarget(f.Arg(0))
	m.to, more = cli.ParseTarget(f.Arg(1))
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	dst := op
	if out != "" && !keptIn(op, out, x) {
		y := x
		y.Paths = workdir.LocalPaths{State: out, Backup: outBackup}
		if dst, more = opening.Stored(a, y); more.HasErrors() {
			return op.Finish(append(ds, more...))
		}
	}
	ds = append(ds, m.do(op, dst)...)
	if dst != op {
		ds = append(ds, dst.Unlock(a.Ctx)...)
	}
	return op.Finish(ds)
}}

// keptIn reports whether the file that -state-out names is the file of the local backend's state itself.
func keptIn(o *opening.Operation, out string, x opening.Access) bool {
	if o.Settings.Type != "local" {
		return false
	}
	in := x.Paths.State
	if in == "" {
		in = o.LocalPath()
	}
	return filepath.Clean(o.App.Path(in)) == filepath.Clean(o.App.Path(out))
}

// A movement is one execution of the command `state mv`.
type movement struct {
	from, to addrs.Target
	dry      bool
}

// A move gives a new address to a module instance, a resource or a resource instance, with all instances in it.
type move struct {
	from, to  fmt.Stringer
	instances []addrs.AbsResourceInstance
	target    func(addrs.AbsResourceInstance) addrs.AbsResourceInstance
}

// do moves objects from the state of src to the state of dst. src and dst may be the same.
func (m *movement) do(src, dst *opening.Operation) diags.Diagnostics {
	moves, ds := m.moves(src.State.Current, dst.State.Current)
	if ds.HasErrors() {
		return ds
	}
	verb := "Move"
	if m.dry {
		verb = "Would move"
	}
	from := src.State.Current.Edit()
	to := from
	if dst != src {
		to = dst.State.Current.Edit()
	}
	moved := map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{}
	arrived := map[addrs.AbsResourceInstance]bool{}
	for _, x := range moves {
		for _, r := range x.instances {
			moved[r] = x.target(r)
			arrived[moved[r]] = true
			carry(from, to, r, moved[r])
		}
	}
	all := func(addrs.AbsResourceInstance) bool { return true }
	if to == from {
		from.Readdress(moved, all)
	} else {
		// Only dependencies of moved objects change: objects that stay in src cannot depend on an object in
		// another state.
		to.Readdress(moved, func(r addrs.AbsResourceInstance) bool { return arrived[r] })
		for r := range moved {
			moved[r] = addrs.AbsResourceInstance{}
		}
		from.Readdress(moved, all)
	}
	if !m.dry {
		// The destination is written first. After a crash between the two writes, an object is then in both
		// states rather than in none.
		if dst != src {
			if ds := dst.Write(to.State()); ds.HasErrors() {
				return ds
			}
		}
		if ds := src.Write(from.State()); ds.HasErrors() {
			return ds
		}
	}
	for _, x := range moves {
		fmt.Fprintf(src.App.Out, "%s %q to %q\n", verb, x.from, x.to)
	}
	if !m.dry {
		fmt.Fprintf(src.App.Out, "Successfully moved %d object(s).\n", len(moves))
	}
	return nil
}

// carry moves an instance from the address a in one state to the address b in another. from and to may be the
// same state.
func carry(from, to *states.Editor, a, b addrs.AbsResourceInstance) {
	if from == to {
		from.MoveInstance(a, b)
		return
	}
	in := from.Current().Instance(a)
	p := from.Current().Resource(a.AbsResource()).ProviderOf(a.Resource.Key)
	if in.Current != nil {
		to.SetObject(addrs.ResourceInstanceObject{Instance: b}, p, in.Current)
	}
	for k, o := range in.Deposed {
		to.SetObject(addrs.ResourceInstanceObject{Instance: b, Deposed: k}, p, o)
	}
	from.RemoveInstance(a)
}

// moves returns the moves to make in the states. If an object already exists at a new address, that is an
// error.
func (m *movement) moves(src, dst *states.State) ([]move, diags.Diagnostics) {
	switch {
	case m.from.IsModule():
		return m.modules(src, dst)
	case m.from.Key.IsNone() && !hasSingle(src, m.from):
		return m.resource(src, dst)
	}
	return m.instance(src, dst)
}

// hasSingle reports whether the resource t in a state has neither count nor for_each.
func hasSingle(s *states.State, t addrs.Target) bool {
	r := s.Resource(addrs.AbsResource{Module: t.Module, Resource: t.Resource})
	return r != nil && r.Instances[addrs.NoKey] != nil
}

func (m *movement) modules(src, dst *states.State) ([]move, diags.Diagnostics) {
	from := m.from.Module
	byModule := map[addrs.ModuleInstance][]addrs.AbsResourceInstance{}
	for _, r := range instances(src, func(r addrs.AbsResourceInstance) bool { return from.Contains(r.Module) }) {
		byModule[r.Module] = append(byModule[r.Module], r)
	}
	switch {
	case len(byModule) == 0:
		return nil, m.noSource()
	case !m.to.IsModule():
		return nil, m.wrongTarget("the target must also be a module")
	}
	var out []move
	for in, list := range byModule {
		to := m.to.Module
		for _, s := range in.Steps()[len(from.Steps()):] {
			to = to.Child(s.Name, s.Key)
		}
		for r := range dst.Resources() {
			if r.Module == to {
				return nil, m.taken(to, "module")
			}
		}
		out = append(out, move{from: in, to: to, instances: list, target: func(r addrs.AbsResourceInstance) addrs.AbsResourceInstance {
			r.Module = to
			return r
		}})
	}
	slices.SortFunc(out, func(a, b move) int {
		return a.from.(addrs.ModuleInstance).Compare(b.from.(addrs.ModuleInstance))
	})
	return out, nil
}

func (m *movement) resource(src, dst *states.State) ([]move, diags.Diagnostics) {
	from := addrs.AbsResource{Module: m.from.Module, Resource: m.from.Resource}
	to := addrs.AbsResource{Module: m.to.Module, Resource: m.to.Resource}
	if src.Resource(from) == nil {
		return nil, m.noSource()
	}
	switch {
	case m.to.IsModule() || !m.to.Key.IsNone():
		return nil, m.wrongTarget("the source is a whole resource (not a resource instance) so the target must also be a whole resource")
	case !m.sameType():
		return nil, m.otherType()
	case dst.Resource(to) != nil:
		return nil, m.taken(to, "resource")
	}
	all := instances(src, func(r addrs.AbsResourceInstance) bool { return r.AbsResource() == from })
	return []move{{from, to, all, func(r addrs.AbsResourceInstance) addrs.AbsResourceInstance {
		return to.Instance(r.Resource.Key)
	}}}, nil
}

func (m *movement) instance(src, dst *states.State) ([]move, diags.Diagnostics) {
	from := addrs.AbsResource{Module: m.from.Module, Resource: m.from.Resource}.Instance(m.from.Key)
	to := addrs.AbsResource{Module: m.to.Module, Resource: m.to.Resource}.Instance(m.to.Key)
	if src.Instance(from) == nil {
		return nil, m.noSource()
	}
	switch {
	case m.to.IsModule():
		return nil, m.wrongTarget("the target must also be a resource instance")
	case !m.sameType():
		return nil, m.otherType()
	case dst.Instance(to) != nil:
		return nil, m.taken(to, "resource instance")
	}
	return []move{{from, to, []addrs.AbsResourceInstance{from}, func(addrs.AbsResourceInstance) addrs.AbsResourceInstance {
		return to
	}}}, nil
}

func (m *movement) sameType() bool {
	return m.from.Resource.Mode == m.to.Resource.Mode && m.from.Resource.Type == m.to.Resource.Type
}

func (m *movement) otherType() diags.Diagnostics {
	why := "resource types don't match"
	if m.from.Resource.Mode != m.to.Resource.Mode {
		why = fmt.Sprintf("a %s resource can be moved only to another %[1]s resource address", m.from.Resource.Mode)
	}
	return diags.Errorf(nil, "Invalid state move request", "Cannot move %s to %s: %s.", m.from, m.to, why)
}

func (m *movement) noSource() diags.Diagnostics {
	return diags.Errorf(nil, "Invalid source address",
		"Cannot move %s: does not match anything in the current state. \"lockstep state list\" shows what there is.", m.from)
}

func (m *movement) wrongTarget(why string) diags.Diagnostics {
	return diags.Errorf(nil, "Invalid target address", "Cannot move %s to %s: %s.", m.from, m.to, why)
}

func (m *movement) taken(to fmt.Stringer, what string) diags.Diagnostics {
	return diags.Errorf(nil, "Invalid target address",
		"Cannot move to %s: there is already a %s at that address in the current state.", to, what)
}
