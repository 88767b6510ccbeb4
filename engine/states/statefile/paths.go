package statefile

import (
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// sensitive reads a list of sensitive paths. It decodes equal lists only once: most instances of a resource
// have the same list.
func (r *reader) sensitive() ([]cty.Path, error) {
	if r.Null() {
		return nil, nil
	}
	r.Next()
	start := r.Pos()
	raw, err := r.Raw()
	if err != nil || string(raw) == "[]" {
		return nil, err
	}
	if p, ok := r.paths[string(raw)]; ok {
		return p, nil
	}
	var paths []cty.Path
	err = r.Again(start, func() error {
		return r.Array(func() error {
			p := cty.Path{}
			err := r.optional(func() error {
				return r.Array(func() error {
					step, err := r.pathStep()
					p = append(p, step)
					return err
				})
			})
			paths = append(paths, p)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	r.paths[string(raw)] = paths
	return paths, nil
}

// pathStep reads {"type": "get_attr", "value": "name"} or {"type": "index",
// "value": {"value": 0, "type": "number"}}.
func (r *reader) pathStep() (cty.PathStep, error) {
	r.Next()
	start := r.Pos()
	var kind string
	var value []byte
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "type":
			kind, err = r.Text()
		case "value":
			value, err = r.Raw()
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case kind == "get_attr" && len(value) > 0 && value[0] == '"':
		return cty.GetAttrStep{Name: jsonscan.Unquote(value)}, nil
	case kind == "index":
		if key, err := decodeValue(value, cty.DynamicPseudoType); err == nil {
			return cty.IndexStep{Key: key}, nil
		}
	}
	return nil, r.Fail(start, "a path of sensitive attributes has an invalid step")
}

// appendPath appends a path in the form that [reader.sensitive] reads, without white space.
func appendPath(dst []byte, p cty.Path) ([]byte, error) {
	dst = append(dst, '[')
	for i, step := range p {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch step := step.(type) {
		case cty.GetAttrStep:
			dst = append(dst, `{"type":"get_attr","value":`...)
			dst = appendString(dst, step.Name)
		case cty.IndexStep:
			dst = append(dst, `{"type":"index","value":`...)
			key, err := ctyjson.Marshal(step.Key, cty.DynamicPseudoType)
			if err != nil {
				return nil, err
			}
			dst = append(dst, key...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}
