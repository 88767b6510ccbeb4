package planning

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// relevanceInput is a configuration, and its changed parts, from which the search starts.
type relevanceInput struct {
	Config *config.Config
	Refs   *refs.Refs
	// Resources are the changed resources. Resources without a block are skipped.
	Resources []addrs.AbsResource
	// Expressions are the changed expressions outside of resources, such as the expressions of outputs.
	Expressions []relevantExpression
	// Schema returns the schema of a resource; nil if there is none. Bound returns the resource's body,
	// matched with this schema.
	Schema func(*config.Module, *config.Resource) *schema.Schema
	Bound  func(*config.Resource, *schema.Schema) *schema.Bound
}

// A relevantExpression is an expression of a module, in one instance of the module.
type relevantExpression struct {
	Module addrs.ModuleInstance
	Expr   hcl.Expression
}

// relevantAttributes finds the resource attributes that influenced the changes of a plan, so that only
// relevant drift is shown. The search goes backwards, from the expressions of what changes to the values they
// refer to. It follows module arguments and outputs, local values, count and for_each. In a resource it
// continues with the argument from which an attribute comes. It uses only references: a relevant attribute
// may have changed or not.
//
// The result is sorted and has no duplicates. An attribute without a path means a whole resource or instance.
func relevantAttributes(in relevanceInput) []plans.RelevantAttribute {
	s := &relevanceSearch{relevanceInput: in, seen: map[relevanceStep]bool{}}
	for _, abs := range in.Resources {
		if m := in.Config.Modules[abs.Module.Module()]; m != nil && m.Resources[abs.Resource] != nil {
			s.resource(abs.Module, m.Resources[abs.Resource], nil)
		}
	}
	for _, x := range in.Expressions {
		s.expression(x.Module, x.Expr)
	}
	for len(s.todo) > 0 {
		next := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.follow(next)
	}
	slices.SortFunc(s.found, func(a, b plans.RelevantAttribute) int {
		return cmp.Or(a.Resource.Compare(b.Resource), cmp.Compare(schema.FormatPath(a.Attribute), schema.FormatPath(b.Attribute)))
	})
	return s.found
}

// A relevanceSearch is one call of [relevantAttributes].
type relevanceSearch struct {
	relevanceInput
	seen  map[relevanceStep]bool
	found []plans.RelevantAttribute
	todo  []relevantReference
}

// A relevantReference is a reference in a module instance that must still be followed.
type relevantReference struct {
	in  addrs.ModuleInstance
	ref refs.Reference
	// repeated is set for references to count and each, and ref is not: it is the resource with the count or
	// for_each.
	repeated *config.Resource
}

// A relevanceStep is a reference without its source range: equal steps lead to the same attributes.
type relevanceStep struct {
	in       addrs.ModuleInstance
	object   addrs.Object
	output   string
	key      addrs.InstanceKey
	path     string
	repeated *config.Resource
}

// expression adds the references in an expression, so that the search follows them.
func (s *relevanceSearch) expression(in addrs.ModuleInstance, e hcl.Expression) {
	for _, r := range s.Refs.OfExpr(e) {
		s.add(relevantReference{in: in, ref: r})
	}
}

// traversals adds the references of a part of a resource's body.
func (s *relevanceSearch) traversals(in addrs.ModuleInstance, r *config.Resource, ts []hcl.Traversal) {
	m := s.Config.Modules[in.Module()]
	for _, t := range ts {
		if root := t.RootName(); root == "count" || root == "each" {
			s.add(relevantReference{in: in, repeated: r})
			continue
		}
		if ref, ok, _ := refs.Resolve(m, t); ok {
			s.add(relevantReference{in: in, ref: ref})
		}
	}
}

// add adds a reference that is still to be followed. If the reference names an attribute of a resource, add
// also adds the attribute to the result.
func (s *relevanceSearch) add(x relevantReference) {
	id := relevanceStep{in: x.in, object: x.ref.Object, output: x.ref.Output, key: x.ref.Key, repeated: x.repeated}
	var path cty.Path
	if id.object.Kind == addrs.KindResource { // for other objects the path does not matter
		path, _ = refs.Path(attributeOfReference(&x.ref))
		id.path = schema.FormatPath(path)
	}
	if s.seen[id] {
		return
	}
	s.seen[id] = true
	s.todo = append(s.todo, x)
	if x.repeated == nil && x.ref.Object.Kind == addrs.KindResource {
		s.found = append(s.found, plans.RelevantAttribute{
			Resource:  addrs.AbsResource{Module: x.in, Resource: x.ref.Object.Res}.Instance(x.ref.Key),
			Attribute: path,
		})
	}
}

// attributeOfReference returns the part of a reference after the resource and its key.
func attributeOfReference(r *refs.Reference) hcl.Traversal {
	if r.HasKey && r.Object.Kind == addrs.KindResource {
		return r.Rest[1:]
	}
	return r.Rest
}

// follow adds the references of the object that a reference leads to.
func (s *relevanceSearch) follow(x relevantReference) {
	m := s.Config.Modules[x.in.Module()]
	if m == nil {
		return
	}
	if x.repeated != nil {
		for _, e := range x.repeated.Repetition.Expressions() {
			s.expression(x.in, e)
		}
		return
	}
	o := x.ref.Object
	switch o.Kind {
	case addrs.KindVariable:
		if m.Parent == nil {
			return
		}
		if a := m.Call.Args[o.Name]; a != nil {
			parent, _, _ := x.in.Call()
			s.expression(parent, a.Expr)
		}
	case addrs.KindLocal:
		if v := m.Locals[o.Name]; v != nil {
			s.expression(x.in, v.Expr)
		}
	case addrs.KindCall:
		if child := m.Children[o.Name]; child != nil {
			s.outputs(x, child)
		}
	case addrs.KindResource:
		if r := m.Resources[o.Res]; r != nil {
			s.resource(x.in, r, attributeOfReference(&x.ref))
		}
	}
}

// outputs adds the references of the output that a reference to a module call names; of all outputs if it
// names none.
func (s *relevanceSearch) outputs(x relevantReference, child *config.Module) {
	for _, name := range slices.Sorted(maps.Keys(child.Outputs)) {
		if x.ref.Output == "" || x.ref.Output == name {
			s.expression(x.in.Child(x.ref.Object.Name, x.ref.Key), child.Outputs[name].Expr)
		}
	}
}
