package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Variant is a change to a configuration, made for a test.
type Variant struct {
	// Providers are provider blocks of the root module. They replace blocks with the same address.
	Providers []*Provider
	// Modules are the called modules that lose all their objects. The value for each module is an object that
	// has the new values of the module's outputs, by name. An output that is not in this object becomes null.
	// cty.NilVal makes all outputs null.
	Modules map[addrs.Module]cty.Value
	// Instances are single instances of modules that lose all their objects.
	Instances []ReplacedInstance
}

// A ReplacedInstance is a module instance that a test replaces by the values of its outputs.
type ReplacedInstance struct {
	// Target is the address of the instance. A step without a key stands for all instances of that step.
	Target addrs.ModuleInstance
	// Outputs is an object as in [Variant.Modules].
	Outputs cty.Value
}

// Output returns the value of an output of the instance; null if the test gives none.
func (x *ReplacedInstance) Output(name string) cty.Value { return outputOf(x.Outputs, name) }

// matches reports whether the target includes a module instance.
func (x *ReplacedInstance) matches(in addrs.ModuleInstance) bool {
	steps, own := in.Steps(), x.Target.Steps()
	if len(steps) != len(own) {
		return false
	}
	for i, s := range own {
		if s.Name != steps[i].Name || !s.Key.IsNone() && s.Key != steps[i].Key {
			return false
		}
	}
	return true
}

// Replacement returns what replaces an instance of the module; nil if nothing does.
func (m *Module) Replacement(in addrs.ModuleInstance) *ReplacedInstance {
	for i := range m.replaced {
		if m.replaced[i].matches(in) {
			return &m.replaced[i]
		}
	}
	return nil
}

// Variant returns c with a change. The result shares with c all parts that are not changed.
func (c *Config) Variant(v Variant) *Config {
	out := &Config{Modules: make(map[addrs.Module]*Module, len(c.Modules)), Files: c.Files}
	for _, m := range c.Order {
		n := *m
		n.Children = make(map[string]*Module, len(m.Children))
		if m.Parent != nil {
			if n.Parent = out.Modules[m.Parent.Addr]; n.Parent == nil {
				continue
			}
			if _, empty := v.Modules[m.Parent.Addr]; empty {
				continue
			}
			n.Parent.Children[m.Call.Name] = &n
		} else {
			n.Content = n.withProviders(v.Providers).tested()
			out.Root = &n
		}
		for _, x := range v.Instances {
			if x.Target.Module() == m.Addr {
				n.replaced = append(n.replaced, x)
			}
		}
		if outputs, empty := v.Modules[m.Addr]; empty {
			n.Content = n.emptied(outputs)
		}
		out.Modules[m.Addr] = &n
		out.Order = append(out.Order, &n)
	}
	if len(v.Modules) > 0 {
		out.dropImports(v.Modules)
	}
	return out
}

// dropImports removes the import blocks that import into one of the modules in empty, or into a module that
// does not exist.
func (c *Config) dropImports(empty map[addrs.Module]cty.Value) {
	dropped := map[*Module][]*Import{}
	for _, im := range c.Imports() {
		if _, is := empty[im.Target.Module]; is || c.Modules[im.Target.Module] == nil {
			dropped[im.In] = append(dropped[im.In], im.Import)
		}
	}
	for m, list := range dropped {
		content := *m.Content
		content.Imports = slices.DeleteFunc(slices.Clone(content.Imports), func(im *Import) bool { return slices.Contains(list, im) })
		m.Content = &content
	}
}

// tested returns the content, with outputs that may be ephemeral.
func (c *Content) tested() *Content {
	out := *c
	out.Outputs = make(map[string]*Output, len(c.Outputs))
	for name, o := range c.Outputs {
		x := *o
		x.Tested = true
		out.Outputs[name] = &x
	}
	return &out
}

// withProviders returns a copy of c that also has the provider blocks in list. A block in list replaces a block
// with the same address.
func (c *Content) withProviders(list []*Provider) *Content {
	if len(list) == 0 {
		return c
	}
	out := *c
	out.Providers = maps.Clone(c.Providers)
	for _, p := range list {
		out.Providers[p.Addr] = p
	}
	return &out
}

// emptied returns a content like c, but without resources and calls. values is an object with the values of its
// outputs; see [Variant.Modules].
func (c *Content) emptied(values cty.Value) *Content {
	out := NewContent(c.Dir)
	out.Registry = c.Registry
	out.RequiredProviders, out.Providers, out.byProvider = c.RequiredProviders, c.Providers, c.byProvider
	for name, v := range c.Variables {
		bare := *v
		bare.Validations = nil
		out.Variables[name] = &bare
	}
	for name, o := range c.Outputs {
		val := outputOf(values, name)
		out.Outputs[name] = &Output{Name: name, Sensitive: o.Sensitive, Ephemeral: o.Ephemeral, Deprecated: o.Deprecated, Expr: &hclsyntax.LiteralValueExpr{Val: val, SrcRange: o.Expr.Range()}, Range: o.Range}
	}
	return out
}

// outputOf returns the value that an object has for an output; null if it has none.
func outputOf(values cty.Value, name string) cty.Value {
	if values != cty.NilVal && values.Type().HasAttribute(name) {
		return values.GetAttr(name)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}
