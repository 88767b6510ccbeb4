package planning

import (
	"context"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refactoring"
)

// removed plans what removed blocks say about a resource without block: true if
// one applies that leaves the objects alone.
func (p *planner) removed(ctx context.Context, b *block, list []addrs.AbsResourceInstance) (bool, diags.Diagnostics) {
	if p.in.Mode == plans.RefreshOnlyMode || !refactoring.Forgets(p.in.Config, b.cr) {
		return false, nil
	}
	var ds diags.Diagnostics
	for _, addr := range list {
		if !p.selected.HasInstance(addr) {
			continue
		}
		b, more := b.stored(ctx, addr)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		for _, obj := range p.objectsOf(addr) {
			o := p.object(obj)
			// What becomes of the object is no concern of ours any more: it is not read.
			before, more := p.s.Decode(ctx, b.client, addr, b.rs, o)
			if ds = append(ds, b.complete(more, addr)...); more.HasErrors() {
				continue
			}
			reason := plans.ReasonNone
			if obj.Deposed == addrs.NotDeposed {
				reason = p.orphanReason(addr)
			}
			p.record(&plans.ResourceChange{
				Addr: obj, Provider: b.pc, Schema: b.rs, StoredDeps: o.Dependencies,
				Reason: reason,
				Change: plans.Change{Action: plans.Forget, Before: before, After: b.rs.Block.NullValue()},
			})
		}
	}
	return true, ds
}

// forgetWarnings says which objects will be on their own.
func (p *planner) forgetWarnings() diags.Diagnostics {
	var list []string
	for _, c := range p.changes {
		if c.Action == plans.Forget {
			list = append(list, "\n - "+c.Addr.String())
		}
	}
	if list == nil {
		return nil
	}
	return diags.Warningf(nil, "Some objects will no longer be managed by Lockstep",
		"The state will forget these objects, which go on to exist:%s\n\nTo bring one back under management, import it.", strings.Join(list, ""))
}

// objectsOf returns all objects of an instance.
func (p *planner) objectsOf(addr addrs.AbsResourceInstance) []addrs.ResourceInstanceObject {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.prior.Current().Instance(addr)
	var out []addrs.ResourceInstanceObject
	if in == nil {
		return nil
	}
	if in.Current != nil {
		out = append(out, addrs.ResourceInstanceObject{Instance: addr})
	}
	for k := range in.Deposed {
		out = append(out, addrs.ResourceInstanceObject{Instance: addr, Deposed: k})
	}
	slices.SortFunc(out, func(a, b addrs.ResourceInstanceObject) int {
		if a.Deposed < b.Deposed {
			return -1
		}
		return 1
	})
	return out
}
