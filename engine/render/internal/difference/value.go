package difference

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// changeOf returns the change of a value of type ty.
func changeOf(x pair, ty cty.Type) *Node {
	again := func(x pair) *Node { return changeOf(x, ty) }
	if n := x.hidden(again); n != nil {
		return n
	}
	x = x.withoutEmpty()
	if n := x.computed(again); n != nil {
		return n
	}
	switch {
	case ty == cty.DynamicPseudoType:
		return dynamicChange(x)
	case ty.IsPrimitiveType():
		return leafChange(x)
	case ty.IsObjectType():
		atys := ty.AttributeTypes()
		return objectChange(x, slices.Sorted(maps.Keys(ty.AttributeTypes())), func(x pair, name string) *Node { return changeOf(x, atys[name]) })
	case ty.IsMapType():
		ety := ty.ElementType()
		return mapChange(x, func(x pair) *Node { return changeOf(x, ety) })
	case ty.IsListType():
		ety := ty.ElementType()
		return listChange(x, func(cty.Value) bool { return ety.IsObjectType() }, func(x pair) *Node { return changeOf(x, ety) })
	case ty.IsSetType():
		ety := ty.ElementType()
		return setChange(x, func(x pair) *Node { return changeOf(x, ety) })
	}
	return dynamicChange(x)
}

func leafChange(x pair) *Node {
	return &Node{Kind: Leaf, Action: x.action(), Replace: x.here(), Before: x.before, After: x.after}
}

// hidden returns the node of a value that is sensitive before or after; nil if it is not sensitive. nodeOf
// makes the node of the value without its mark.
func (x pair) hidden(nodeOf func(pair) *Node) *Node {
	was, is := isSensitive(x.before), isSensitive(x.after)
	if !was && !is {
		return nil
	}
	x.before, x.after = withoutOwnMarks(x.before), withoutOwnMarks(x.after)
	inner := nodeOf(x)
	n := &Node{Kind: Sensitive, Action: inner.Action, Replace: x.here(), Inner: inner, WasSensitive: was, IsSensitive: is}
	if inner.Action == plans.NoOp && was != is && !x.isNothing() && !inner.isNothing() {
		n.Action = plans.Update
	}
	return n
}

// computed returns the node of a value that is unknown after the change; nil if it is known. nodeOf makes the
// node of the value before.
func (x pair) computed(nodeOf func(pair) *Node) *Node {
	if x.after == Nothing || x.after.IsKnown() {
		return nil
	}
	n := &Node{Kind: Unknown, Action: plans.Create, Replace: x.here()}
	if presence(x.before) != Nothing {
		n.Action = plans.Update
		n.Inner = nodeOf(pair{before: x.before})
	}
	return n
}

// objectChange returns the change of an object with the attributes names. nodeOf makes the node of one
// attribute. Attributes that are null before and after are left out.
func objectChange(x pair, names []string, nodeOf func(pair, string) *Node) *Node {
	n := &Node{Kind: Object, Action: x.start(), Replace: x.here()}
	for _, name := range names {
		part := x.with(named(name), attributeValue(x.before, name), attributeValue(x.after, name)).implicit()
		c := nodeOf(part, name)
		if c.Action == plans.NoOp && part.isNothing() {
			continue
		}
		n.Names, n.Parts = append(n.Names, name), append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	return n
}

// attributeValue returns an attribute of an object; Nothing if the object does not have it.
func attributeValue(v cty.Value, name string) cty.Value {
	if v == Nothing || v.IsNull() || !v.IsKnown() || !v.Type().HasAttribute(name) {
		return Nothing
	}
	return v.GetAttr(name)
}

// mapChange returns the change of a map, or of an object that is used like a map. nodeOf makes the node of a
// pair of elements.
func mapChange(x pair, nodeOf func(pair) *Node) *Node {
	n := &Node{Kind: Map, Action: x.start(), Replace: x.here()}
	before, after := members(x.before), members(x.after)
	for _, k := range union(before, after) {
		c := nodeOf(x.with(named(k), before[k], after[k]))
		n.Names, n.Parts = append(n.Names, k), append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	return n
}

// members returns the elements of a map or the attributes of an object. For another value it returns none.
func members(v cty.Value) map[string]cty.Value {
	if v == Nothing || v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return nil
	}
	out := make(map[string]cty.Value, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		out[k.AsString()] = e
	}
	return out
}

func union(a, b map[string]cty.Value) []string {
	keys := make([]string, 0, max(len(a), len(b)))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// elements returns the elements of a list, set or tuple.
func elements(v cty.Value) []cty.Value {
	if v == Nothing || v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return nil
	}
	out := make([]cty.Value, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		out = append(out, e)
	}
	return out
}

// listChange returns the change of a list. It finds the elements that stay in order; the others were added or
// removed. If an element is removed and another added at the same place, and both are structured, they are
// shown as one changed element. nodeOf makes the node of a pair of elements.
func listChange(x pair, structured func(cty.Value) bool, nodeOf func(pair) *Node) *Node {
	n := &Node{Kind: List, Action: x.start(), Replace: x.here()}
	before, after := elements(x.before), elements(x.after)
	x = x.within()
	nb, na := number(before, after)
	both := func(b, a int) bool { return structured(before[b]) && structured(after[a]) }
	for _, at := range alignElements(nb, na, both) {
		c := nodeOf(x.element(before, after, at))
		n.Parts = append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	return n
}

// element returns the pair of the elements at two indices, one in before and one in after; an index of -1 means
// no element.
func (x pair) element(before, after []cty.Value, indices [2]int) pair {
	b, a := Nothing, Nothing
	index := indices[1]
	if indices[1] >= 0 {
		a = after[indices[1]]
	}
	if indices[0] >= 0 {
		b, index = before[indices[0]], indices[0]
	}
	return x.with(indexed(index), b, a)
}

// setChange returns the change of a set. Its elements are added, removed or unchanged, never changed. nodeOf
// makes the node of a pair of elements.
func setChange(x pair, nodeOf func(pair) *Node) *Node {
	n := &Node{Kind: Set, Action: x.start(), Replace: x.here()}
	before, after := elements(x.before), elements(x.after)
	x = x.within()
	for _, at := range matchSet(before, after) {
		c := nodeOf(x.element(before, after, at))
		n.Parts = append(n.Parts, c)
		n.Action = join(n.Action, c.Action)
	}
	return n
}

// matchSet pairs equal elements: first all elements before, in order, then the new ones.
func matchSet(before, after []cty.Value) [][2]int {
	nb, na := number(before, after)
	where := make(map[int]int, len(na)) // no two elements of a set are equal
	for i, n := range na {
		where[n] = i
	}
	taken := make([]bool, len(after))
	out := make([][2]int, 0, len(before)+len(after))
	for i, n := range nb {
		j, found := where[n]
		if found && !taken[j] {
			taken[j] = true
			out = append(out, [2]int{i, j})
		} else {
			out = append(out, [2]int{i, -1})
		}
	}
	for j := range after {
		if !taken[j] {
			out = append(out, [2]int{-1, j})
		}
	}
	return out
}

// dynamicChange returns the change of a value whose type comes from the value, not from a schema.
func dynamicChange(x pair) *Node {
	if n := x.hidden(dynamicChange); n != nil {
		return n
	}
	if n := x.computed(dynamicChange); n != nil {
		return n
	}
	b, a := sortOf(x.before), sortOf(x.after)
	switch {
	case x.before == Nothing:
		return sortChange(x, a)
	case x.after == Nothing || a == b:
		return sortChange(x, b)
	}
	return &Node{
		Kind: Type, Action: plans.Update, Replace: x.here(),
		Inner: sortChange(pair{before: x.before}, b), Other: sortChange(pair{after: x.after}, a),
	}
}

// sortOf returns the kind of a value: "null", "object", "list", or the name of a primitive type. Values of
// different kinds are shown differently.
func sortOf(v cty.Value) string {
	switch {
	case v == Nothing || v.IsNull():
		return "null"
	case !v.Type().IsPrimitiveType() && (v.Type().IsObjectType() || v.Type().IsMapType()):
		return "object"
	case v.Type().IsTupleType() || v.Type().IsListType() || v.Type().IsSetType():
		return "list"
	}
	return v.Type().FriendlyName()
}

func sortChange(x pair, sort string) *Node {
	switch sort {
	case "object":
		n := mapChange(x, dynamicChange)
		n.Kind = Object
		return n
	case "list":
		return listChange(x, func(v cty.Value) bool { s := sortOf(withoutOwnMarks(v)); return s == "object" || s == "list" }, dynamicChange)
	}
	return leafChange(x)
}

// IsJSON reports whether s looks like a JSON object or array.
func IsJSON(s string) bool { return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") }
