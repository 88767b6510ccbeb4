// Package validating checks a configuration without knowing any input. It evaluates every block once, with
// unknown values for variables, instances and objects. Providers check the values as far as they are known.
//
// It configures no provider and refuses to know states and plans. Start at [Validate].
package validating

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Input is everything that a validation depends on.
type Input struct {
	session.Environment
	// Unused are the provider blocks that nothing uses. They are not checked.
	Unused map[*config.Provider]bool
	// Checked are the blocks about which the providers need not be asked. The validation adds those that
	// it has asked about without a diagnostic. It may be nil.
	Checked *digests.Checked
}

// Findings are the diagnostics of a validation, grouped by origin, because a later apply repeats only some of
// the groups.
type Findings struct {
	// References are the diagnostics about references to attributes of resources. Ignored are the diagnostics
	// about ignore_changes and about triggers of actions.
	References, Ignored, Others diags.Diagnostics
	Answers                     []Answer

	of addrs.ConfigResource // the only block that the findings are about; zero if there are several
}

// An Answer is the diagnostics that a provider returned about a block.
type Answer struct {
	Block addrs.ConfigResource
	Diags diags.Diagnostics
}

// All returns all diagnostics, of every origin.
func (f Findings) All() diags.Diagnostics {
	ds := slices.Concat(f.References, f.Others)
	for _, a := range f.Answers {
		ds = append(ds, a.Diags...)
	}
	return append(ds, f.Ignored...)
}

// Again returns those diagnostics that an apply repeats, after the plan has shown all of them. The function
// changing reports whether the apply will create or update an instance of a block.
func (f Findings) Again(cfg *config.Config, rs *refs.Refs, changing func(addrs.ConfigResource) bool) diags.Diagnostics {
	ds := append(ofChanging(f.References, cfg, rs, changing), f.Others...)
	for _, a := range f.Answers {
		if a.Block.Resource.Mode == addrs.Ephemeral || changing(a.Block) {
			ds = append(ds, a.Diags...)
		}
	}
	return ds
}

// Validate returns all errors that the configuration has with any input.
func Validate(ctx context.Context, in Input) Findings {
	v := &validator{in: in, imported: map[addrs.ConfigResource][]config.PlacedImport{}}
	for _, im := range in.Config.Imports() {
		v.imported[im.Target] = append(v.imported[im.Target], im)
	}
	v.eval = eval.New(ctx, eval.Phase{Program: in.Program, Resource: v.resourceValue, Unexpanded: true, OpaqueModules: true, AssertionsUnevaluated: true})
	v.s = &session.Session{Environment: in.Environment, Eval: v.eval}
	var visits []func(context.Context) Findings
	for _, m := range in.Config.Order {
		ins, ds := v.eval.Modules(m)
		if ds.HasErrors() || len(ins) == 0 {
			continue // the error of the call is reported already
		}
		at := ins[0]
		for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
			visits = append(visits, func(ctx context.Context) Findings { return v.resource(ctx, m, at, m.Resources[r]) })
		}
		for _, r := range slices.SortedFunc(maps.Keys(m.Actions), addrs.Resource.Compare) {
			visits = append(visits, func(ctx context.Context) Findings { return v.action(ctx, m, at, m.Actions[r]) })
		}
		if len(m.Removed) > 0 {
			visits = append(visits, func(context.Context) Findings { return Findings{Others: v.removed(m, at)} })
		}
		for _, p := range m.Providers {
			if in.Unused[p] {
				continue
			}
			visits = append(visits, func(ctx context.Context) Findings { return Findings{Others: v.provider(ctx, m, at, p)} })
		}
	}
	found := make([]Findings, len(visits))
	walk.Run(ctx, 4, walk.Graph{N: len(visits), After: make([][]int32, len(visits))}, func(ctx context.Context, i int) error {
		found[i] = visits[i](ctx)
		return nil
	})
	none := func(addrs.Object) bool { return false }
	var all Findings
	invalid := map[addrs.ConfigResource]bool{}
	for _, f := range found {
		if f.of != (addrs.ConfigResource{}) && f.Others.HasErrors() {
			invalid[f.of] = true
		}
		all.Others = append(all.Others, f.Others...)
		all.Ignored = append(all.Ignored, f.Ignored...)
		all.Answers = append(all.Answers, f.Answers...)
	}
	ds := append(all.Others, v.strayImports()...)
	ds = append(ds, v.eval.Force(none)...)
	ds = append(ds, session.CheckBlocks(v.eval, in.Config.Order, none)...)
	ds = append(ds, v.eval.Diagnostics()...)
	all.References = v.references(ctx, invalid).Unreported()
	all.Others = without(ds, all.References).Unreported()
	return all
}

// without returns ds without diagnostics that have the same summary and place as one of others.
func without(ds, others diags.Diagnostics) diags.Diagnostics {
	type key struct {
		summary string
		at      hcl.Range
	}
	said := map[key]bool{}
	for _, o := range others {
		if o.Subject != nil {
			said[key{o.Summary, *o.Subject}] = true
		}
	}
	return slices.DeleteFunc(ds, func(d diags.Diagnostic) bool {
		return d.Subject != nil && said[key{d.Summary, *d.Subject}]
	})
}

type validator struct {
	in       Input
	s        *session.Session
	eval     *eval.Evaluator
	imported map[addrs.ConfigResource][]config.PlacedImport // import blocks by target
}

// resourceValue returns the value of a resource for the evaluator. It is unknown, and so is its type, as in
// Terraform. References to missing attributes are found without values, by [validator.references].
func (v *validator) resourceValue(_ context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	m := v.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	val := cty.DynamicVal
	switch {
	case r.Count != nil || r.ForEach != nil:
		val = v.eval.CollectResource(r, nil, nil)
	case a.Resource.Mode == addrs.Ephemeral:
		val = val.Mark(marks.Ephemeral)
	}
	return val, nil
}
