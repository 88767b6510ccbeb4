package statefile

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// AppendObject appends a state file in one line that has only this object, without its dependencies. [Read]
// reads it.
func AppendObject(dst []byte, a addrs.ResourceInstanceObject, p addrs.AbsProviderConfig, o *states.Object) ([]byte, error) {
	alone := *o
	alone.Dependencies = nil
	in := &states.Instance{Current: &alone}
	if a.Deposed != addrs.NotDeposed {
		in = &states.Instance{Deposed: map[addrs.DeposedKey]*states.Object{a.Deposed: &alone}}
	}
	if !p.Key.IsNone() {
		in.Provider = p.String()
	}
	abs := a.Instance.AbsResource()
	r := &states.Resource{Provider: p.Config(), Instances: map[addrs.InstanceKey]*states.Instance{a.Instance.Resource.Key: in}}
	e := &encoder{writer: writer{dst: dst, flat: true}}
	e.open('{')
	e.intMember("version", 4)
	e.member("resources")
	e.open('[')
	e.element()
	if err := e.resource(abs, r); err != nil {
		return dst, fmt.Errorf("%s: %w", a, err)
	}
	e.close(']')
	e.close('}')
	return e.dst, nil
}
