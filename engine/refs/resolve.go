package refs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Reference is one reference to an object in an expression, resolved within the module of the expression.
// Object.Module is always the root module here, since several module calls may share the same content.
type Reference struct {
	Object addrs.Object
	// Output is the name of the output that is referred to if Object is a call; "" means the whole call.
	Output string
	// Key is the instance key after a resource or call, if it is a literal.
	Key    addrs.InstanceKey
	HasKey bool
	// Counted is true if the expression uses only the number of the instances of a resource: `length(t.a)`.
	Counted bool
	// Rest has the steps after the object, beginning with its key if there is one.
	Rest hcl.Traversal
	// whole is the reference as written. It is nil for an implied reference, such as a resource's reference
	// to its provider.
	whole hcl.Traversal
}

// Range returns the range of the reference, or the zero Range for an implied reference.
func (r *Reference) Range() hcl.Range {
	if len(r.whole) == 0 {
		return hcl.Range{}
	}
	return r.whole.SourceRange()
}

// Named returns the range of the object's name, without the steps after it.
func (r *Reference) Named() hcl.Range {
	if len(r.whole) == 0 {
		return hcl.Range{}
	}
	return subject(r.whole, len(r.whole)-len(r.Rest))
}

// ambient has the names that need no declaration, each with the attributes that it has.
var ambient = map[string][]string{
	"each":      {"key", "value"},
	"count":     {"index"},
	"path":      {"cwd", "module", "root"},
	"terraform": {"applying", "workspace"},
	"self":      nil,
	"caller":    nil,
}

// Resolve returns the reference of a traversal written in a module. ok is false if the traversal begins with
// one of the names each, count, path, terraform, self and caller: these are not objects.
func Resolve(m *config.Module, t hcl.Traversal) (ref Reference, ok bool, ds diags.Diagnostics) {
	rng := subject(t, 2)
	ref.whole = t
	root := t.RootName()
	if attrs, is := ambient[root]; is {
		return ref, false, checkAmbient(root, attrs, t)
	}
	if (root == "data" || root == "ephemeral") && len(t) < 3 {
		return ref, false, diags.Errorf(t.SourceRange().Ptr(), "Invalid reference", "The %q object must be followed by two names, each behind a dot: a type and the name of its block.", root)
	}
	name, ds := attrName(t, 1, root)
	if ds.HasErrors() {
		return ref, false, ds
	}
	content := m.Content
	switch root {
	case "var":
		ref.Object, ref.Rest = addrs.Object{Kind: addrs.KindVariable, Name: name}, t[2:]
		if content.Variables[name] == nil {
			return ref, false, diags.Errorf(&rng, "Reference to undeclared input variable",
				"An input variable with the name %q has not been declared.%s",
				name, cmp.Or(diags.Suggest(name, maps.Keys(content.Variables)), fmt.Sprintf(" This variable can be declared with a variable %q {} block.", name)))
		}
	case "local":
		ref.Object, ref.Rest = addrs.Object{Kind: addrs.KindLocal, Name: name}, t[2:]
		if content.Locals[name] == nil {
			return ref, false, diags.Errorf(&rng, "Reference to undeclared local value",
				"A local value with the name %q has not been declared.%s", name, diags.Suggest(name, maps.Keys(content.Locals)))
		}
	case "module":
		return resolveCall(m, t, name)
	case "data", "ephemeral", "resource":
		mode := map[string]addrs.ResourceMode{"data": addrs.Data, "ephemeral": addrs.Ephemeral, "resource": addrs.Managed}[root]
		second, ds := attrName(t, 2, root+"."+name)
		if ds.HasErrors() {
			return ref, false, ds
		}
		return resolveResource(m, t, 3, addrs.Resource{Mode: mode, Type: name, Name: second})
	default:
		return resolveResource(m, t, 2, addrs.Resource{Mode: addrs.Managed, Type: root, Name: name})
	}
	return ref, true, nil
}

// resolveResource resolves a reference to a resource. The first n steps are the resource's address. The result
// is false, with an error, if the resource is not declared.
func resolveResource(m *config.Module, t hcl.Traversal, n int, r addrs.Resource) (Reference, bool, diags.Diagnostics) {
	content, rng := m.Content, subject(t, n)
	if _, indexed := at(t, n).(hcl.TraverseIndex); indexed {
		rng = subject(t, n+1)
	}
	ref := Reference{Object: addrs.Object{Kind: addrs.KindResource, Res: r}, Rest: t[n:], whole: t}
	if content.Resources[r] == nil {
		kind := map[addrs.ResourceMode]string{addrs.Managed: "managed", addrs.Data: "data", addrs.Ephemeral: "ephemeral"}[r.Mode]
		detail := fmt.Sprintf("A %s resource %q %q has not been declared in %s.", kind, r.Type, r.Name, named(m.Addr))
		other := r
		if r.Mode == addrs.Managed {
			other.Mode = addrs.Data
			if content.Resources[other] != nil {
				detail += fmt.Sprintf("\n\nDid you mean the data resource %s?", other)
			}
		}
		return ref, false, diags.Errorf(&rng, "Reference to undeclared resource", "%s", detail)
	}
	if len(ref.Rest) > 0 {
		ref.Key, ref.HasKey = literalKey(ref.Rest[0])
		if ds := checkKey(content.Resources[r], ref.Rest[0], rng); ds.HasErrors() {
			return ref, false, ds
		}
	}
	return ref, true, nil
}

// named returns a module's name for messages.
func named(m addrs.Module) string {
	if m.IsRoot() {
		return "the root module"
	}
	return m.String()
}

// checkKey returns an error about an instance key after a resource without count and for_each, or about a
// missing key after a resource with one of them.
func checkKey(r *config.Resource, step hcl.Traverser, rng hcl.Range) diags.Diagnostics {
	_, indexed := step.(hcl.TraverseIndex)
	what, example := "", ""
	switch {
	case r.Count != nil:
		what, example = "count", "[count.index]"
	case r.ForEach != nil:
		what, example = "for_each", "[each.key]"
	case indexed:
		return diags.Errorf(&rng, "Unexpected resource instance key",
			"Because %s does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource.", r.Addr)
	}
	if what == "" || indexed {
		return nil
	}
	if _, attr := step.(hcl.TraverseAttr); !attr {
		return nil
	}
	return diags.Errorf(&rng, "Missing resource instance key",
		"Because %s has %q set, its attributes must be accessed on specific instances.\n\nFor example, to correlate with indices of a referring resource, use:\n    %s%s", r.Addr, what, r.Addr, example)
}

// resolveCall resolves `module.name`, with or without key and output. The result is false, with an error, if
// the call is not declared.
func resolveCall(m *config.Module, t hcl.Traversal, name string) (Reference, bool, diags.Diagnostics) {
	ref := Reference{Object: addrs.Object{Kind: addrs.KindCall, Name: name}, Rest: t[2:], whole: t}
	content := m.Content
	if content.Calls[name] == nil {
		n := 2 // the key and the output can follow
		if _, indexed := at(t, n).(hcl.TraverseIndex); indexed {
			n++
		}
		if _, output := at(t, n).(hcl.TraverseAttr); output {
			n++
		}
		rng := subject(t, n)
		return ref, false, diags.Errorf(&rng, "Reference to undeclared module",
			"No module call named %q is declared in %s.%s", name, named(m.Addr), diags.Suggest(name, maps.Keys(content.Calls)))
	}
	rest := ref.Rest
	if len(rest) > 0 {
		a, is := rest[0].(hcl.TraverseAttr)
		switch {
		case !is:
			ref.Key, ref.HasKey = literalKey(rest[0])
			rest = rest[1:]
		case content.Calls[name].ForEach != nil: // a map: its keys may be written as names, too
			ref.Key, ref.HasKey = addrs.StringKey(a.Name), true
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		if a, is := rest[0].(hcl.TraverseAttr); is {
			ref.Output = a.Name
		}
	}
	return ref, true, nil
}

// checkAmbient checks the attribute name in a reference that begins with each, count, path or terraform.
func checkAmbient(root string, attrs []string, t hcl.Traversal) diags.Diagnostics {
	if attrs == nil {
		return nil
	}
	name, ds := attrName(t, 1, root)
	if ds.HasErrors() {
		return ds
	}
	for _, a := range attrs {
		if a == name {
			return nil
		}
	}
	rng, suggestion := subject(t, 2), ""
	if root == "path" || root == "terraform" {
		suggestion = diags.Suggest(name, slices.Values(attrs))
	}
	return diags.Errorf(&rng, fmt.Sprintf("Invalid %q attribute", root),
		"The %q object does not have an attribute named %q. %s%s", root, name, listed(attrs), suggestion)
}

func listed(attrs []string) string {
	if len(attrs) == 1 {
		return fmt.Sprintf("The only supported attribute is %q.", attrs[0])
	}
	s := "The supported attributes are "
	for i, a := range attrs {
		switch {
		case i == len(attrs)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprintf("%q", a)
	}
	return s + "."
}

// subject returns the range of the first n steps of t: of the object, without its attributes.
func subject(t hcl.Traversal, n int) hcl.Range { return t[:min(n, len(t))].SourceRange() }

// at returns step i of t; nil if t is shorter.
func at(t hcl.Traversal, i int) hcl.Traverser {
	if i >= len(t) {
		return nil
	}
	return t[i]
}

// attrName returns the attribute name at step i of t. object is the name of the steps before, for errors.
func attrName(t hcl.Traversal, i int, object string) (string, diags.Diagnostics) {
	if i >= len(t) {
		return "", diags.Errorf(t.SourceRange().Ptr(), "Invalid reference",
			"The %q object cannot be accessed directly. Instead, access one of its attributes: a name must follow, after a dot.", object)
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name, nil
	default:
		return "", diags.Errorf(s.SourceRange().Ptr(), "Invalid reference",
			"The %q object does not support this operation: a name must follow, after a dot.", object)
	}
}

// literalKey returns the instance key in a step; false if the step is not an index with a valid key.
func literalKey(s hcl.Traverser) (addrs.InstanceKey, bool) {
	x, ok := s.(hcl.TraverseIndex)
	if !ok {
		return addrs.NoKey, false
	}
	return addrs.KeyFromValue(x.Key)
}
