package planfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// A stateMember is a state file to put into the archive.
type stateMember struct {
	name string
	src  []byte
}

// states encodes the plan's two states: the state after the previous run, and the prior state, which is the same after
// refreshing. They are nearly equal. So the prior state is stored as its differences: the resources that changed or are
// gone, and all outputs and checks. Resources are compared by their encoded bytes, because refreshing creates new Go
// values also for unchanged objects.
func (e *encoder) states() ([]stateMember, error) {
	prev, prior := e.plan.PrevRunState, e.plan.PriorState
	var out []stateMember
	var prevSrc []byte
	var prevIndex statefile.Index
	if prev != nil {
		var err error
		if prevSrc, prevIndex, err = statefile.WriteIndexed(prev); err != nil {
			return nil, fmt.Errorf("encode plan: previous run state: %w", err)
		}
		e.out.Prev = wireState{Present: true, Version: prev.TerraformVersion}
		out = append(out, stateMember{prevStateName, prevSrc})
	}
	if prior == nil {
		return out, nil
	}
	e.out.Prior = wireState{Present: true, Version: prior.TerraformVersion, Same: prior == prev}
	if prior == prev {
		return out, nil
	}
	priorSrc, priorIndex, err := statefile.WriteIndexed(prior)
	if err != nil {
		return nil, fmt.Errorf("encode plan: prior state: %w", err)
	}
	changed := map[addrs.AbsResource]*states.Resource{}
	for a, r := range prior.Resources() {
		at, was := priorIndex[a], prevIndex[a]
		if !bytes.Equal(priorSrc[at.Start:at.End], prevSrc[was.Start:was.End]) {
			changed[a] = r
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(prevIndex), byText) {
		if _, ok := priorIndex[a]; !ok {
			e.out.Prior.Removed = append(e.out.Prior.Removed, e.resource(a))
		}
	}
	delta := states.Of(maps.Collect(prior.Outputs()), changed).With(prior.Lineage, prior.Serial)
	delta.Checks, delta.Extra = prior.Checks, prior.Extra
	src, err := statefile.Write(delta)
	if err != nil {
		return nil, fmt.Errorf("encode plan: prior state: %w", err)
	}
	return append(out, stateMember{priorStateName, src}), nil
}

// states decodes the states that an encoder wrote.
func (d *decoder) states(files map[string][]byte) {
	p := d.plan
	if d.in.Prev.Present {
		p.PrevRunState = d.state(files[prevStateName], d.in.Prev.Version)
	}
	switch {
	case d.err != nil || !d.in.Prior.Present:
		return
	case d.in.Prior.Same:
		p.PriorState = p.PrevRunState
		return
	}
	delta := d.state(files[priorStateName], d.in.Prior.Version)
	if d.err != nil {
		return
	}
	all := map[addrs.AbsResource]*states.Resource{}
	if p.PrevRunState != nil {
		maps.Insert(all, p.PrevRunState.Resources())
	}
	for _, n := range d.in.Prior.Removed {
		delete(all, d.resource(n))
	}
	maps.Insert(all, delta.Resources())
	prior := states.Of(maps.Collect(delta.Outputs()), all).With(delta.Lineage, delta.Serial)
	prior.Checks, prior.Extra, prior.TerraformVersion = delta.Checks, delta.Extra, delta.TerraformVersion
	p.PriorState = prior
}

func (d *decoder) state(src []byte, version string) *states.State {
	if len(src) == 0 {
		d.fail("a state is missing")
		return nil
	}
	s, err := statefile.Read(src)
	if err != nil {
		d.fail("%w", err)
		return nil
	}
	s.TerraformVersion = version
	return s
}
