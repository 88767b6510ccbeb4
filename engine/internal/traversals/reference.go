package traversals

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Resource returns the resource that a reference names. It returns false if the reference names something
// else.
func Resource(t hcl.Traversal) (addrs.Resource, bool) {
	x := addrs.Resource{Mode: addrs.Managed}
	switch word := t.RootName(); word {
	case "data":
		x.Mode, t = addrs.Data, t[1:]
	case "ephemeral":
		x.Mode, t = addrs.Ephemeral, t[1:]
	case "resource":
		t = t[1:]
	default:
		if IsKeyword(word) {
			return x, false
		}
	}
	if len(t) < 2 {
		return x, false
	}
	var ok1, ok2 bool
	x.Type, ok1 = stepName(t[0])
	x.Name, ok2 = stepName(t[1])
	return x, ok1 && ok2
}

// IsKeyword reports whether word has another meaning at the beginning of a reference than the type of a managed
// resource. Such words are, for example, "var" and "module".
func IsKeyword(word string) bool {
	switch word {
	case "var", "local", "module", "path", "terraform", "self", "caller", "each", "count", "provider":
		return true
	}
	return false
}

// RootName returns the first and the second name of a reference. next is "" if there is no second name.
func RootName(t hcl.Traversal) (word, next string) {
	word = t.RootName()
	if len(t) > 1 {
		next, _ = stepName(t[1])
	}
	return word, next
}

// ObjectSteps returns how many steps of a reference name the object itself; the other steps are a path within
// its value. It returns len(t) if the reference is too short.
func ObjectSteps(t hcl.Traversal) int {
	n, keyed, attr := 2, true, false
	switch t.RootName() {
	case "var", "local", "path", "terraform", "each", "count":
		keyed = false
	case "self":
		n, keyed = 1, false
	case "module":
		attr = true // the name of an output
	case "data", "ephemeral", "resource":
		n = 3
	}
	step := func(ok func(hcl.Traverser) bool) {
		if n < len(t) && ok(t[n]) {
			n++
		}
	}
	if keyed {
		step(func(s hcl.Traverser) bool { _, ok := s.(hcl.TraverseIndex); return ok })
	}
	if attr {
		step(func(s hcl.Traverser) bool { _, ok := s.(hcl.TraverseAttr); return ok })
	}
	return min(n, len(t))
}

// ProviderConfig reads a provider configuration, name or name.alias. It returns false for any other
// reference.
func ProviderConfig(t hcl.Traversal) (addrs.LocalProviderConfig, bool) {
	var out addrs.LocalProviderConfig
	if len(t) == 0 || len(t) > 2 || t.IsRelative() {
		return out, false
	}
	out.LocalName = t.RootName()
	if len(t) == 2 {
		alias, ok := t[1].(hcl.TraverseAttr)
		if !ok {
			return out, false
		}
		out.Alias = alias.Name
	}
	return out, true
}
