package converting

import (
	"reflect"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// A Target is a type constraint as the value of an argument: that of the function convert.
type Target struct {
	Type     cty.Type
	Defaults *typeexpr.Defaults // of optional attributes; nil if there are none
}

// TargetType is the type of such a value, a capsule around a *Target.
var TargetType = cty.CapsuleWithOps("type constraint", reflect.TypeFor[Target](), &cty.CapsuleOps{
	RawEquals: func(a, b any) bool { return a.(*Target).Type.Equals(b.(*Target).Type) },
	HashKey:   func(v any) string { return v.(*Target).Type.GoString() },
})

// Convert returns v as a value of the target's type, with its defaults.
func (t *Target) Convert(v cty.Value) (cty.Value, error) {
	if t.Defaults != nil && !v.IsNull() {
		v = t.Defaults.Apply(v)
	}
	return Convert(v, t.Type)
}
