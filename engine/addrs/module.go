package addrs

import "strings"

// Module is the static address of a module: the names of the module calls that lead to it, without the keys
// of count and for_each. The zero value is the root module. The field path joins the names with dots, which
// no name contains.
type Module struct{ path string }

// RootModule is the module of the working directory.
var RootModule = Module{}

// NewModule returns the module that these calls lead to, outermost call first.
func NewModule(calls ...string) Module { return Module{strings.Join(calls, ".")} }

// IsRoot reports whether m is the root module.
func (m Module) IsRoot() bool { return m.path == "" }

// Child returns the module that the module call with this name makes inside m.
func (m Module) Child(call string) Module {
	if m.path == "" {
		return Module{call}
	}
	return Module{m.path + "." + call}
}

// Call splits the last module call off the address m. For `module.a.module.b` it returns `module.a` and "b". It
// panics for the root module, which has no call.
func (m Module) Call() (parent Module, call string) {
	if m.path == "" {
		panic("addrs: the root module has no call")
	}
	if i := strings.LastIndexByte(m.path, '.'); i >= 0 {
		return Module{m.path[:i]}, m.path[i+1:]
	}
	return Module{}, m.path
}

// Parent returns the module that contains the call of m. For the root module it returns the root module.
func (m Module) Parent() Module {
	if m.IsRoot() {
		return m
	}
	p, _ := m.Call()
	return p
}

// Steps returns the names of the calls that lead to m, outermost first.
func (m Module) Steps() []string {
	if m.path == "" {
		return nil
	}
	return strings.Split(m.path, ".")
}

// Contains reports whether x is m or inside m.
func (m Module) Contains(x Module) bool {
	return m.path == "" || m.path == x.path || strings.HasPrefix(x.path, m.path+".")
}

// Depth returns the number of calls that lead to m: 0 for the root module.
func (m Module) Depth() int {
	if m.path == "" {
		return 0
	}
	return strings.Count(m.path, ".") + 1
}

// String returns an address such as `module.net.module.sub`; "" for the root module.
func (m Module) String() string {
	if m.path == "" {
		return ""
	}
	return "module." + strings.ReplaceAll(m.path, ".", ".module.")
}

// ModuleInstance is the address of one instance of a module: module calls with their instance keys. The zero
// value is the root module's only instance. The field path is the printed form of the address, which makes
// comparing, hashing and printing fast.
type ModuleInstance struct{ path string }

// RootModuleInstance is the only instance of the root module.
var RootModuleInstance = ModuleInstance{}

// IsRoot reports whether m is the root module's instance.
func (m ModuleInstance) IsRoot() bool { return m.path == "" }

// Child returns the instance with the given key of a module that is called inside m.
func (m ModuleInstance) Child(call string, key InstanceKey) ModuleInstance {
	s := "module." + call + key.String()
	if m.path != "" {
		s = m.path + "." + s
	}
	return ModuleInstance{s}
}

// A ModuleInstanceStep is one step of the address of a module instance: the name of a module call and an
// instance key. The address `module.net["a"].module.sub` has two steps.
type ModuleInstanceStep struct {
	Name string
	Key  InstanceKey
}

// Steps returns the calls that lead to m, outermost first.
func (m ModuleInstance) Steps() []ModuleInstanceStep {
	var out []ModuleInstanceStep
	rest := m.path
	for rest != "" {
		var s ModuleInstanceStep
		s, rest = cutStep(rest)
		out = append(out, s)
	}
	return out
}

// Call splits the last step off the address m. For `module.a.module.b["k"]` it returns `module.a`, "b" and the
// key "k". It panics for the root module.
func (m ModuleInstance) Call() (parent ModuleInstance, call string, key InstanceKey) {
	if m.path == "" {
		panic("addrs: the root module has no call")
	}
	rest := m.path
	for {
		s, next := cutStep(rest)
		if next == "" {
			head := strings.TrimSuffix(m.path[:len(m.path)-len(rest)], ".")
			return ModuleInstance{head}, s.Name, s.Key
		}
		rest = next
	}
}

// Parent returns the instance that contains the call of m's module. For the root module it returns the root
// module.
func (m ModuleInstance) Parent() ModuleInstance {
	if m.IsRoot() {
		return m
	}
	p, _, _ := m.Call()
	return p
}

// Module returns the static address of m's module.
func (m ModuleInstance) Module() Module {
	if m.path == "" {
		return Module{}
	}
	var room [64]byte // enough for most addresses, so that only the result is allocated
	names := room[:0]
	for rest := m.path; rest != ""; {
		var name string
		name, rest = cutStepName(rest)
		if len(names) > 0 {
			names = append(names, '.')
		}
		names = append(names, name...)
	}
	return Module{string(names)}
}

// Contains reports whether x is m or inside m.
func (m ModuleInstance) Contains(x ModuleInstance) bool {
	return m.path == "" || m.path == x.path || strings.HasPrefix(x.path, m.path+".")
}

// String returns an address such as `module.net["a"].module.sub[0]`; "" for the root module.
func (m ModuleInstance) String() string { return m.path }

// cutStep splits the first step off the printed form of a module instance. The form is always valid: Child
// made it, or a parser checked it.
func cutStep(s string) (ModuleInstanceStep, string) {
	s = s[len("module."):]
	i := strings.IndexAny(s, ".[")
	if i < 0 {
		return ModuleInstanceStep{Name: s}, ""
	}
	step := ModuleInstanceStep{Name: s[:i]}
	rest := s[i:]
	if rest[0] == '[' {
		var err error
		if step.Key, rest, err = cutKey(rest); err != nil {
			panic("addrs: malformed module instance: " + s)
		}
	}
	return step, strings.TrimPrefix(rest, ".")
}

// cutStepName is like cutStep, but it returns only the name of the module call, without the instance key. rest
// is the text after this step.
func cutStepName(s string) (name, rest string) {
	s = s[len("module."):]
	i := strings.IndexAny(s, ".[")
	if i < 0 {
		return s, ""
	}
	name, rest = s[:i], s[i:]
	if strings.HasPrefix(rest, `["`) {
		end := len(`["`)
		for rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		rest = rest[end+len(`"]`):]
	} else if rest[0] == '[' {
		rest = rest[strings.IndexByte(rest, ']')+1:]
	}
	return name, strings.TrimPrefix(rest, ".")
}
