package executor

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// Show implements jobs.Engine.
func (e *Engine) Show(ctx context.Context, j jobs.Job, c comment.Command) (comment.Shown, string, error) {
	none := comment.Shown{}
	if j.Snapshot != nil {
		return none, "", errNoRights
	}
	j.Access = jobs.Reads
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return none, "", fmt.Errorf("open %s: %w", describe(j), err)
	}
	shown := comment.Shown{Command: c, Project: j.Project}
	if !ds.HasErrors() {
		ds = append(ds, o.show(ctx, c, &shown)...)
	}
	if ctx.Err() != nil {
		return none, "", fmt.Errorf("show the state of %s: %w", describe(j), context.Cause(ctx))
	}
	if ds.HasErrors() {
		report, _ := o.reporter(o.secrets(nil, nil)).within(ds, reportLimit)
		return none, report, nil
	}
	return shown, "", nil
}

// show reads the state, and adds the entries to shown. It loads the schemas of the providers, because these say
// which values are sensitive.
func (o *checkout) show(ctx context.Context, c comment.Command, shown *comment.Shown) diags.Diagnostics {
	b, ds := o.encryptedBackend(ctx)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.readState(ctx, b)...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return ds
	}
	hide, s, name := o.secrets(nil, nil), o.State.Current, strings.Join(c.Arguments, " ")
	if c.Verb == comment.Output {
		return append(ds, showOutputs(s, name, hide, shown)...)
	}
	return append(ds, o.showObjects(s, name, hide, shown)...)
}

// contents returns the outputs that are not sensitive, and the addresses of the objects of a state, as text. Long lists are cut.
func (o *checkout) contents(s *states.State, hide *secrets) string {
	var outputs, objects comment.Shown
	showOutputs(s, "", hide, &outputs) // The empty name means all outputs, so there can be no error about a wrong name.
	o.showObjects(s, "", hide, &objects)
	var b strings.Builder
	for _, part := range []struct {
		title string
		comment.Shown
	}{{"Outputs", outputs}, {"Objects", objects}} {
		fmt.Fprintf(&b, "%s: %d\n\n%s", part.title, part.Total, part.Text)
		if part.Left > 0 {
			fmt.Fprintf(&b, "... and %d more\n", part.Left)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// showOutputs adds the output with a name, or all of them if the name is "".
func showOutputs(s *states.State, name string, hide *secrets, shown *comment.Shown) diags.Diagnostics {
	all := maps.Collect(s.Outputs())
	if _, ok := all[name]; name != "" && !ok {
		return diags.Errorf(nil, "No such output", "The state has no output %q.%s It has the outputs of the last apply.", name, diags.Suggest(name, maps.Keys(all)))
	}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if name != "" && n != name {
			continue
		}
		if all[n].Sensitive {
			shown.Hidden++
		}
		var b strings.Builder
		(&render.Printer{}).Outputs(&b, states.Of(map[string]states.Output{n: all[n]}, nil))
		shown.Add(hide.From(b.String()))
	}
	return nil
}

// showObjects adds the addresses of the instances below an address, or of all instances if the address is
// "". If the address is that of one instance, it adds the object.
func (o *checkout) showObjects(s *states.State, address string, hide *secrets, shown *comment.Shown) diags.Diagnostics {
	var t addrs.Target
	if address != "" {
		var err error
		if t, err = addrs.ParseTarget(address); err != nil {
			return diags.FromError("Invalid address", err)
		}
	}
	var found []addrs.AbsResourceInstance
	for a := range instancesOf(s) {
		if address == "" || t.Contains(a) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, addrs.AbsResourceInstance.Compare)
	switch {
	case address == "":
	case len(found) == 0:
		known := func(yield func(string) bool) {
			for a := range instancesOf(s) {
				if !yield(a.String()) {
					return
				}
			}
		}
		return diags.Errorf(nil, "No such object", "The state has no object of %s.%s To see all addresses, comment `lockstep show`.", address, diags.Suggest(address, known))
	case len(found) == 1 && !t.IsModule():
		return o.showObject(s, found[0], hide, shown)
	}
	for i, a := range found {
		if shown.Left > 0 { // there is no more room
			shown.Skip(len(found) - i)
			break
		}
		shown.Add(hide.From(a.String() + "\n"))
	}
	return nil
}

func instancesOf(s *states.State) iter.Seq[addrs.AbsResourceInstance] {
	return func(yield func(addrs.AbsResourceInstance) bool) {
		for r, x := range s.Resources() {
			for k := range x.Instances {
				if !yield(r.Instance(k)) {
					return
				}
			}
		}
	}
}

// showObject adds one object. Without the schema by which the object was written, nobody knows which of its values
// are sensitive, so nothing is shown.
func (o *checkout) showObject(s *states.State, a addrs.AbsResourceInstance, hide *secrets, shown *comment.Shown) diags.Diagnostics {
	r, in := s.Resource(a.AbsResource()), s.Instance(a)
	of := formats.Schemas(o.Schemas).Resource(r.Provider.Provider, a.Resource.Resource)
	objects := slices.Collect(maps.Values(in.Deposed))
	if in.Current != nil {
		objects = append(objects, in.Current)
	}
	for _, x := range objects {
		if of == nil || of.Block == nil || x.SchemaVersion != of.Version {
			return diags.Errorf(nil, "Schema of another version", "The object %s was written with another version of its provider, so Lockstep does not know which of its values are sensitive. To update the state, comment `lockstep drift` and apply the plan.", a)
		}
	}
	var b strings.Builder
	(&render.Printer{}).Object(&b, s, a, o.Schemas)
	shown.Object = true
	shown.Add(hide.From(b.String()))
	return nil
}
