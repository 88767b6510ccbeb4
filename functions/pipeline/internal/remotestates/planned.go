package remotestates

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// planned is the form in which planned outputs are stored. It has a serial and a lineage, because a cipher
// encrypts states, which have both.
type planned struct {
	Serial  int    `json:"serial"`
	Lineage string `json:"lineage"`
	// Outputs is an object with the outputs in cty's MessagePack format, which can represent unknown values.
	Outputs   []byte   `json:"planned_outputs"`
	Sensitive []string `json:"sensitive,omitempty"`
}

// lineage is the lineage of planned outputs in their stored form. No real state has this lineage.
const lineage = "planned outputs"

// Encode returns the outputs that a state will have after a plan is applied, encrypted in the same way as the
// state. was is the present state. c may be nil. For a plan that destroys, the result is nil.
func Encode(ctx context.Context, c *encryption.Cipher, was *states.State, p *plans.Plan) ([]byte, error) {
	if p.Mode == plans.DestroyMode {
		return nil, nil
	}
	out, values := planned{Lineage: lineage}, map[string]cty.Value{}
	for name, o := range outputsAfter(was, p) {
		values[name] = o.Value
		if o.Sensitive {
			out.Sensitive = append(out.Sensitive, name)
		}
	}
	slices.Sort(out.Sensitive)
	var err error
	if out.Outputs, err = msgpack.Marshal(cty.ObjectVal(values), cty.DynamicPseudoType); err != nil {
		return nil, fmt.Errorf("encode the planned outputs: %w", err)
	}
	data, err := json.Marshal(out)
	if err != nil || c == nil {
		return data, err
	}
	return c.EncryptState(ctx, data)
}

// outputsAfter returns the outputs that a state will have after a plan is applied. If the plan covers only a
// part of the configuration, the remaining outputs stay as they are.
func outputsAfter(was *states.State, p *plans.Plan) map[string]states.Output {
	out := maps.Collect(was.Outputs())
	for _, c := range p.Outputs {
		after := marks.Plain(c.After)
		if c.Action == plans.Delete || after.IsNull() {
			delete(out, c.Name)
			continue
		}
		out[c.Name] = states.Output{Value: after, Sensitive: c.Sensitive}
	}
	return out
}

// planned returns the planned outputs of the state at a place; nil if none are known.
func (r *Reader) planned(ctx context.Context, place string, c *encryption.Cipher) (map[string]states.Output, error) {
	data, ok := r.Planned[place]
	if !ok {
		return nil, nil
	}
	r.mu.Lock()
	if r.asked == nil {
		r.asked = map[string]bool{}
	}
	r.asked[place] = true
	r.mu.Unlock()
	if data == nil {
		return nil, nil
	}
	out, err := decode(ctx, c, data)
	if err != nil {
		return nil, fmt.Errorf("the planned outputs of the state at %s cannot be read: %w", place, err)
	}
	return out, nil
}

func decode(ctx context.Context, c *encryption.Cipher, data []byte) (map[string]states.Output, error) {
	if c != nil {
		var err error
		if data, _, err = c.DecryptState(ctx, data); err != nil {
			return nil, err
		}
	}
	var in planned
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	v, err := msgpack.Unmarshal(in.Outputs, cty.DynamicPseudoType)
	if err != nil {
		return nil, err
	}
	if v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() {
		return nil, fmt.Errorf("they are no object")
	}
	out := map[string]states.Output{}
	for name, v := range v.AsValueMap() {
		out[name] = states.Output{Value: v, Sensitive: slices.Contains(in.Sensitive, name)}
	}
	return out, nil
}

// Asked returns the addresses of those states whose planned outputs were read, sorted.
func (r *Reader) Asked() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.asked))
}
