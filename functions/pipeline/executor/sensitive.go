package executor

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// object collects the sensitive values of an object. block is the object's schema; it may be nil.
func (s *secrets) object(o *states.Object, block *schema.Block) {
	if o == nil {
		return
	}
	s.marked(o.Value)
	tree, err := decodeJSON(o.AttrsJSON)
	if err != nil {
		return
	}
	if block == nil {
		for _, path := range o.Sensitive {
			s.json(at(tree, path))
		}
		return
	}
	paths := o.Sensitive
	v, err := jsonvalues.Parse(o.AttrsJSON, block.ImpliedType())
	if err == nil && block.ContainsSensitive() {
		paths = slices.Concat(paths, block.SensitivePaths(v))
	}
	for _, path := range paths {
		x, e := path.Apply(v)
		if err != nil || e != nil {
			s.json(at(tree, path))
			continue
		}
		s.all(x)
	}
}

// decodeJSON decodes JSON. It keeps all digits of numbers.
func decodeJSON(data []byte) (tree any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&tree)
	return tree, err
}

// at returns the part of decoded JSON to which the path leads. If a step cannot be followed, it returns the
// part before this step.
func at(tree any, path cty.Path) any {
	for _, step := range path {
		switch x := tree.(type) {
		case map[string]any:
			name := ""
			switch step := step.(type) {
			case cty.GetAttrStep:
				name = step.Name
			case cty.IndexStep:
				if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
					name = step.Key.AsString()
				}
			}
			tree = x[name]
		case []any:
			step, ok := step.(cty.IndexStep)
			if !ok || step.Key.Type() != cty.Number || !step.Key.IsKnown() || step.Key.IsNull() {
				return tree // an element of a set
			}
			if i, _ := step.Key.AsBigFloat().Int64(); i >= 0 && i < int64(len(x)) {
				tree = x[i]
			} else {
				return nil
			}
		}
	}
	return tree
}

// json collects all texts, numbers and keys in decoded JSON.
func (s *secrets) json(tree any) {
	switch x := tree.(type) {
	case string:
		s.Text(x)
	case json.Number:
		s.Number(x.String())
	case []any:
		for _, e := range x {
			s.json(e)
		}
	case map[string]any:
		for k, e := range x {
			s.Key(k)
			s.json(e)
		}
	}
}

// marked collects the parts of a value that are marked sensitive.
func (s *secrets) marked(v cty.Value) {
	if v == cty.NilVal || !v.ContainsMarked() {
		return
	}
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		if x.HasMark(marks.Sensitive) {
			s.all(x)
			return false, nil
		}
		return true, nil
	})
}

// all collects all strings, numbers and keys in a value as secrets. Booleans are not secret.
func (s *secrets) all(v cty.Value) {
	if v == cty.NilVal {
		return
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		switch ty := x.Type(); {
		case !x.IsKnown() || x.IsNull():
		case ty == cty.String:
			s.Text(x.AsString())
		case ty == cty.Number:
			s.Number(x.AsBigFloat().Text('g', -1))
		case ty.IsMapType():
			for k := range x.AsValueMap() {
				s.Key(k)
			}
		case ty.IsObjectType():
			for k := range ty.AttributeTypes() {
				s.Key(k)
			}
		}
		return true, nil
	})
}

// names records the attribute names in the type ty, which comes from a schema or a variable. They are public,
// so they are not removed from texts as secrets.
func (s *secrets) names(ty cty.Type) {
	switch {
	case ty == cty.NilType:
	case ty.IsObjectType():
		for name, of := range ty.AttributeTypes() {
			s.Known(name)
			s.names(of)
		}
	case ty.IsTupleType():
		for _, of := range ty.TupleElementTypes() {
			s.names(of)
		}
	case ty.IsCollectionType():
		s.names(ty.ElementType())
	}
}
