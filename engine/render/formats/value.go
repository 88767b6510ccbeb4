package formats

import (
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// A cty value is shown as up to three JSON values of one structure, as in Terraform's plan format: the value
// itself without unknown parts, a mask of the unknown parts, and a mask of the sensitive parts. In both
// masks, objects and maps leave out false; lists, sets and tuples do not.

// value writes v. Unknown members are left out, unknown elements are null, and marks are ignored. If v itself
// is unknown, value writes nothing and returns false.
func (t *jsonText) value(v cty.Value) bool {
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return false
	}
	ty := v.Type()
	switch {
	case v.IsNull():
		t.rawString("null")
	case ty == cty.String:
		t.string(v.AsString())
	case ty == cty.Number:
		t.number(v.AsBigFloat())
	case ty == cty.Bool:
		t.bool(v.True())
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		t.elements(v)
	case ty.IsMapType():
		t.openObject()
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			t.knownMember(k.AsString(), e)
		}
		t.closeObject()
	case ty.IsObjectType():
		t.openObject()
		for _, name := range attributeNames(ty) {
			t.knownMember(name, v.GetAttr(name))
		}
		t.closeObject()
	default: // a capsule type, which no schema can declare
		t.rawString("null")
	}
	return true
}

func (t *jsonText) elements(v cty.Value) {
	t.openArray()
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); !t.value(e) {
			t.rawString("null")
		}
	}
	t.closeArray()
}

func (t *jsonText) knownMember(name string, v cty.Value) {
	if isKnown(v) {
		t.key(name)
		t.value(v)
	}
}

func isKnown(v cty.Value) bool {
	v, _ = v.Unmark()
	return v.IsKnown()
}

func (t *jsonText) number(f *big.Float) {
	t.next()
	if n, acc := f.Int64(); acc == big.Exact && (n != 0 || t.unsigned || !f.Signbit()) {
		t.b = strconv.AppendInt(t.b, n, 10)
		return
	}
	t.b = f.Append(t.b, 'f', -1)
}

// attributeNames returns the names of an object type's attributes, sorted.
func attributeNames(ty cty.Type) []string {
	atys := ty.AttributeTypes()
	if len(atys) == 0 {
		return nil
	}
	names := make([]string, 0, len(atys))
	for n := range maps.Keys(atys) {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// unknown writes the mask of the unknown values in v.
func (t *jsonText) unknown(v cty.Value) {
	t.mask(v, func(v cty.Value) bool { return !v.IsKnown() })
}

// sensitive writes the mask of the values in v that are marked sensitive.
func (t *jsonText) sensitive(v cty.Value) {
	t.mask(v, func(v cty.Value) bool { return v.HasMark(marks.Sensitive) })
}

// mask writes true if masked(v) is true. Otherwise it writes false for a value without parts, and the masks of
// the parts for other values.
func (t *jsonText) mask(v cty.Value, masked func(cty.Value) bool) {
	if masked(v) {
		t.bool(true)
		return
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case isPlain(v):
		t.bool(false)
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		t.openArray()
		if v.IsKnown() {
			for it := v.ElementIterator(); it.Next(); {
				_, e := it.Element()
				t.mask(e, masked)
			}
		}
		t.closeArray()
	case !v.IsKnown():
		t.rawString("{}")
	case ty.IsMapType():
		t.openObject()
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			t.maskMember(k.AsString(), e, masked)
		}
		t.closeObject()
	default:
		t.openObject()
		for _, name := range attributeNames(ty) {
			t.maskMember(name, v.GetAttr(name), masked)
		}
		t.closeObject()
	}
}

func (t *jsonText) maskMember(name string, v cty.Value, masked func(cty.Value) bool) {
	if isPlain(v) && !masked(v) {
		return // false
	}
	t.key(name)
	t.mask(v, masked)
}

// ctyType writes a type as the state format has it.
func (t *jsonText) ctyType(ty cty.Type) error {
	text, err := ctyjson.MarshalType(ty)
	if err != nil {
		return err
	}
	t.raw(text)
	return nil
}

// path writes a path as a list of names and indices. It stops at a step into a set, because the key of such a
// step is a value.
func (t *jsonText) path(p cty.Path) {
	t.openArray()
	for _, step := range p {
		switch s := step.(type) {
		case cty.GetAttrStep:
			t.string(s.Name)
		case cty.IndexStep:
			if !s.Key.IsKnown() || s.Key.IsNull() || !s.Key.Type().IsPrimitiveType() {
				t.closeArray()
				return
			}
			t.value(s.Key)
		}
	}
	t.closeArray()
}

// instanceKey writes an instance key as a member; nothing if there is no key.
func (t *jsonText) instanceKey(name string, k addrs.InstanceKey) {
	if i, ok := k.Int(); ok {
		t.key(name)
		t.int(int64(i))
	}
	if s, ok := k.Str(); ok {
		t.member(name, s)
	}
}
