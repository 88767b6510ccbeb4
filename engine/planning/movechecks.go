package planning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// checkMoves reports moved blocks that make no sense. What instances there are must be
// known, so it comes after the walk.
func (p *planner) checkMoves() diags.Diagnostics {
	var ds diags.Diagnostics
	said := moveTable{from: map[moveEnd]*config.Moved{}, to: map[moveEnd]*config.Moved{}}
	for _, m := range p.in.Config.Order {
		for _, b := range m.Moved {
			if b.From == b.To {
				ds = append(ds, diags.Errorf(&b.Range, "Redundant move statement",
					"This statement declares a move from %s to the same address, which is the same as not declaring this move at all.", b.From)...)
				continue
			}
			st := move{module: m.Addr, from: b.From, to: b.To, whole: wholeBlock(b.From) && wholeBlock(b.To)}
			if what := p.stillThere(m, &st); what != "" {
				ds = append(ds, diags.Errorf(&b.Range, "Moved object still exists",
					"This statement declares a move from %s, but that object is still declared in the configuration at %s. Change your configuration so that this object will be declared as %s instead.", b.From, what, b.To)...)
			}
			ds = append(ds, said.add(&st, b)...)
		}
	}
	if ds.HasErrors() {
		return ds
	}
	return p.circle
}

// checkTargetedMoves reports instances that got another address while the targets do not
// name both the old and the new one, or excludes name one: planned for half, an object would be lost or made twice.
func (p *planner) checkTargetedMoves() diags.Diagnostics {
	option := p.partOption()
	if option == "" {
		return nil
	}
	var left []string
	for to, from := range p.movedFrom {
		for _, a := range []addrs.AbsResourceInstance{from, to} {
			named := func(t addrs.Target) bool { return t.Contains(a) }
			if len(p.in.Targets) > 0 && !slices.ContainsFunc(p.in.Targets, named) || slices.ContainsFunc(p.in.Excludes, named) {
				left = append(left, a.String())
			}
		}
	}
	if left == nil {
		return nil
	}
	slices.Sort(left)
	remedy := "leave those out that name"
	if option == "-target" {
		remedy = "add"
	}
	var options strings.Builder
	for _, a := range slices.Compact(left) {
		fmt.Fprintf(&options, "\n  %s=%q", option, a)
	}
	return diags.Errorf(nil, "Moved resource instances excluded by targeting",
		"By the configuration, objects of the state have other addresses than they had. A plan must have both addresses of each, but the %s options leave some out. Plan without these options, or %s:%s", option, remedy, options.String())
}

// A moveEnd is an endpoint as seen from the root module.
type moveEnd struct {
	module addrs.Module // that the statement is written in
	target addrs.Target
	whole  bool // all instances, rather than the one without a key
}

// A moveTable knows what was said about each endpoint so far.
type moveTable struct{ from, to map[moveEnd]*config.Moved }

// add reports what contradicts an earlier statement: an object has one new address, and
// one address is that of one object.
func (t moveTable) add(st *move, b *config.Moved) diags.Diagnostics {
	var ds diags.Diagnostics
	from, to := moveEnd{st.module, b.From, st.whole}, moveEnd{st.module, b.To, st.whole}
	if old := t.from[from]; old == nil {
		t.from[from] = b
	} else if old.To != b.To {
		ds = append(ds, ambiguous(b, "The statement at %s says that %s moved to %s, this one that it moved to %s. It can have moved to one place only.", old.Range, b.From, old.To, b.To)...)
	}
	if old := t.to[to]; old == nil {
		t.to[to] = b
	} else if old.From != b.From {
		ds = append(ds, ambiguous(b, "The statement at %s says that %s moved to %s, this one that %s did. Only one object can have moved there.", old.Range, old.From, b.To, b.From)...)
	}
	return ds
}

func ambiguous(b *config.Moved, detail string, args ...any) diags.Diagnostics {
	return diags.Errorf(&b.Range, "Ambiguous move statements", detail, args...)
}

// stillThere returns what the configuration still has at a statement's old address. How many
// there are of what is not part of the plan is not asked.
func (p *planner) stillThere(m *config.Module, st *move) string {
	from := st.static(st.from)
	target := p.in.Config.Modules[from.Module]
	if target == nil {
		return ""
	}
	if st.from.IsModule() {
		if p.leavesOut(target) {
			return ""
		}
		ins, _ := p.s.Eval.Modules(target)
		for _, in := range ins {
			_, _, key := in.Call()
			_, _, want := st.from.Module.Call()
			if st.whole || key == want {
				return in.String()
			}
		}
		return ""
	}
	if target.Resources[from.Resource] == nil {
		return p.importedTo(st)
	}
	if !p.includes(from) {
		return ""
	}
	ins, _ := p.s.Eval.Modules(target)
	for _, in := range ins {
		abs := addrs.AbsResource{Module: in, Resource: from.Resource}
		for _, k := range p.instances.Resources[abs] {
			if to, ok := st.target(abs.Instance(k)); ok && (st.whole || k == st.from.Key) && to != abs.Instance(k) {
				return abs.Instance(k).String()
			}
		}
	}
	return ""
}

// importedTo returns the address at a statement's old end if an object is to be imported to
// it: as long as nobody wrote a block, that stands for one without count and for_each.
func (p *planner) importedTo(st *move) string {
	cr := st.static(st.from)
	if p.in.Mode != plans.NormalMode || st.from.Key != addrs.NoKey ||
		!slices.ContainsFunc(p.in.Config.Root.Imports, func(im *config.Import) bool { return im.Resource == cr }) {
		return ""
	}
	return cr.String()
}
