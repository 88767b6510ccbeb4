// Package marks has the marks of values: a value can be sensitive or ephemeral, and values derived from it
// are, too. The package depends on cty, and on nothing of Lockstep.
package marks

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// A Mark is a property of a value that every derived value inherits.
type Mark string

const (
	// Sensitive marks a value that is never shown.
	Sensitive Mark = "sensitive"
	// Ephemeral marks a value that is never stored, neither in a plan nor in a state.
	Ephemeral Mark = "ephemeral"
)

// Has reports whether v itself has the mark m. Marks of parts of v do not count.
func Has(v cty.Value, m Mark) bool { return v != cty.NilVal && v.HasMark(m) }

// Any reports whether v or a part of it has any mark. It returns the same as cty's ContainsMarked, but keeps
// no paths.
func Any(v cty.Value) bool {
	if v.IsMarked() {
		return true
	}
	ty := v.Type()
	// The elements of a set never have marks of their own.
	if ty.IsPrimitiveType() || ty.IsSetType() || v.IsNull() || !v.IsKnown() {
		return false
	}
	switch {
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if Any(v.GetAttr(name)) {
				return true
			}
		}
	case ty.IsTupleType() || ty.IsListType():
		for i := range v.LengthInt() {
			if Any(v.Index(index(i))) {
				return true
			}
		}
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			if _, x := it.Element(); Any(x) {
				return true
			}
		}
	}
	return false
}

// indices are the keys of the first 64 elements of a list: the cty numbers 0 to 63.
var indices = func() (out [64]cty.Value) {
	for i := range out {
		out[i] = cty.NumberIntVal(int64(i))
	}
	return out
}()

func index(i int) cty.Value {
	if i < len(indices) {
		return indices[i]
	}
	return cty.NumberIntVal(int64(i))
}

// Plain returns v without any marks, as cty's UnmarkDeep does. It avoids the work for values without marks,
// which most are.
func Plain(v cty.Value) cty.Value {
	if v == cty.NilVal || !Any(v) {
		return v
	}
	plain, _ := v.UnmarkDeep()
	return plain
}

// Contains reports whether v or a part of it has the mark m.
func Contains(v cty.Value, m Mark) bool {
	if v == cty.NilVal || !Any(v) {
		return false
	}
	found := false
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		found = found || v.HasMark(m)
		return !found, nil
	})
	return found
}

// Paths returns v without any marks, and the paths of the parts that had the mark m.
func Paths(v cty.Value, m Mark) (cty.Value, []cty.Path) {
	if !Any(v) {
		return v, nil
	}
	plain, pvms := v.UnmarkDeepWithPaths()
	var out []cty.Path
	for _, pvm := range pvms {
		if _, ok := pvm.Marks[m]; ok {
			out = append(out, pvm.Path)
		}
	}
	return plain, out
}

// At returns v with the mark m on the parts at these paths. It ignores paths that v does not have.
func At(v cty.Value, m Mark, paths []cty.Path) cty.Value {
	if len(paths) == 0 {
		return v
	}
	pvms := make([]cty.PathValueMarks, len(paths))
	for i, p := range paths {
		pvms[i] = cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(m)}
	}
	return v.MarkWithPaths(pvms)
}

// Echo returns the paths below the attribute from, changed to lead to the same part of the attribute to. For
// example, the path `input.key` becomes `output.key`.
func Echo(paths []cty.Path, from, to string) []cty.Path {
	var out []cty.Path
	for _, p := range paths {
		if len(p) > 0 && p[0] == (cty.GetAttrStep{Name: from}) {
			out = append(out, slices.Concat(cty.GetAttrPath(to), p[1:]))
		}
	}
	return out
}
