package converting

import (
	"reflect"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// A Target is a type constraint as an argument of the function convert.
type Target struct {
	Type     cty.Type
	Defaults *typeexpr.Defaults // defaults of optional attributes; nil if there are none
}

// TargetType is the cty type of a Target: a capsule around a *Target.
var TargetType = cty.CapsuleWithOps("type constraint", reflect.TypeFor[Target](), &cty.CapsuleOps{
	RawEquals: func(a, b any) bool { return a.(*Target).Type.Equals(b.(*Target).Type) },
	HashKey:   func(v any) string { return v.(*Target).Type.GoString() },
})

// Convert returns v converted to the target's type, with the target's defaults filled in.
func (t *Target) Convert(v cty.Value) (cty.Value, error) {
	if t.Defaults != nil && !v.IsNull() {
		v = t.Defaults.Apply(v)
	}
	return Convert(v, t.Type)
}
