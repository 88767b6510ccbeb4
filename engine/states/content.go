package states

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// SameContent reports whether s and x are equal except for lineage, serial and the version that wrote them:
// if so, writing x over s would change nothing. The JSON layout of attributes does not matter, nor does the
// order of lists without an order. Objects that both snapshots share are not compared, so the cost depends
// only on the objects that they do not share.
func (s *State) SameContent(x *State) bool {
	if s == x {
		return true
	}
	return maps.EqualFunc(s.outputs, x.outputs, sameOutput) &&
		sameChecks(s.Checks, x.Checks) &&
		sameExtra(s.Extra, x.Extra) &&
		(&comparison{a: s, b: x}).resources()
}

func sameOutput(a, b Output) bool {
	return a.Sensitive == b.Sensitive && a.Value.RawEquals(b.Value)
}

func sameExtra(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return sameJSON(x, y) })
}

// sameJSON reports whether two JSON texts have the same meaning. Numbers must be spelled in the same way: 1 and
// 1.0 are different.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if ca, cb := compact(a), compact(b); ca != nil && bytes.Equal(ca, cb) {
		return true
	}
	va, errA := decodeAny(a)
	vb, errB := decodeAny(b)
	return errA == nil && errB == nil && reflect.DeepEqual(va, vb)
}

// compact returns src in the layout and spelling of encoding/json; nil if src is not JSON.
func compact(src []byte) []byte {
	var layout, out bytes.Buffer
	if json.Compact(&layout, src) != nil {
		return nil
	}
	json.HTMLEscape(&out, layout.Bytes())
	return out.Bytes()
}

func decodeAny(src []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func sameChecks(a, b []CheckResult) bool {
	return slices.EqualFunc(sortedChecks(a), sortedChecks(b), func(x, y CheckResult) bool {
		return x.Kind == y.Kind && x.ConfigAddr == y.ConfigAddr && x.Status == y.Status &&
			slices.EqualFunc(x.Objects, y.Objects, func(p, q CheckObject) bool {
				return p.Addr == q.Addr && p.Status == q.Status && slices.Equal(p.Failures, q.Failures)
			})
	})
}

func sortedChecks(list []CheckResult) []CheckResult {
	out := slices.Clone(list)
	for i, c := range out {
		out[i].Objects = slices.SortedStableFunc(slices.Values(c.Objects), func(p, q CheckObject) int {
			return cmp.Compare(p.Addr, q.Addr)
		})
	}
	slices.SortStableFunc(out, func(x, y CheckResult) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ConfigAddr, y.ConfigAddr))
	})
	return out
}

// A comparison compares the resources of two states.
type comparison struct {
	a, b    *State
	closure *Closure // made when first needed
}

func (c *comparison) resources() bool {
	if len(c.a.resources) != len(c.b.resources) {
		return false
	}
	for addr, r := range c.a.resources {
		x := c.b.resources[addr]
		if x == r {
			continue
		}
		if x == nil || x.Provider != r.Provider || !sameExtra(x.Extra, r.Extra) || !maps.EqualFunc(r.Instances, x.Instances, c.instance) {
			return false
		}
	}
	return true
}

func (c *comparison) instance(a, b *Instance) bool {
	return a == b || a.Provider == b.Provider && c.object(a.Current, b.Current) && maps.EqualFunc(a.Deposed, b.Deposed, c.object)
}

func (c *comparison) object(a, b *Object) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil:
		return false
	}
	return a.Status == b.Status && a.SchemaVersion == b.SchemaVersion && a.CreateBeforeDestroy == b.CreateBeforeDestroy && a.SkipDestroy == b.SkipDestroy &&
		(a.AttrsJSON == nil) == (b.AttrsJSON == nil) && sameJSON(a.AttrsJSON, b.AttrsJSON) &&
		maps.Equal(a.AttrsFlat, b.AttrsFlat) &&
		samePaths(a.Sensitive, b.Sensitive) &&
		a.Identity.Equal(b.Identity) &&
		bytes.Equal(a.Private, b.Private) &&
		sameExtra(a.Extra, b.Extra) &&
		c.dependencies(a.Dependencies, b.Dependencies)
}

// Equal reports whether two identities are the same. White space and the order of members in their JSON do not
// matter.
func (a Identity) Equal(b Identity) bool {
	return a.Version == b.Version && (a.JSON == nil) == (b.JSON == nil) && sameJSON(a.JSON, b.JSON)
}

func samePaths(a, b []cty.Path) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	set := map[string]bool{}
	for _, p := range a {
		set[PathKey(p)] = false
	}
	n := 0
	for _, p := range b {
		seen, ok := set[PathKey(p)]
		if !ok {
			return false
		}
		if !seen {
			set[PathKey(p)] = true
			n++
		}
	}
	return n == len(set)
}

func (c *comparison) dependencies(a, b *Dependencies) bool {
	if a == b || a.Encoded() != nil && bytes.Equal(a.Encoded(), b.Encoded()) {
		return true
	}
	if c.closure == nil {
		c.closure = Close(func(yield func(*Dependencies) bool) {
			for _, s := range []*State{c.a, c.b} {
				for o := range s.Objects() {
					if !yield(o.Dependencies) {
						return
					}
				}
			}
		})
	}
	return slices.Equal(c.closure.List(a), c.closure.List(b))
}
