package journaling

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// cell is the value of an impure expression in a record.
type cell struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"` // JSON with the value's type
	Sensitive [][]pathStep    `json:"sensitive,omitempty"`
}

// pathStep is a step to a part of a value: an attribute, or an index with its type.
type pathStep struct {
	Attribute string          `json:"attr,omitempty"`
	Index     json.RawMessage `json:"index,omitempty"`
}

// Keep records the value of an impure expression, which could have another value the next time. No other
// expression of the run may use the same name. The value is stored with the next record, so before any call
// that uses it. Values that are partly ephemeral or unknown are not recorded.
func (j *Journal) Keep(name string, v cty.Value) {
	if j == nil || marks.Contains(v, marks.Ephemeral) {
		return
	}
	plain, sensitive := marks.Paths(v, marks.Sensitive)
	if !plain.IsWhollyKnown() {
		return
	}
	c := cell{Name: name}
	for _, path := range sensitive {
		c.Sensitive = append(c.Sensitive, encodePath(path))
	}
	var err error
	if c.Value, err = ctyjson.Marshal(plain, cty.DynamicPseudoType); err != nil {
		return // a value that JSON cannot represent cannot be in a state either
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("journaling: value of %s: %v", name, err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	separator := byte(',')
	if len(j.values) == 0 {
		separator = '['
	}
	j.values = append(append(j.values, separator), text...)
}

func encodePath(path cty.Path) []pathStep {
	out := make([]pathStep, len(path))
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			out[i].Attribute = step.Name
		case cty.IndexStep:
			text, err := ctyjson.Marshal(step.Key, cty.DynamicPseudoType)
			if err != nil {
				panic(fmt.Sprintf("journaling: key %#v: %v", step.Key, err))
			}
			out[i].Index = text
		}
	}
	return out
}

// decode returns the value with its sensitive marks.
func (c cell) decode() (cty.Value, error) {
	v, err := ctyjson.Unmarshal(c.Value, cty.DynamicPseudoType)
	if err != nil {
		return cty.NilVal, err
	}
	var paths []cty.Path
	for _, steps := range c.Sensitive {
		path := cty.Path{}
		for _, s := range steps {
			if s.Index == nil {
				path = path.GetAttr(s.Attribute)
				continue
			}
			key, err := ctyjson.Unmarshal(s.Index, cty.DynamicPseudoType)
			if err != nil {
				return cty.NilVal, err
			}
			path = path.Index(key)
		}
		paths = append(paths, path)
	}
	return marks.At(v, marks.Sensitive, paths), nil
}
