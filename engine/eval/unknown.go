package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// Unknowns are the reasons why the body of a block has unknown values.
type Unknowns struct {
	// Attributes are the resource attributes whose values are unknown, such as
	// random_password.p.result, each once, in the order of the first reference.
	Attributes []UnknownAttribute
	// Resources are the resource instances to apply before the values become known, in the same order. They
	// include the resources of Attributes, and other resources that the block refers to and that are partly
	// unknown. For example, a database user whose name is known, but not its password.
	Resources []addrs.Target
}

// An UnknownAttribute is an attribute of a resource whose value is unknown. An empty Path means the whole
// resource.
type UnknownAttribute struct {
	Resource addrs.Target
	Path     cty.Path
}

// Unknowns finds the unknown values that a *config.Provider refers to, directly or through variables, local
// values, outputs and ephemeral resources. The caller must have evaluated everything that the block refers
// to.
func (e *Evaluator) Unknowns(block *config.Provider, in addrs.ModuleInstance) Unknowns {
	u := unknowns{e: e, seen: map[visited]bool{}}
	u.all(e.phase.Refs.OfBlock(block), in, true)
	if block.ForEach != nil {
		u.all(e.phase.Refs.OfExpr(block.ForEach), in, true)
	}
	return u.found
}

// unknowns is the search of [Evaluator.Unknowns].
type unknowns struct {
	e     *Evaluator
	found Unknowns
	seen  map[visited]bool
}

// visited identifies a reference that the search has followed: the object, and whether the value was unknown
// at the reference.
type visited struct {
	in      addrs.ModuleInstance
	object  addrs.Object
	unknown bool
}

// all follows the references of an expression in a module instance. If unknown is false, the value of the
// expression is known: then the references only show what to apply first.
func (u *unknowns) all(list []refs.Reference, in addrs.ModuleInstance, unknown bool) {
	for i := range list {
		u.follow(&list[i], in, unknown)
	}
}

func (u *unknowns) follow(r *refs.Reference, in addrs.ModuleInstance, unknown bool) {
	e, m := u.e, u.e.frame(in).module
	// enter marks the object as visited. It reports whether the part of v that the reference names is unknown,
	// and whether the object was visited before.
	enter := func(v cty.Value) (is, again bool) {
		_, rest := reach(v, r.Rest)
		is = unknown && !rest.IsWhollyKnown()
		k := visited{in, r.Object, is}
		again = u.seen[k]
		u.seen[k] = true
		return is, again
	}
	switch o := r.Object; o.Kind {
	case addrs.KindResource:
		u.resource(r, in, unknown)
	case addrs.KindLocal:
		if v, ds := e.Local(in, o.Name); !ds.HasErrors() && m.Locals[o.Name] != nil {
			if is, again := enter(v); !again {
				u.all(e.phase.Refs.OfExpr(m.Locals[o.Name].Expr), in, is)
			}
		}
	case addrs.KindVariable:
		if m.Parent == nil || m.Call.Args[o.Name] == nil {
			return
		}
		if v, ds := e.Variable(in, o.Name); !ds.HasErrors() {
			if is, again := enter(v); !again {
				up := in.Parent()
				for _, x := range append(m.Call.Repetition.Expressions(), m.Call.Args[o.Name].Expr) {
					u.all(e.phase.Refs.OfExpr(x), up, is)
				}
			}
		}
	case addrs.KindCall:
		u.outputs(r, in, m.Children[o.Name], unknown)
	}
}

// outputs follows a reference to a module call. See [unknowns.all] for unknown.
func (u *unknowns) outputs(r *refs.Reference, in addrs.ModuleInstance, child *config.Module, unknown bool) {
	if child == nil {
		return
	}
	ins, ds := u.e.CallInstances(in, r.Object.Name)
	if ds.HasErrors() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(child.Outputs)) {
		if r.Output != "" && r.Output != name {
			continue
		}
		for i := range ins {
			if r.HasKey && ins[i].Key != r.Key {
				continue
			}
			inside := in.Child(r.Object.Name, ins[i].Key)
			v, ds := u.e.Output(inside, name)
			k := visited{inside, addrs.Object{Kind: addrs.KindOutput, Name: name}, unknown && !v.IsWhollyKnown()}
			if ds.HasErrors() || u.seen[k] {
				continue
			}
			u.seen[k] = true
			u.all(u.e.phase.Refs.OfExpr(child.Outputs[name].Expr), inside, k.unknown)
		}
	}
}

// resource records a reference to a resource. For an ephemeral resource, which is never applied, it follows the
// references of its block instead. See [unknowns.all] for unknown.
func (u *unknowns) resource(r *refs.Reference, in addrs.ModuleInstance, unknown bool) {
	abs := addrs.AbsResource{Module: in, Resource: r.Object.Res}
	v, ds := u.e.phase.Resource(u.e.ctx, abs, nil)
	if v = marks.Plain(v); ds.HasErrors() || v.IsWhollyKnown() {
		return
	}
	if abs.Resource.Mode == addrs.Ephemeral {
		k := visited{in, r.Object, unknown}
		if block := u.e.frame(in).module.Resources[abs.Resource]; block != nil && !u.seen[k] {
			u.seen[k] = true
			u.all(u.e.phase.Refs.OfBlock(block), in, unknown)
		}
		return
	}
	target := addrs.Target{Module: in, Resource: abs.Resource}
	rest := r.Rest
	if r.HasKey && len(rest) > 0 {
		target.Key = r.Key
		if _, v = reach(v, rest[:1]); v.IsWhollyKnown() {
			return
		}
		rest = rest[1:]
	}
	if !slices.Contains(u.found.Resources, target) {
		u.found.Resources = append(u.found.Resources, target)
	}
	path, v := reach(v, rest)
	found := func(a UnknownAttribute) bool { return a.Resource == target && a.Path.Equals(path) }
	if unknown && !v.IsWhollyKnown() && !slices.ContainsFunc(u.found.Attributes, found) {
		u.found.Attributes = append(u.found.Attributes, UnknownAttribute{target, path})
	}
}

// reach follows the steps of a reference into v until the value is unknown or has no such part. It returns the
// path of the steps that it followed, and the value at this path. Steps into an unknown value are part of the
// path: they name the part that the reference means.
func reach(v cty.Value, steps hcl.Traversal) (cty.Path, cty.Value) {
	var path cty.Path
	v = marks.Plain(v)
	for _, s := range steps {
		var next hcl.Diagnostics
		was := v
		switch s := s.(type) {
		case hcl.TraverseAttr:
			path = append(path, cty.GetAttrStep{Name: s.Name})
			v, next = hcl.GetAttr(v, s.Name, nil)
		case hcl.TraverseIndex:
			path = append(path, cty.IndexStep{Key: s.Key})
			v, next = hcl.Index(v, s.Key, nil)
		default:
			return path, v
		}
		if next.HasErrors() {
			return path[:len(path)-1], was
		}
	}
	return path, v
}
