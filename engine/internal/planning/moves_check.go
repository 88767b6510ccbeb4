package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// moveExpansion gives [checkMoves] the instances that the configuration declares.
type moveExpansion interface {
	// Modules returns the instances of a module. The result is false if the plan leaves the module out: then
	// its instances are unknown.
	Modules(*config.Module) ([]addrs.ModuleInstance, bool)
	// Keys returns the instance keys of a resource. The result is false if the plan leaves the resource out.
	// The caller must not change the list.
	Keys(addrs.AbsResource) ([]addrs.InstanceKey, bool)
}

// checkMoves returns errors for moved blocks that contradict the configuration, themselves or each other. It
// runs after expansion. If imports is true, import blocks count as declarations: the target of an import
// block without a resource block counts as a resource without count and for_each.
func checkMoves(cfg *config.Config, e moveExpansion, imports bool) diags.Diagnostics {
	var ds diags.Diagnostics
	c := &moveChecker{cfg: cfg, expansion: e, imports: imports, from: map[moveEndpoint]*config.Moved{}, to: map[moveEndpoint]*config.Moved{}}
	for _, m := range cfg.Order {
		for _, b := range m.Moved {
			if b.From == b.To {
				ds = append(ds, diags.Errorf(&b.Range, "Redundant move statement",
					"This statement declares a move from %s to the same address, which is the same as not declaring this move at all.", b.From)...)
				continue
			}
			st := statedMove(m, b)
			if declared := c.declared(&st); declared != "" {
				ds = append(ds, diags.Errorf(&b.Range, "Moved object still exists",
					"This statement declares a move from %s, but that object is still declared in the configuration at %s. Change your configuration so that this object will be declared as %s instead.", b.From, declared, b.To)...)
			}
			ds = append(ds, c.unique(&st, b)...)
		}
	}
	return ds
}

// A moveChecker has the endpoints of the statements checked so far.
type moveChecker struct {
	cfg       *config.Config
	expansion moveExpansion
	imports   bool
	from, to  map[moveEndpoint]*config.Moved
}

// A moveEndpoint is one end of a statement, as seen from the root module.
type moveEndpoint struct {
	module addrs.Module // module of the statement
	target addrs.Target
	whole  bool // all instances, not just the one without a key
}

// unique returns an error for a statement that contradicts an earlier one: an object can move to only one new
// address, and only one object can move to an address.
func (c *moveChecker) unique(st *moveStatement, b *config.Moved) diags.Diagnostics {
	var ds diags.Diagnostics
	from, to := moveEndpoint{st.module, b.From, st.whole}, moveEndpoint{st.module, b.To, st.whole}
	if old := c.from[from]; old == nil {
		c.from[from] = b
	} else if old.To != b.To {
		ds = append(ds, ambiguousMove(b, "The statement at %s declares that %s moved to %s, this one that it moved to %s. It can have moved to one address only.", old.Range, b.From, old.To, b.To)...)
	}
	if old := c.to[to]; old == nil {
		c.to[to] = b
	} else if old.From != b.From {
		ds = append(ds, ambiguousMove(b, "The statement at %s declares that %s moved to %s, this one that %s did. Only one object can have moved there.", old.Range, old.From, b.To, b.From)...)
	}
	return ds
}

func ambiguousMove(b *config.Moved, detail string, args ...any) diags.Diagnostics {
	return diags.Errorf(&b.Range, "Ambiguous move statements", detail, args...)
}

// declared returns the address of an object that the configuration still declares at the old endpoint of a
// statement; "" if there is none. A statement for all instances contradicts a block even if the block has no
// instances: Terraform checks only the block.
func (c *moveChecker) declared(st *moveStatement) string {
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

// declaredCall returns what [moveChecker.declared] returns, for a statement that moves a module. m is the
// module at the old endpoint.
func (c *moveChecker) declaredCall(st *moveStatement, m *config.Module) string {
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

// imported is for a resource without a resource block at the old endpoint of a statement. If an import block
// has this resource as its target, imported returns the resource's address, otherwise "".
func (c *moveChecker) imported(st *moveStatement) string {
	cr := st.block(st.from)
	if !c.imports || st.from.Key != addrs.NoKey ||
		!slices.ContainsFunc(c.cfg.Imports(), func(im config.PlacedImport) bool { return im.Target == cr }) {
		return ""
	}
	return cr.String()
}
