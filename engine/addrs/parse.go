package addrs

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ValidIdentifier reports whether s can be the name of a block.
func ValidIdentifier(s string) bool { return utf8.ValidString(s) && hclsyntax.ValidIdentifier(s) }

// ParseAbsResourceInstance reads an address like `module.net["a"].data.type.name[0]`.
func ParseAbsResourceInstance(s string) (AbsResourceInstance, error) {
	t, err := ParseTarget(s)
	if err != nil {
		return AbsResourceInstance{}, err
	}
	if t.Resource == (Resource{}) {
		return AbsResourceInstance{}, fmt.Errorf("invalid resource address %q: it names a module, a resource instance is needed", s)
	}
	return AbsResourceInstance{t.Module, ResourceInstance{t.Resource, t.Key}}, nil
}

// ParseAction reads the address of an action block in a module instance, or of one instance of the block,
// like `module.net["a"].action.type.name[0]`. An address without a key means every instance.
func ParseAction(s string) (AbsResourceInstance, error) {
	m, rest, err := cutModule(s)
	if err != nil {
		return AbsResourceInstance{}, fmt.Errorf("invalid action address %q: %w", s, err)
	}
	own, ok := strings.CutPrefix(rest, "action.")
	if !ok {
		return AbsResourceInstance{}, fmt.Errorf("invalid action address %q: an action is named action.TYPE.NAME, after the modules that it is in", s)
	}
	t := Target{Module: m, Resource: Resource{Mode: Action}}
	if err := t.parseNames(own, "action"); err != nil {
		return AbsResourceInstance{}, fmt.Errorf("invalid action address %q: %w", s, err)
	}
	return AbsResourceInstance{t.Module, ResourceInstance{t.Resource, t.Key}}, nil
}

// ParseModuleInstance reads an address like `module.net["a"].module.sub`; "" is the root.
func ParseModuleInstance(s string) (ModuleInstance, error) {
	if s == "" {
		return RootModuleInstance, nil
	}
	m, rest, err := cutModule(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("unexpected %q", rest)
	}
	if err != nil {
		return ModuleInstance{}, fmt.Errorf("invalid module address %q: %w", s, err)
	}
	return m, nil
}

// A Target is an address in the options -target and -replace, and in moved blocks: a module instance
// (Resource is zero), a resource, or one instance of a resource. If the last part has no key, the Target
// means every instance.
type Target struct {
	Module   ModuleInstance
	Resource Resource
	Key      InstanceKey
}

// IsModule reports whether t is the address of a module rather than a resource.
func (t Target) IsModule() bool { return t.Resource == (Resource{}) }

// String returns the address as it was parsed.
func (t Target) String() string {
	if t.IsModule() {
		return t.Module.String()
	}
	return AbsResourceInstance{t.Module, ResourceInstance{t.Resource, t.Key}}.String()
}

// Contains reports whether t includes the instance x. If the last part of t (the resource or the module) has no
// key, t includes all instances of that part. A module before the last part means exactly one instance. For
// example, `module.m.type.name` means only `module.m` without a key: it includes nothing if module.m has count,
// as in Terraform 1.11.
func (t Target) Contains(x AbsResourceInstance) bool {
	if !t.IsModule() {
		return t.Module == x.Module && t.Resource == x.Resource.Resource && (t.Key.IsNone() || t.Key == x.Resource.Key)
	}
	if t.Module.IsRoot() {
		return true
	}
	rest, ok := strings.CutPrefix(x.Module.path, t.Module.path)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// ParseTarget reads the address of a module or resource, with or without keys. As in Terraform, the type of a
// managed resource may follow "resource.".
func ParseTarget(s string) (Target, error) {
	t, err := parseTarget(s)
	if err != nil {
		return Target{}, fmt.Errorf("invalid address %q: %w", s, err)
	}
	return t, nil
}

func parseTarget(s string) (Target, error) {
	m, rest, err := cutModule(s)
	if err != nil {
		return Target{}, err
	}
	t := Target{Module: m}
	if rest == "" {
		if m.IsRoot() {
			return t, fmt.Errorf("it is empty")
		}
		return t, nil
	}
	t.Resource.Mode = Managed
	if r, ok := strings.CutPrefix(rest, "data."); ok {
		t.Resource.Mode, rest = Data, r
	} else if r, ok := strings.CutPrefix(rest, "ephemeral."); ok {
		t.Resource.Mode, rest = Ephemeral, r
	} else {
		rest = strings.TrimPrefix(rest, "resource.")
	}
	err = t.parseNames(rest, "resource")
	return t, err
}

// parseNames reads the part `type.name[key]` of an address. The parameter what is the word for messages:
// resource or action.
func (t *Target) parseNames(rest, what string) (err error) {
	var ok bool
	if t.Resource.Type, rest, ok = cutName(rest); !ok {
		return fmt.Errorf("the %s type is expected at %q", what, rest)
	}
	if !strings.HasPrefix(rest, ".") {
		return fmt.Errorf("the %s type must be followed by a dot and a name", what)
	}
	if t.Resource.Name, rest, ok = cutName(rest[1:]); !ok {
		return fmt.Errorf("the %s name is expected at %q", what, rest)
	}
	if t.Key, rest, err = cutKey(rest); err != nil {
		return err
	}
	if rest != "" {
		return fmt.Errorf("unexpected %q after the %s instance", rest, what)
	}
	return nil
}

// ParseConfigResource reads an address like `module.net.data.type.name`. It drops instance keys, which old
// state files have in dependencies.
func ParseConfigResource(s string) (ConfigResource, error) {
	t, err := ParseTarget(s)
	if err != nil {
		return ConfigResource{}, err
	}
	if t.IsModule() {
		return ConfigResource{}, fmt.Errorf("invalid resource address %q: it names a module, a resource is needed", s)
	}
	return ConfigResource{t.Module.Module(), t.Resource}, nil
}

// cutModule reads module steps from the front of s and returns the rest.
func cutModule(s string) (ModuleInstance, string, error) {
	var m ModuleInstance
	for strings.HasPrefix(s, "module.") {
		name, rest, ok := cutName(s[len("module."):])
		if !ok {
			return m, s, fmt.Errorf("a module name is expected at %q", s)
		}
		key, rest, err := cutKey(rest)
		if err != nil {
			return m, s, err
		}
		m = m.Child(name, key)
		if rest == "" {
			return m, "", nil
		}
		if rest[0] != '.' || len(rest) == 1 {
			return m, s, fmt.Errorf("unexpected %q after %s", rest, m)
		}
		s = rest[1:]
	}
	return m, s, nil
}

// cutName reads an identifier from the front of s and returns the rest. ok is false if s begins with something
// else.
func cutName(s string) (name, rest string, ok bool) {
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], ValidIdentifier(s[:end])
}
