package schema

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// SensitivePaths returns where v, a value of b's implied type, is sensitive by the
// schema, whatever is there: nulls and unknowns as well, as long as the object that
// has the attribute exists. In a block or object that is itself null or unknown
// nothing is. At the top level attributes are sensitive even if v is null, as in
// Terraform. The paths are in the order of attributes, then of blocks, by name.
func (b *Block) SensitivePaths(v cty.Value) []cty.Path {
	l := b.layout()
	if !l.sensitive {
		return nil
	}
	var out []cty.Path
	if v.IsNull() {
		for i := range l.attrs {
			if l.attrs[i].Sensitive {
				out = append(out, attr(nil, l.attrs[i].name))
			}
		}
		return out
	}
	return l.collect(out, v, nil, sensitive)
}

// Echoed returns paths, and those at which attributes repeat a sensitive part of another one.
func (b *Block) Echoed(paths []cty.Path) []cty.Path {
	l := b.layout()
	if !l.echoes {
		return paths
	}
	out := slices.Clip(paths)
	for i := range l.attrs {
		if from := l.attrs[i].Echoes; from != "" {
			out = append(out, marks.Echo(paths, from, l.attrs[i].name)...)
		}
	}
	return out
}

// Referred returns a planned value as others refer to it. An attribute that repeats a sensitive one, and is not known
// yet, has the marks that it will have: what is derived from a secret part is no surprise for the apply.
func (b *Block) Referred(v cty.Value) cty.Value {
	l := b.layout()
	if !l.echoes || v.IsNull() || !v.IsKnown() {
		return v
	}
	attrs := v.AsValueMap()
	for i := range l.attrs {
		name, from := l.attrs[i].name, l.attrs[i].Echoes
		if from != "" && !attrs[name].IsKnown() && marks.Any(attrs[from]) {
			attrs[name] = unknownLike(attrs[from])
		}
	}
	return cty.ObjectVal(attrs)
}

// unknownLike returns an unknown value of the type of v, with the marks of v. Objects and tuples have unknown parts, so
// that each has the marks of its own.
func unknownLike(v cty.Value) cty.Value {
	plain, ms := v.Unmark()
	out := cty.UnknownVal(plain.Type())
	switch ty := plain.Type(); {
	case plain.IsNull() || !plain.IsKnown():
	case ty.IsObjectType() && plain.LengthInt() > 0:
		attrs := plain.AsValueMap()
		for name, x := range attrs {
			attrs[name] = unknownLike(x)
		}
		out = cty.ObjectVal(attrs)
	case ty.IsTupleType():
		elems := plain.AsValueSlice()
		for i, x := range elems {
			elems[i] = unknownLike(x)
		}
		out = cty.TupleVal(elems)
	case marks.Any(plain):
		out = out.Mark(marks.Sensitive)
	}
	return out.WithMarks(ms)
}

// writeOnlyPaths returns where v has write-only attributes, null or not.
func (b *Block) writeOnlyPaths(v cty.Value) []cty.Path {
	l := b.layout()
	if !l.writeOnly {
		return nil
	}
	return l.collect(nil, v, nil, writeOnly)
}

// WriteOnlyValues returns the paths of write-only attributes that are not null in
// v: a provider's answer must not have any.
func (b *Block) WriteOnlyValues(v cty.Value) []cty.Path {
	return slices.DeleteFunc(b.writeOnlyPaths(v), func(p cty.Path) bool {
		found, err := p.Apply(v)
		return err != nil || found.IsKnown() && found.IsNull()
	})
}

// A trait is something that is declared of an attribute and collected with paths.
type trait struct {
	of     func(*Attribute) bool
	within func(*layout) bool
	// all is set if parts of an attribute of a block that has it count as well. In
	// objects they do not.
	all bool
}

var (
	sensitive = trait{
		of:     func(a *Attribute) bool { return a.Sensitive },
		within: func(l *layout) bool { return l.sensitive },
		all:    true, // Terraform lists both in a state
	}
	writeOnly = trait{
		of:     func(a *Attribute) bool { return a.WriteOnly },
		within: func(l *layout) bool { return l.writeOnly },
	}
)

// collect adds the paths in v, reached by path, of all attributes with trait t.
func (l *layout) collect(out []cty.Path, v cty.Value, path cty.Path, t trait) []cty.Path {
	v, _ = v.Unmark()
	if v.IsNull() {
		return out
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		has := t.of(f.Attribute)
		if has {
			out = append(out, attr(path, f.name))
		}
		if (!has || t.all && !l.object) && f.object != nil && t.within(f.object) {
			out = f.object.collectNested(out, f.Nested.Nesting, v.GetAttr(f.name), attr(path, f.name), t)
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		if t.within(n.in) {
			out = n.in.collectNested(out, n.Nesting, v.GetAttr(n.name), attr(path, n.name), t)
		}
	}
	return out
}

// collectNested is collect for all the objects of l in v.
func (l *layout) collectNested(out []cty.Path, n Nesting, v cty.Value, path cty.Path, t trait) []cty.Path {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return out
	}
	for step, e := range n.elements(v) {
		e, _ = e.Unmark()
		if e.IsKnown() {
			out = l.collect(out, e, extend(path, step), t)
		}
	}
	return out
}
