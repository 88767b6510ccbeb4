package planning

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// relevance finds the attributes of resources that the changes of a plan were
// influenced by, directly or through others. It looks through module arguments and
// outputs, count and for_each, and through resources into the arguments that an
// attribute stands for.
type relevance struct {
	p     *planner
	seen  map[mention]bool
	found []plans.RelevantAttribute
	todo  []lookup
}

// A lookup is a mention whose own mentions are to be found.
type lookup struct {
	in  addrs.ModuleInstance
	ref refs.Reference
	// repeated is set instead of ref: what count or for_each of this resource mentions.
	repeated *config.Resource
}

// A mention tells apart lookups.
type mention struct {
	in       addrs.ModuleInstance
	object   addrs.Object
	output   string
	key      addrs.InstanceKey
	path     string
	repeated *config.Resource
}

// relevant returns the relevant attributes of the planned changes.
func (p *planner) relevant(outputs []*plans.OutputChange) []plans.RelevantAttribute {
	x := &relevance{p: p, seen: map[mention]bool{}}
	x.changed()
	x.outputs(outputs)
	for len(x.todo) > 0 {
		next := x.todo[len(x.todo)-1]
		x.todo = x.todo[:len(x.todo)-1]
		x.follow(next)
	}
	slices.SortFunc(x.found, func(a, b plans.RelevantAttribute) int {
		return cmp.Or(a.Resource.Compare(b.Resource), cmp.Compare(schema.FormatPath(a.Attribute), schema.FormatPath(b.Attribute)))
	})
	return x.found
}

// changed notes what the blocks of changed objects mention. A data source is one of
// those that a destroy takes away.
func (x *relevance) changed() {
	p := x.p
	done := map[addrs.AbsResource]bool{}
	from := func(abs addrs.AbsResource) {
		if done[abs] {
			return
		}
		done[abs] = true
		if m := p.in.Config.Modules[abs.Module.Module()]; m != nil && m.Resources[abs.Resource] != nil {
			x.resource(abs.Module, m, m.Resources[abs.Resource], nil)
		}
	}
	for _, c := range p.changes {
		if c.Action != plans.NoOp {
			from(c.Addr.Instance.AbsResource())
		}
	}
	if p.in.Mode == plans.DestroyMode {
		for abs := range p.prior.State().Resources() {
			if abs.Resource.Mode == addrs.Data {
				from(abs)
			}
		}
	}
}

// outputs notes what changed outputs of the root module mention, and what those of
// other modules do: nobody knows what they were before.
func (x *relevance) outputs(changes []*plans.OutputChange) {
	p := x.p
	for _, c := range changes {
		if o := p.in.Config.Root.Outputs[c.Name]; o != nil && c.Action != plans.NoOp {
			x.expr(addrs.RootModuleInstance, o.Expr)
		}
	}
	if p.in.Mode == plans.DestroyMode {
		return
	}
	for _, m := range p.in.Config.Order {
		if m.Parent == nil || len(m.Outputs) == 0 {
			continue
		}
		ins, _ := p.s.Eval.Modules(m)
		for _, in := range ins {
			for name, o := range m.Outputs {
				if p.unselected(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: name}) {
					continue
				}
				if v, ds := p.s.Eval.Output(in, name); !ds.HasErrors() && !v.IsNull() {
					x.expr(in, o.Expr)
				}
			}
		}
	}
}

// expr notes what an expression of the configuration mentions.
func (x *relevance) expr(in addrs.ModuleInstance, e hcl.Expression) {
	for _, r := range x.p.in.Refs.OfExpr(e) {
		x.note(lookup{in: in, ref: r})
	}
}

// traversals notes what the body of a resource mentions.
func (x *relevance) traversals(in addrs.ModuleInstance, m *config.Module, r *config.Resource, ts []hcl.Traversal) {
	for _, t := range ts {
		if root := t.RootName(); root == "count" || root == "each" {
			x.note(lookup{in: in, repeated: r})
			continue
		}
		if ref, ok, _ := refs.Resolve(m.Content, t); ok {
			x.note(lookup{in: in, ref: ref})
		}
	}
}

// note takes down a mention, and finds the attribute of a resource in it.
func (x *relevance) note(l lookup) {
	id := mention{in: l.in, object: l.ref.Object, output: l.ref.Output, key: l.ref.Key, repeated: l.repeated}
	var path cty.Path
	if id.object.Kind == addrs.KindResource { // what else is mentioned is followed as a whole
		path, _ = session.TraversalPath(attributePath(&l.ref))
		id.path = schema.FormatPath(path)
	}
	if x.seen[id] {
		return
	}
	x.seen[id] = true
	x.todo = append(x.todo, l)
	if l.repeated == nil && l.ref.Object.Kind == addrs.KindResource {
		x.found = append(x.found, plans.RelevantAttribute{
			Resource:  addrs.AbsResource{Module: l.in, Resource: l.ref.Object.Res}.Instance(l.ref.Key),
			Attribute: path,
		})
	}
}

// attributePath returns what follows a resource and its key.
func attributePath(r *refs.Reference) hcl.Traversal {
	if r.HasKey && r.Object.Kind == addrs.KindResource {
		return r.Rest[1:]
	}
	return r.Rest
}

// follow notes what a mentioned object mentions.
func (x *relevance) follow(l lookup) {
	m := x.p.in.Config.Modules[l.in.Module()]
	if m == nil {
		return
	}
	if l.repeated != nil {
		for _, e := range l.repeated.Repetition.Expressions() {
			x.expr(l.in, e)
		}
		return
	}
	o := l.ref.Object
	switch o.Kind {
	case addrs.KindVariable:
		if m.Parent == nil {
			return
		}
		if a := m.Call.Args[o.Name]; a != nil {
			parent, _, _ := l.in.Call()
			x.expr(parent, a.Expr)
		}
	case addrs.KindLocal:
		if v := m.Locals[o.Name]; v != nil {
			x.expr(l.in, v.Expr)
		}
	case addrs.KindCall:
		child := m.Children[o.Name]
		if child == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(child.Outputs)) {
			if l.ref.Output == "" || l.ref.Output == name {
				x.expr(l.in.Child(o.Name, l.ref.Key), child.Outputs[name].Expr)
			}
		}
	case addrs.KindResource:
		if r := m.Resources[o.Res]; r != nil {
			x.resource(l.in, m, r, attributePath(&l.ref))
		}
	}
}

// whole notes what a resource's body mentions.
func (x *relevance) whole(in addrs.ModuleInstance, m *config.Module, r *config.Resource, rs *schema.Schema) {
	if _, native := r.Body.(*hclsyntax.Body); native && r.Count == nil && r.ForEach == nil {
		for _, ref := range x.p.in.Refs.OfBlock(r) { // without count and each, these are all
			x.note(lookup{in: in, ref: ref})
		}
		return
	}
	x.traversals(in, m, r, x.p.s.Bound(r, rs).Variables())
}

// resource notes what the part of a resource's body mentions that a path leads to:
// the argument, or the block; if there is no path, or one into repeated blocks, all.
func (x *relevance) resource(in addrs.ModuleInstance, m *config.Module, r *config.Resource, path hcl.Traversal) {
	rs, _, ds := x.p.s.Schema(context.Background(), m.ResourceProvider(r).Provider, r.Addr, nil)
	if ds.HasErrors() {
		return
	}
	if len(path) == 0 {
		x.whole(in, m, r, rs)
		return
	}
	block, bodies := rs.Block, []hcl.Body{r.Body}
	for _, step := range path {
		name := stepText(step)
		if block.Attributes[name] != nil {
			for _, b := range bodies {
				got, _, _ := b.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
				if a := got.Attributes[name]; a != nil {
					x.traversals(in, m, r, a.Expr.Variables())
				}
			}
			return
		}
		n := block.Blocks[name]
		switch {
		case n == nil:
			return
		case n.Nesting == schema.NestingSingle || n.Nesting == schema.NestingGroup:
			bodies, block = x.within(in, m, r, bodies, name), n.Block
		}
	}
	for _, b := range bodies {
		x.traversals(in, m, r, block.Variables(b))
	}
}

// within returns the bodies of the blocks of a type, also of those that a dynamic
// block makes, and notes what decides how many these are.
func (x *relevance) within(in addrs.ModuleInstance, m *config.Module, r *config.Resource, bodies []hcl.Body, name string) []hcl.Body {
	var out []hcl.Body
	for _, b := range bodies {
		got, _, _ := b.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: name}, {Type: "dynamic", LabelNames: []string{"type"}}}})
		for _, found := range got.Blocks {
			if found.Type == name {
				out = append(out, found.Body)
				continue
			}
			if found.Labels[0] != name {
				continue
			}
			parts, _, _ := found.Body.PartialContent(&hcl.BodySchema{
				Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "labels"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "content"}},
			})
			for _, a := range parts.Attributes {
				x.traversals(in, m, r, a.Expr.Variables())
			}
			for _, c := range parts.Blocks {
				out = append(out, c.Body)
			}
		}
	}
	return out
}

// stepText returns the name that a step selects by.
func stepText(s hcl.Traverser) string {
	switch s := s.(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if k, err := convert.Convert(s.Key, cty.String); err == nil && k.IsKnown() && !k.IsNull() {
			return k.AsString()
		}
	}
	return ""
}
