package schema

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// SensitivePaths returns the paths in v, a value of b's implied type, that are sensitive by the schema.
// Attributes with null or unknown values are included, if the object that has them exists. A block or object
// that is itself null or unknown has no paths. At the top level attributes are sensitive even if v is null,
// as in Terraform. The paths are sorted: attributes by name, then blocks by name.
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

// echoed returns the given paths, and in addition the paths at which an attribute repeats a part at one of the
// given paths. For example, `output.key` of a terraform_data repeats `input.key`.
func (b *Block) echoed(paths []cty.Path) []cty.Path {
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

// Referred returns a planned value as other expressions see it. An attribute that repeats a sensitive one and
// is still unknown gets the marks that it will have. So values derived from it are sensitive in the plan, as
// in the apply.
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

// unknownLike returns an unknown value with the type and the marks of v. Objects and tuples keep their
// structure, so that each part has its own marks.
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

// writeOnlyPaths returns the paths of all write-only attributes in v, null or not.
func (b *Block) writeOnlyPaths(v cty.Value) []cty.Path {
	l := b.layout()
	if !l.writeOnly {
		return nil
	}
	return l.collect(nil, v, nil, writeOnly)
}

// WriteOnlyValues returns the paths of write-only attributes that are not null in v. A provider's answer must
// not have any.
func (b *Block) WriteOnlyValues(v cty.Value) []cty.Path {
	return slices.DeleteFunc(b.writeOnlyPaths(v), func(p cty.Path) bool {
		found, err := p.Apply(v)
		return err != nil || found.IsKnown() && found.IsNull()
	})
}

// A trait is a declared property of attributes, such as sensitive. collect finds the paths of the attributes
// with a trait.
type trait struct {
	of     func(*Attribute) bool
	within func(*layout) bool
	// all is set if collect also looks into an attribute of a block that has the trait itself: its parts with
	// the trait are then collected in addition to the attribute. Without all, and for attributes of nested
	// objects, only the attribute itself is collected.
	all bool
}

var (
	sensitive = trait{
		of:     func(a *Attribute) bool { return a.Sensitive },
		within: func(l *layout) bool { return l.sensitive },
		all:    true, // in a state, Terraform lists the attribute and its parts
	}
	writeOnly = trait{
		of:     func(a *Attribute) bool { return a.WriteOnly },
		within: func(l *layout) bool { return l.writeOnly },
	}
)

// collect adds to out the paths of all attributes in v with trait t. path is the path of v.
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

// collectNested calls [layout.collect] for all blocks or objects of l in v.
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

// MarkSensitive returns v with sensitive marks at the given paths, at the paths that the schema declares
// sensitive, and at the paths whose values repeat one of these values.
func (b *Block) MarkSensitive(v cty.Value, paths []cty.Path) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	if b.ContainsSensitive() {
		paths = append(slices.Clone(paths), b.SensitivePaths(marks.Plain(v))...)
	}
	return marks.At(v, marks.Sensitive, b.echoed(paths))
}

// Stored decodes the attributes of an object that a state has stored with this schema. The values at the given
// paths, and those that the schema declares sensitive, have sensitive marks. Attributes that the schema does
// not have are left out.
func (s *Schema) Stored(attributes []byte, sensitive []cty.Path) (cty.Value, error) {
	codec := s.Block.JSON()
	v, err := codec.Parse(codec.Strip(attributes))
	if err != nil {
		return cty.DynamicVal, err
	}
	return s.Block.MarkSensitive(v, sensitive), nil
}
