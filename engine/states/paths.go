package states

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// PathKey returns a path as text, like `.disk[0].tags["a"]`. Different paths have different texts. It is for
// keys of maps and for sorting.
func PathKey(p cty.Path) string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteByte('.')
			b.WriteString(step.Name)
		case cty.IndexStep:
			switch k := step.Key; {
			case !k.IsKnown() || k.IsNull():
				b.WriteString("[]")
			case k.Type() == cty.String:
				b.WriteString(addrs.StringKey(k.AsString()).String())
			case k.Type() == cty.Number:
				b.WriteByte('[')
				b.WriteString(k.AsBigFloat().Text('f', -1))
				b.WriteByte(']')
			default: // an element of a set
				b.WriteByte('[')
				b.WriteString(k.GoString())
				b.WriteByte(']')
			}
		}
	}
	return b.String()
}

// SortPaths sorts paths by their [PathKey], in place, and removes duplicates. Values return their marked
// paths in random order, so objects must sort them to be written alike.
func SortPaths(paths []cty.Path) []cty.Path {
	if len(paths) < 2 {
		return paths
	}
	type keyed struct {
		key  string
		path cty.Path
	}
	all := make([]keyed, len(paths))
	for i, p := range paths {
		all[i] = keyed{PathKey(p), p}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	all = slices.CompactFunc(all, func(a, b keyed) bool { return a.key == b.key })
	for i, k := range all {
		paths[i] = k.path
	}
	return paths[:len(all)]
}
