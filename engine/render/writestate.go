package render

import (
	"cmp"
	"fmt"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
	"io"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// State writes all objects of s, as blocks, and its outputs.
func (p *Printer) State(w io.Writer, s *states.State, schemas formats.Schemas) {
	if s == nil || s.IsEmpty() {
		fmt.Fprintln(w, "The state file is empty. No resources are represented.")
		return
	}
	apart := ""
	for _, a := range slices.SortedFunc(maps.Keys(maps.Collect(s.Resources())), addrs.AbsResource.Compare) {
		r := s.Resource(a)
		for _, k := range slices.SortedFunc(maps.Keys(r.Instances), addrs.InstanceKey.Compare) {
			io.WriteString(w, apart)
			p.instance(w, a.Instance(k), r, r.Instances[k], schemas)
			apart = "\n"
		}
	}
	if !s.HasOutputs() {
		return
	}
	fmt.Fprintf(w, "%sOutputs:\n\n", apart)
	outputs := maps.Collect(s.Outputs())
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		p.output(w, name, outputs[name])
	}
}

func (p *Printer) output(w io.Writer, name string, o states.Output) {
	nw := nodeWriter{p: p}
	nw.name(attributeName(name), 0)
	if o.Sensitive && !p.ShowSensitive {
		nw.b.WriteString(sensitiveText)
	} else {
		nw.node(difference.OfValue(o.Value), 0, look{bare: true, all: true})
	}
	fmt.Fprintln(w, nw.b.String())
}

// Object writes one instance of s, with its deposed objects, as `state show` does. It writes nothing if s has
// no such instance.
func (p *Printer) Object(w io.Writer, s *states.State, a addrs.AbsResourceInstance, schemas formats.Schemas) {
	if in := s.Instance(a); in != nil {
		p.instance(w, a, s.Resource(a.AbsResource()), in, schemas)
	}
}

func (p *Printer) instance(w io.Writer, a addrs.AbsResourceInstance, r *states.Resource, in *states.Instance, schemas formats.Schemas) {
	rs := schemas.Resource(r.Provider.Provider, a.Resource.Resource)
	apart := ""
	if in.Current != nil {
		note := ""
		if in.Current.Status == states.Tainted {
			note = " (tainted)"
		}
		p.object(w, a, note, rs, in.Current)
		apart = "\n"
	}
	for _, key := range slices.SortedFunc(maps.Keys(in.Deposed), cmp.Compare[addrs.DeposedKey]) {
		io.WriteString(w, apart)
		apart = "\n"
		p.object(w, a, fmt.Sprintf(" (deposed object %s)", key), rs, in.Deposed[key])
	}
}

func (p *Printer) object(w io.Writer, a addrs.AbsResourceInstance, note string, rs *schema.Schema, o *states.Object) {
	nw := nodeWriter{p: p}
	fmt.Fprintf(&nw.b, "# %s:%s\n", a, note)
	nw.header(a.Resource.Resource)
	v, rs, err := formats.ObjectValue(rs, o)
	if err != nil {
		fmt.Fprintf(w, "%s{} # its attributes cannot be read\n", nw.b.String())
		return
	}
	c := &plans.ResourceChange{Change: plans.Change{Action: plans.NoOp, Before: v, After: v}}
	nw.node(difference.OfResource(c, rs, nil), 0, look{bare: true, all: true})
	fmt.Fprintln(w, nw.b.String())
}
