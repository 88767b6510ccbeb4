// Package refs has the references between the objects of a configuration. References are static traversals.
// So the whole graph is known, and checked for cycles, before anything is evaluated. Each expression is
// analysed once, not once for each instance.
//
// The package does not depend on values, schemas and states. Only [Resolve] gives a traversal its meaning.
// Evaluation uses the same answers, so it can never need an object that the walk did not wait for. Start at
// [Analyze].
package refs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Refs is the reference graph of a configuration. It never changes after [Analyze].
type Refs struct {
	cfg *config.Config
	// exprs has the references of each expression. blocks has the references of each block with a body of its
	// own (*config.Resource, *config.Provider, *config.Provisioner).
	exprs  map[hcl.Expression][]Reference
	blocks map[any][]Reference
	// ofContent has all references in the content of each module.
	ofContent map[*config.Content][]*Reference
	// uses has, for the content of each module, the direct references of each object. Its addresses are
	// relative to the module. uses, declared and keyed are nil once the graph is complete.
	uses map[*config.Content]map[addrs.Object][]*Reference
	// declared has all objects in the content of each module, sorted. Their addresses are relative to the
	// module.
	declared map[*config.Content][]addrs.Object
	// direct has the edges of the whole graph.
	direct map[addrs.Object][]addrs.Object
	// imports has the objects that the import blocks for an object refer to.
	imports map[addrs.Object][]addrs.Object
	// resources has the results of [Refs.Resources].
	resources map[addrs.Object][]addrs.Object
	// keyed has the instance keys in direct references to resources. only has the instance keys in all
	// references, also through values and modules: the result of [Refs.OnlyInstances].
	keyed, only map[addrs.Object]map[addrs.Object][]addrs.InstanceKey
	callers     map[*config.Resource]bool // the actions that refer to their callers
	mistakes    map[any]diags.Diagnostics // the results of [Refs.Mistakes]
	cyclic      bool
	unused      map[*config.Provider]bool
}

// Analyze finds all references of cfg. It reports references to objects that do not exist, and cycles.
func Analyze(cfg *config.Config) (*Refs, diags.Diagnostics) { return AnalyzeWithout(cfg, nil) }

// AnalyzeWithout finds references, as [Analyze] does, but not in the provider blocks in unused, which are never
// evaluated.
func AnalyzeWithout(cfg *config.Config, unused map[*config.Provider]bool) (*Refs, diags.Diagnostics) {
	r := &Refs{
		cfg:       cfg,
		unused:    unused,
		exprs:     map[hcl.Expression][]Reference{},
		blocks:    map[any][]Reference{},
		ofContent: map[*config.Content][]*Reference{},
		uses:      map[*config.Content]map[addrs.Object][]*Reference{},
		declared:  map[*config.Content][]addrs.Object{},
		direct:    map[addrs.Object][]addrs.Object{},
		imports:   map[addrs.Object][]addrs.Object{},
		callers:   map[*config.Resource]bool{},

		keyed: map[addrs.Object]map[addrs.Object][]addrs.InstanceKey{},
		only:  map[addrs.Object]map[addrs.Object][]addrs.InstanceKey{},
	}
	var ds diags.Diagnostics
	for _, m := range cfg.Order {
		if r.uses[m.Content] == nil {
			a := analysis{r: r, module: m, content: m.Content, uses: map[addrs.Object][]*Reference{}}
			a.all()
			r.uses[m.Content] = a.uses
			r.declared[m.Content] = slices.SortedFunc(maps.Keys(a.uses), compare)
			r.ofContent[m.Content] = a.ofContent
			ds = append(ds, a.ds...)
		}
	}
	for _, m := range cfg.Order {
		r.link(m)
	}
	r.linkImports()
	order, cycles := r.sort()
	r.cyclic = len(cycles) > 0
	ds = append(ds, cycles...)
	r.closeOverResources(order)
	ds = append(ds, r.checkStatic()...)
	if ds.HasErrors() {
		for _, m := range cfg.Order {
			ds = append(ds, r.checkOutputs(m)...)
		}
	}
	r.uses, r.declared, r.keyed = nil, nil, nil // no longer needed
	return r, ds
}

// Cyclic reports whether there are cycles. If so, nothing can be evaluated.
func (r *Refs) Cyclic() bool { return r.cyclic }

// OfExpr returns the references of an expression of the configuration.
func (r *Refs) OfExpr(x hcl.Expression) []Reference { return r.exprs[x] }

// OfBlock returns the references of the body of a *config.Resource, *config.Provider or
// *config.Provisioner, or of the config block of a *config.List.
func (r *Refs) OfBlock(block any) []Reference { return r.blocks[block] }

// Mistakes returns the errors about references in the contents of dynamic blocks of a block, as for [Refs.OfBlock].
// [Analyze] reports them as warnings. Each becomes an error if its dynamic block makes a block.
func (r *Refs) Mistakes(block any) diags.Diagnostics { return r.mistakes[block] }

// OfContent returns all references to resources and module calls in the expressions of a module's content,
// except those in depends_on and replace_triggered_by.
func (r *Refs) OfContent(c *config.Content) []*Reference { return r.ofContent[c] }

// Direct returns the objects that o itself refers to. The caller must not change the result.
func (r *Refs) Direct(o addrs.Object) []addrs.Object { return r.direct[o] }

// Imports returns the objects that the import blocks for a resource refer to. The import needs them, but they
// do not become stored dependencies of the resource. The caller must not change the result.
func (r *Refs) Imports(o addrs.Object) []addrs.Object { return r.imports[o] }

// Resources returns the resources and provider configurations that o depends on, either directly or through
// variables, local values, outputs and module calls only. The order is stable. The caller must not change the
// result.
func (r *Refs) Resources(o addrs.Object) []addrs.Object {
	return r.resources[o]
}

// link adds the edges of the graph that begin at objects of the module m.
func (r *Refs) link(m *config.Module) {
	for _, o := range r.declared[m.Content] {
		uses := r.uses[m.Content][o]
		o.Module = m.Addr
		r.direct[o] = r.edges(r.direct[o], m, uses)
		r.keys(m, o, uses)
	}
	if m.Parent == nil {
		return
	}
	call := addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindCall, Name: m.Call.Name}
	inside := addrs.Object{Module: m.Parent.Addr, Kind: addrs.KindInside, Name: m.Call.Name}
	for _, o := range r.declared[m.Content] {
		o.Module = m.Addr
		if o.Kind != addrs.KindProvider {
			r.direct[o] = append(r.direct[o], call)
		}
		if o.Kind == addrs.KindVariable {
			if a := m.Call.Args[o.Name]; a != nil {
				var uses []*Reference
				for i := range r.exprs[a.Expr] {
					u := &r.exprs[a.Expr][i]
					uses = append(uses, u)
				}
				r.direct[o] = r.edges(r.direct[o], m.Parent, uses)
				r.keys(m.Parent, o, uses)
			}
		}
		if o.Kind != addrs.KindProvider && o.Kind != addrs.KindCall {
			r.direct[inside] = append(r.direct[inside], o)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Children)) {
		r.direct[inside] = append(r.direct[inside], addrs.Object{Module: m.Addr, Kind: addrs.KindInside, Name: name})
	}
	r.direct[inside] = append(r.direct[inside], call)
}

// linkImports records the references of the import blocks.
func (r *Refs) linkImports() {
	for _, im := range r.cfg.Imports() {
		m := r.cfg.Modules[im.Target.Module]
		if m == nil || m.Resources[im.Target.Resource] == nil {
			continue
		}
		o := im.Target.Object()
		var uses []*Reference
		for _, x := range []hcl.Expression{im.ID, im.Identity, im.ForEach} {
			for i := range r.exprs[x] {
				uses = append(uses, &r.exprs[x][i])
			}
		}
		if len(uses) > 0 {
			r.imports[o] = r.edges(r.imports[o], im.In, uses)
		}
	}
}

// edges appends to out the objects that the given references in m refer to, each object once.
func (r *Refs) edges(out []addrs.Object, m *config.Module, uses []*Reference) []addrs.Object {
	set := objectSet{list: out}
	for _, u := range uses {
		if o, ok := r.object(m, u); ok {
			set.add(o)
		}
	}
	return slices.Clip(set.list)
}

// An objectSet collects objects, each once, in the order in which they are added.
type objectSet struct {
	list []addrs.Object
	seen map[addrs.Object]bool // nil while the list is short enough to search
}

func (s *objectSet) add(o addrs.Object) {
	const few = 16 // up to this length, searching a list is faster than a map
	switch {
	case s.seen[o] || s.seen == nil && slices.Contains(s.list, o):
		return
	case s.seen != nil:
		s.seen[o] = true
	case len(s.list) >= few:
		s.seen = make(map[addrs.Object]bool, 2*few)
		for _, x := range s.list {
			s.seen[x] = true
		}
		s.seen[o] = true
	}
	s.list = append(s.list, o)
}

// object returns the object that a reference in m refers to, as an address in the whole tree. The result is
// false if there is none.
func (r *Refs) object(m *config.Module, u *Reference) (addrs.Object, bool) {
	o := u.Object
	o.Module = m.Addr
	switch o.Kind {
	case addrs.KindCall:
		child := m.Children[o.Name]
		if u.Output == "" || child != nil && child.Outputs[u.Output] == nil {
			// The output does not exist. When the expression is evaluated, its functions decide whether that is
			// an error: try() and can() accept it.
			o.Kind = addrs.KindInside
			return o, true
		}
		return addrs.Object{Module: m.Addr.Child(o.Name), Kind: addrs.KindOutput, Name: u.Output}, true
	case addrs.KindProvider:
		// The provider block may be in another module: one that calls m, directly or not.
		pc := m.ProviderConfig(localConfig(o.Name))
		up := r.cfg.Modules[pc.Module]
		for local := range up.Providers {
			if local.Alias == pc.Alias && up.ProviderOf(local.LocalName) == pc.Provider {
				return addrs.Object{Module: pc.Module, Kind: addrs.KindProvider, Name: local.String()}, true
			}
		}
		return addrs.Object{}, false
	}
	return o, true
}

func localConfig(s string) addrs.LocalProviderConfig {
	name, alias, _ := strings.Cut(s, ".")
	return addrs.LocalProviderConfig{LocalName: name, Alias: alias}
}

// checkOutputs finds references to outputs that the called module does not have. Evaluation also finds such
// references, but accepts them within the functions try and can. So checkOutputs is only for configurations
// that are not evaluated because of other errors.
func (r *Refs) checkOutputs(m *config.Module) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, o := range r.declared[m.Content] {
		for _, u := range r.uses[m.Content][o] {
			if u.Object.Kind != addrs.KindCall || u.Output == "" {
				continue
			}
			child := m.Children[u.Object.Name]
			if child == nil || child.Outputs[u.Output] != nil {
				continue
			}
			i := 2 // after the key, if there is one
			if _, attr := u.whole[i].(hcl.TraverseAttr); !attr || u.HasKey {
				i++
			}
			ds = append(ds, diags.Errorf(at(u.whole, i).SourceRange().Ptr(), "Unsupported attribute",
				"This object does not have an attribute named %q: module %q has no such output.%s",
				u.Output, u.Object.Name, diags.Suggest(u.Output, maps.Keys(child.Outputs)))...)
		}
	}
	return ds
}

// sort returns all objects, each after the objects that it refers to, and the errors about cycles.
func (r *Refs) sort() ([]addrs.Object, diags.Diagnostics) {
	const active, done = 1, 2
	var (
		ds    diags.Diagnostics
		order []addrs.Object
		mark  = make(map[addrs.Object]byte, len(r.direct))
		stack []addrs.Object
		visit func(addrs.Object)
	)
	visit = func(o addrs.Object) {
		mark[o] = active
		stack = append(stack, o)
		next := r.direct[o]
		if more := r.imports[o]; more != nil {
			next = slices.Concat(next, more)
		}
		for _, u := range next {
			switch {
			case u == o && o.Kind == addrs.KindResource:
				// Planning refuses a resource that refers to itself, with a better message.
			case mark[u] == active:
				ds = append(ds, r.cycle(stack[slices.Index(stack, u):])...)
			case mark[u] == 0:
				visit(u)
			}
		}
		stack = stack[:len(stack)-1]
		mark[o] = done
		order = append(order, o)
	}
	for _, m := range r.cfg.Order {
		for _, o := range r.declared[m.Content] {
			o.Module = m.Addr
			if mark[o] == 0 {
				visit(o)
			}
		}
	}
	return order, ds
}

// cycle returns the error about a cycle of references, at the range of one of them.
func (r *Refs) cycle(path []addrs.Object) diags.Diagnostics {
	var names []string
	var place *hcl.Range
	for i, o := range path {
		if o.Kind != addrs.KindInside {
			names = append(names, o.String())
		}
		if place == nil {
			place = r.rangeOf(o, path[(i+1)%len(path)])
		}
	}
	summary := "Cycle: " + strings.Join(names, ", ")
	if len(path) == 1 && path[0].Kind == addrs.KindLocal {
		summary = "Self-referencing local value"
	}
	return diags.Errorf(place, summary,
		"Each of these needs the value of the next one, and the last one needs that of the first: %s. Break the cycle by removing one of these references.",
		strings.Join(append(slices.Clone(names), names[0]), " -> "))
}

// rangeOf returns the range of a reference from o to u; nil if there is none.
func (r *Refs) rangeOf(o, u addrs.Object) *hcl.Range {
	m := r.cfg.Modules[o.Module]
	if m == nil {
		return nil
	}
	local := o
	local.Module = addrs.RootModule
	for _, x := range r.uses[m.Content][local] {
		if at, ok := r.object(m, x); ok && at == u && x.whole != nil {
			return x.Range().Ptr()
		}
	}
	return nil
}

// closeOverResources computes Resources for every object. The parameter order has each object after the
// objects that it refers to (as far as there are no cycles).
func (r *Refs) closeOverResources(order []addrs.Object) {
	r.resources = make(map[addrs.Object][]addrs.Object, len(order))
	for _, o := range order {
		r.closeOverInstances(o)
		var found objectSet
		for _, u := range r.direct[o] {
			if u.Kind == addrs.KindResource || u.Kind == addrs.KindProvider {
				if u != o {
					found.add(u)
				}
				continue
			}
			for _, x := range r.resources[u] {
				if x != o {
					found.add(x)
				}
			}
		}
		r.resources[o] = slices.Clip(found.list)
	}
}

// compare orders the objects of one module's content.
func compare(a, b addrs.Object) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	if a.Kind == addrs.KindResource || a.Kind == addrs.KindAction {
		return a.Res.Compare(b.Res)
	}
	return strings.Compare(a.Name, b.Name)
}

// DependsOn returns the resources that a resource waits for because of depends_on: its own depends_on, and the
// depends_on of every module call around it. If depends_on names a module, the result has all resources in the
// module. If it names a value, such as an output of a module, the result has the resources on which the value
// depends.
func (r *Refs) DependsOn(m *config.Module, res *config.Resource) []addrs.Object {
	var out []addrs.Object
	seen := map[addrs.Object]bool{}
	var visit func(o addrs.Object)
	visit = func(o addrs.Object) {
		if seen[o] {
			return
		}
		seen[o] = true
		if o.Kind == addrs.KindResource {
			out = append(out, o)
			return
		}
		for _, u := range r.direct[o] {
			visit(u)
		}
	}
	add := func(m *config.Module, ts []hcl.Traversal) {
		for _, t := range ts {
			if ref, ok, _ := Resolve(m, t); ok {
				if o, ok := r.object(m, &ref); ok {
					visit(o)
				}
			}
		}
	}
	add(m, res.DependsOn)
	for ; m.Parent != nil; m = m.Parent {
		add(m.Parent, m.Call.DependsOn)
	}
	return out
}
