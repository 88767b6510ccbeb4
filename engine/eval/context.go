package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// context returns a context with the values of the references rs only.
func (e *Evaluator) context(rs []refs.Reference, s Scope) (*hcl.EvalContext, diags.Diagnostics) {
	f := e.frame(s.Module)
	b := builder{e: e, s: s}
	for i := range rs {
		b.add(&rs[i])
	}
	b.addCounted()
	b.addInstances()
	ctx := b.shared(f)
	if b.ds.HasErrors() {
		return nil, b.ds
	}
	return s.child(ctx), b.ds
}

// shared returns the context for the added references. Many blocks of a module refer only to variables and
// local values, and to the same ones: they share one context, which must not be changed.
func (b *builder) shared(f *frame) *hcl.EvalContext {
	if b.resources != nil || b.only != nil || b.outputs != nil {
		return &hcl.EvalContext{Variables: b.roots(f), Functions: b.e.phase.functions(f.module)}
	}
	k := strings.Join(b.vars, ",") + ";" + strings.Join(b.locals, ",")
	b.e.mu.Lock()
	ctx := f.shared[k]
	b.e.mu.Unlock()
	if ctx != nil {
		return ctx
	}
	ctx = &hcl.EvalContext{Variables: b.roots(f), Functions: b.e.phase.functions(f.module)}
	if len(b.ds) == 0 {
		b.e.mu.Lock()
		put(&f.shared, k, ctx)
		b.e.mu.Unlock()
	}
	return ctx
}

// Detached returns the context for expressions whose block or module may no longer exist. It has the names
// self, count and each with the values in s, but no variables, local values or resources.
func (e *Evaluator) Detached(m *config.Module, s Scope) *hcl.EvalContext {
	f := &frame{module: m, dir: m.Dir}
	b := builder{e: e, s: s}
	return s.child(&hcl.EvalContext{Variables: b.roots(f), Functions: e.phase.functions(m)})
}

// child returns ctx with count, each, self and extra names added.
func (s Scope) child(ctx *hcl.EvalContext) *hcl.EvalContext {
	if (s.Instance == nil || !s.Instance.HasCount && !s.Instance.HasEach) && s.Self == cty.NilVal && s.Extra == nil {
		return ctx
	}
	vars := map[string]cty.Value{}
	if s.Instance != nil {
		s.Instance.fill(vars)
	}
	if s.Self != cty.NilVal {
		vars["self"] = s.Self
	}
	for n, v := range s.Extra {
		vars[n] = v
	}
	child := ctx.NewChild()
	child.Variables = vars
	return child
}

// A builder makes the evaluation context for a set of references.
type builder struct {
	e  *Evaluator
	s  Scope
	ds diags.Diagnostics

	vars, locals []string // names, in the order of the first reference
	resources    map[addrs.Resource]cty.Value
	only         map[addrs.Resource][]addrs.InstanceKey // resources with references to single instances only, and the keys of these
	counted      []addrs.Resource                       // resources of whose instances the number is referred to
	outputs      map[string][]string                    // outputs referred to, by call; "" means all outputs
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// add adds one reference. If it refers to a whole resource, add evaluates the resource at once.
func (b *builder) add(r *refs.Reference) {
	o := r.Object
	switch o.Kind {
	case addrs.KindVariable:
		if !slices.Contains(b.vars, o.Name) {
			b.vars = append(b.vars, o.Name)
		}
	case addrs.KindLocal:
		if !slices.Contains(b.locals, o.Name) {
			b.locals = append(b.locals, o.Name)
		}
	case addrs.KindResource:
		if _, ok := b.resources[o.Res]; ok {
			return
		}
		if r.Counted && b.e.phase.Count != nil {
			b.counted = append(b.counted, o.Res)
			return
		}
		if r.HasKey {
			put(&b.only, o.Res, append(b.only[o.Res], r.Key))
			return
		}
		b.addWhole(o.Res)
	case addrs.KindCall:
		put(&b.outputs, o.Name, append(b.outputs[o.Name], r.Output))
	}
}

func (b *builder) addWhole(r addrs.Resource) {
	v, ds := b.e.phase.Resource(b.e.ctx, addrs.AbsResource{Module: b.s.Module, Resource: r}, nil)
	put(&b.resources, r, v)
	b.ds = append(b.ds, ds...)
}

// addCounted adds the resources to which all references are to the number of instances. Their values have
// unknown instances, as many as there are.
func (b *builder) addCounted() {
	for _, r := range b.counted {
		if _, ok := b.resources[r]; ok {
			continue
		}
		block := b.e.frame(b.s.Module).module.Resources[r]
		keys, ok := b.e.phase.Count(addrs.AbsResource{Module: b.s.Module, Resource: r})
		if !ok || b.only[r] != nil || block.Count == nil && block.ForEach == nil {
			b.addWhole(r)
			continue
		}
		ins, vals := make([]Instance, len(keys)), make([]cty.Value, len(keys))
		for i, k := range keys {
			ins[i].Key, vals[i] = k, cty.DynamicVal
		}
		put(&b.resources, r, b.e.CollectResource(block, ins, vals))
	}
}

// addInstances evaluates the resources to which all references have an instance key. It evaluates only the
// instances with these keys. Call it after all references were added: a reference to a whole resource needs all
// instances of the resource.
func (b *builder) addInstances() {
	for _, r := range slices.SortedFunc(maps.Keys(b.only), addrs.Resource.Compare) {
		if _, ok := b.resources[r]; ok {
			continue
		}
		v, ds := b.e.phase.Resource(b.e.ctx, addrs.AbsResource{Module: b.s.Module, Resource: r}, b.only[r])
		put(&b.resources, r, v)
		b.ds = append(b.ds, ds...)
	}
}

// roots returns the values of the references by root name: the first name of a reference, such as var or local.
// If there are errors, some are missing.
func (b *builder) roots(f *frame) map[string]cty.Value {
	root := make(map[string]cty.Value, 8)
	if b.vars != nil {
		root["var"] = b.named(f, addrs.KindVariable, b.vars, b.e.Variable)
	}
	if b.locals != nil {
		root["local"] = b.named(f, addrs.KindLocal, b.locals, b.e.Local)
	}
	if b.ds.HasErrors() {
		return nil
	}
	if b.outputs != nil {
		calls := make(map[string]cty.Value, len(b.outputs))
		for name, outs := range b.outputs {
			v, ds := b.e.call(b.s.Module, name, outs)
			b.ds = append(b.ds, ds...)
			calls[name] = v
		}
		root["module"] = cty.ObjectVal(calls)
	}
	b.addResources(root)
	root["path"] = f.pathValue(&b.e.phase.Program)
	b.e.phase.Budget.Put(root)
	root["terraform"] = b.e.terraform
	return root
}

// named returns an object with the given names and their values, which get returns: the value of var, for
// example. Many blocks of a module refer to the same values: they share one object.
func (b *builder) named(f *frame, kind addrs.ObjectKind, names []string, get func(addrs.ModuleInstance, string) (cty.Value, diags.Diagnostics)) cty.Value {
	k := namedKey{kind, strings.Join(names, ",")}
	b.e.mu.Lock()
	v, ok := f.named[k]
	b.e.mu.Unlock()
	if ok {
		return v
	}
	attrs := make(map[string]cty.Value, len(names))
	failed := false
	for _, n := range names {
		var ds diags.Diagnostics
		attrs[n], ds = get(b.s.Module, n)
		failed = failed || ds.HasErrors()
		b.ds = append(b.ds, ds...)
	}
	v = cty.ObjectVal(attrs)
	if !failed {
		b.e.mu.Lock()
		put(&f.named, k, v)
		b.e.mu.Unlock()
	}
	return v
}

// pathValue returns the value of `path`.
func (f *frame) pathValue(p *Program) cty.Value {
	f.pathOnce.Do(func() {
		f.path = cty.ObjectVal(map[string]cty.Value{
			"module": cty.StringVal(f.dir),
			"root":   cty.StringVal(p.RootDir),
			"cwd":    cty.StringVal(p.WorkingDir),
		})
	})
	return f.path
}

// addResources adds the resources by type; data sources are below data, ephemeral resources below ephemeral. A
// managed resource has two names: t_x.a and resource.t_x.a. The long name helps if a resource type has the name
// of another root, such as `data`.
func (b *builder) addResources(root map[string]cty.Value) {
	if b.resources == nil {
		return
	}
	byMode := map[addrs.ResourceMode]map[string]map[string]cty.Value{}
	for r, v := range b.resources {
		types := byMode[r.Mode]
		if types == nil {
			types = map[string]map[string]cty.Value{}
			byMode[r.Mode] = types
		}
		if types[r.Type] == nil {
			types[r.Type] = map[string]cty.Value{}
		}
		types[r.Type][r.Name] = v
	}
	for mode, types := range byMode {
		objects := make(map[string]cty.Value, len(types))
		for t, names := range types {
			objects[t] = cty.ObjectVal(names)
			if mode == addrs.Managed {
				root[t] = objects[t]
			}
		}
		switch mode {
		case addrs.Managed:
			root["resource"] = cty.ObjectVal(objects)
		case addrs.Data:
			root["data"] = cty.ObjectVal(objects)
		case addrs.Ephemeral:
			root["ephemeral"] = cty.ObjectVal(objects)
		}
	}
}

// checkScope returns an error for every reference to "each", "count", "self" or "caller" if the scope s does not have
// that name. An example is each.key in a resource without for_each.
func checkScope(ts []hcl.Traversal, s Scope) diags.Diagnostics {
	return refs.Scope{
		Count: s.Instance != nil && s.Instance.HasCount,
		Each:  s.Instance != nil && s.Instance.HasEach || s.Extra["each"] != cty.NilVal,
		Self:  s.Self != cty.NilVal,

		Caller: s.Extra["caller"] != cty.NilVal,
	}.Check(ts)
}
