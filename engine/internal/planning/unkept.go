package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// unkept warns of updates that repeat the last apply: the state has the value that the plan sets, but the
// provider has read another one. Example: a server sets a default limit that the configuration does not have,
// and the provider plans to remove it each time. The state cannot show whether the provider does not keep the
// value, or somebody has changed it outside, so the warning names both. There is one warning for each block.
func (p *planner) unkept(changes, drift []*plans.ResourceChange) diags.Diagnostics {
	if p.in.Mode != plans.NormalMode {
		return nil
	}
	stored := make(map[addrs.ResourceInstanceObject]cty.Value, len(drift))
	for _, d := range drift {
		if d.Action == plans.Update {
			stored[d.Addr] = d.Before
		}
	}
	var blocks []addrs.ConfigResource
	instances, paths := map[addrs.ConfigResource][]string{}, map[addrs.ConfigResource][]string{}
	for _, c := range changes {
		was, drifted := stored[c.Addr]
		if c.Action != plans.Update || c.Importing != nil || !drifted {
			continue
		}
		found := repeated(c.Schema, was, c.Before, c.After)
		if len(found) == 0 {
			continue
		}
		cr := c.Addr.Instance.Config()
		if instances[cr] == nil {
			blocks = append(blocks, cr)
		}
		instances[cr] = append(instances[cr], c.Addr.Instance.String())
		paths[cr] = append(paths[cr], found...)
	}
	var ds diags.Diagnostics
	for _, cr := range blocks {
		names := instances[cr]
		subject := p.in.Config.Modules[cr.Module].Resources[cr.Resource].Range.Ptr()
		more := ""
		if len(names) > maxNamed {
			more = fmt.Sprintf("\n  and %d more", len(names)-maxNamed)
		}
		slices.Sort(paths[cr])
		list := strings.Join(slices.Compact(paths[cr]), ", ")
		ds = append(ds, diags.Warningf(subject, "Update repeats the last apply",
			"The last apply gave %s the same values that this plan sets, but the provider now reads other values in:\n  - %s%s\n\nIf nobody changed the objects outside Lockstep, the provider does not keep these values, and each plan will repeat the update. To end this, ignore the attributes:\n\n  lifecycle {\n    ignore_changes = [%[1]s]\n  }",
			list, strings.Join(names[:min(len(names), maxNamed)], "\n  - "), more).At(names[0])...)
		ds[len(ds)-1].Extra = diags.Cause{Advice: true}
	}
	return ds
}

// repeated returns the arguments, and elements of maps, whose planned value equals the stored one but differs
// from the value that was read. They are spelt as in ignore_changes.
func repeated(rs *schema.Schema, stored, read, planned cty.Value) []string {
	var out []string
	if !stored.Type().IsObjectType() || !read.Type().Equals(stored.Type()) || !planned.Type().Equals(stored.Type()) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(stored.Type().AttributeTypes())) {
		if a := rs.Block.Attributes[name]; a != nil && !a.Optional && !a.Required {
			continue // the configuration does not set this attribute
		}
		s, r, p := part(stored, name), part(read, name), part(planned, name)
		hidden := s.IsMarked() || r.IsMarked() || p.IsMarked()
		s, r, p = marks.Plain(s), marks.Plain(r), marks.Plain(p)
		switch {
		case !hidden && haveElements(s, r, p):
			for _, key := range slices.Sorted(maps.Keys(union(s, r))) {
				if revertsToStored(element(s, key), element(r, key), element(p, key)) {
					out = append(out, name+schema.FormatPath(cty.Path{}.IndexString(key)))
				}
			}
		case revertsToStored(s, r, p):
			out = append(out, name)
		}
	}
	return out
}

// haveElements reports whether all three values are maps that can be compared element by element.
func haveElements(stored, read, planned cty.Value) bool {
	return stored.Type().IsMapType() && !stored.IsNull() && !read.IsNull() && planned.IsKnown() && !planned.IsNull()
}

// revertsToStored reports whether a planned value equals the stored one, although the value that was read differs
// from it.
func revertsToStored(stored, read, planned cty.Value) bool {
	return planned.IsWhollyKnown() && planned.RawEquals(stored) && !read.RawEquals(stored)
}

// part returns an attribute of an object. The object may have marks.
func part(v cty.Value, name string) cty.Value {
	plain, outer := v.Unmark()
	return plain.GetAttr(name).WithMarks(outer)
}

// union returns the keys that at least one of two maps has.
func union(a, b cty.Value) map[string]bool {
	out := map[string]bool{}
	for _, v := range []cty.Value{a, b} {
		for key := range v.AsValueMap() {
			out[key] = true
		}
	}
	return out
}

// element returns an element of a map; null if there is none.
func element(m cty.Value, key string) cty.Value {
	if v, ok := m.AsValueMap()[key]; ok {
		return v
	}
	return cty.NullVal(m.Type().ElementType())
}
