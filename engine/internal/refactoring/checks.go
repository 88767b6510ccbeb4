package refactoring

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Expansion tells [Check] the instances that the configuration declares.
type Expansion interface {
	// Modules returns the instances of a module. It is false if the plan leaves the module out;
	// there are no instances then.
	Modules(*config.Module) ([]addrs.ModuleInstance, bool)
	// Keys returns the instance keys of a resource. It is false if the plan leaves the resource out.
	// The list is not changed.
	Keys(addrs.AbsResource) ([]addrs.InstanceKey, bool)
}

// Check reports moved blocks that contradict the configuration, themselves or each other. It
// comes after expansion. Import blocks count as declarations of resources if imports is true:
// as long as there is no block, one stands for a resource without count and for_each.
func Check(cfg *config.Config, e Expansion, imports bool) diags.Diagnostics {
	var ds diags.Diagnostics
	c := &checker{cfg: cfg, expansion: e, imports: imports, from: map[endpoint]*config.Moved{}, to: map[endpoint]*config.Moved{}}
	for _, m := range cfg.Order {
		for _, b := range m.Moved {
			if b.From == b.To {
				ds = append(ds, diags.Errorf(&b.Range, "Redundant move statement",
					"This statement declares a move from %s to the same address, which is the same as not declaring this move at all.", b.From)...)
				continue
			}
			st := stated(m, b)
			if declared := c.declared(&st); declared != "" {
				ds = append(ds, diags.Errorf(&b.Range, "Moved object still exists",
					"This statement declares a move from %s, but that object is still declared in the configuration at %s. Change your configuration so that this object will be declared as %s instead.", b.From, declared, b.To)...)
			}
			ds = append(ds, c.unique(&st, b)...)
		}
	}
	return ds
}

// A checker knows the endpoints of the statements so far.
type checker struct {
	cfg       *config.Config
	expansion Expansion
	imports   bool
	from, to  map[endpoint]*config.Moved
}

// An endpoint is one end of a statement, as seen from the root module.
type endpoint struct {
	module addrs.Module // of the statement
	target addrs.Target
	whole  bool // all instances, rather than the one without a key
}

// unique reports a statement that contradicts an earlier one: an object has one new address,
// and an address is the new one of one object.
func (c *checker) unique(st *statement, b *config.Moved) diags.Diagnostics {
	var ds diags.Diagnostics
	from, to := endpoint{st.module, b.From, st.whole}, endpoint{st.module, b.To, st.whole}
	if old := c.from[from]; old == nil {
		c.from[from] = b
	} else if old.To != b.To {
		ds = append(ds, ambiguous(b, "The statement at %s declares that %s moved to %s, this one that it moved to %s. It can have moved to one address only.", old.Range, b.From, old.To, b.To)...)
	}
	if old := c.to[to]; old == nil {
		c.to[to] = b
	} else if old.From != b.From {
		ds = append(ds, ambiguous(b, "The statement at %s declares that %s moved to %s, this one that %s did. Only one object can have moved there.", old.Range, old.From, b.To, b.From)...)
	}
	return ds
}

func ambiguous(b *config.Moved, detail string, args ...any) diags.Diagnostics {
	return diags.Errorf(&b.Range, "Ambiguous move statements", detail, args...)
}

// declared returns the address of an object that the configuration still declares at the
// old end of a statement; "" if there is none. A statement of all instances contradicts a block
// that has none, too: Terraform looks for the block then, not for its instances.
func (c *checker) declared(st *statement) string {
	from := st.block(st.from)
	m := c.cfg.Modules[from.Module]
	switch {
	case m == nil:
		return ""
	case st.from.IsModule():
		return c.declaredCall(st, m)
	case m.Resources[from.Resource] == nil:
		return c.imported(st)
	}
	modules, _ := c.expansion.Modules(m)
	for _, in := range modules {
		abs := addrs.AbsResource{Module: in, Resource: from.Resource}
		keys, expanded := c.expansion.Keys(abs)
		if st.whole && expanded && len(keys) == 0 {
			keys = []addrs.InstanceKey{addrs.NoKey}
		}
		for _, k := range keys {
			if !st.whole && k != st.from.Key {
				continue
			}
			if to, ok := st.target(abs.Instance(k)); ok && to != abs.Instance(k) {
				return abs.Instance(k).String()
			}
		}
	}
	return ""
}

// declaredCall is [checker.declared] for a module.
func (c *checker) declaredCall(st *statement, m *config.Module) string {
	instances, expanded := c.expansion.Modules(m)
	if st.whole && expanded && len(instances) == 0 {
		parents, _ := c.expansion.Modules(m.Parent)
		for _, p := range parents {
			return p.Child(m.Call.Name, addrs.NoKey).String()
		}
	}
	_, _, want := st.from.Module.Call()
	for _, in := range instances {
		if _, _, key := in.Call(); st.whole || key == want {
			return in.String()
		}
	}
	return ""
}

// imported is [checker.declared] for a resource that only an import block declares.
func (c *checker) imported(st *statement) string {
	cr := st.block(st.from)
	if !c.imports || st.from.Key != addrs.NoKey ||
		!slices.ContainsFunc(c.cfg.Root.Imports, func(im *config.Import) bool { return im.Resource == cr }) {
		return ""
	}
	return cr.String()
}
