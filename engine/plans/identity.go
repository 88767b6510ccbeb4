package plans

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// IdentityText returns an identity in one line for people: "name=far,region=us". Attributes without a value are left out.
// It is "" for cty.NilVal and for an identity that is not known.
func IdentityText(v cty.Value) string {
	if v == cty.NilVal || v.IsNull() || !v.IsWhollyKnown() {
		return ""
	}
	attrs := v.AsValueMap()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		switch a := attrs[name]; {
		case a.IsNull():
		case a.Type() == cty.String:
			parts = append(parts, name+"="+a.AsString())
		default:
			if text, err := jsonvalues.Append(nil, a, a.Type()); err == nil {
				parts = append(parts, name+"="+string(text))
			}
		}
	}
	return strings.Join(parts, ",")
}
