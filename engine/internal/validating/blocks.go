package validating

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// resource validates one resource block in a module instance.
func (v *validator) resource(ctx context.Context, m *config.Module, in addrs.ModuleInstance, r *config.Resource) Findings {
	ds, rs, val := v.block(ctx, m, in, r)
	found := Findings{Others: ds, of: addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}}
	if ds.HasErrors() {
		return found
	}
	more, warnings := v.actionTriggers(m, in, r, rs.Block.ImpliedType())
	found.Others, found.Ignored = append(ds, more...), append(warnings, ignored(r, rs)...)
	if more.HasErrors() || found.Ignored.HasErrors() {
		return found
	}
	sum, has := digests.Sum{}, false
	if v.in.Checked != nil {
		if sum, has = v.s.BlockDigest(m.ResourceProvider(r).Provider, r, rs, val); has && v.in.Checked.Has(found.of.String(), sum) {
			return found
		}
	}
	client, more := v.in.Providers.Unconfigured(ctx, m.ResourceProvider(r).Provider)
	if found.Others = append(found.Others, more...); more.HasErrors() {
		return found
	}
	if answer := v.s.Place(ask(ctx, client, r, val), r, rs, found.of.String()); len(answer) > 0 {
		found.Answers = []Answer{{found.of, answer}}
	} else if has {
		v.in.Checked.Add(found.of.String(), sum)
	}
	return found
}

// block validates a block without calling the provider. It returns the schema and the value that the provider
// should check.
func (v *validator) block(ctx context.Context, m *config.Module, in addrs.ModuleInstance, r *config.Resource) (diags.Diagnostics, *schema.Schema, cty.Value) {
	addr := addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}.String()
	p := m.ResourceProvider(r).Provider
	ps, ds := v.in.Providers.Schema(ctx, p)
	if ds.HasErrors() {
		return ds, nil, cty.NilVal
	}
	rs := ps.Resource(r.Addr.Mode.String(), r.Addr.Type)
	if rs == nil {
		return append(ds, session.UnsupportedType(ps, p, r.Addr, r.TypeRange.Ptr())...), nil, cty.NilVal
	}
	instances, more := v.eval.ResourceInstances(in, r)
	if ds = append(ds, more...); more.HasErrors() {
		return ds, nil, cty.NilVal
	}
	scope := eval.Scope{Module: in}
	if len(instances) > 0 {
		scope.Instance = &instances[0]
	}
	val, more := v.s.ResourceConfig(r, rs, scope)
	ds = append(ds, more...)
	_, more = v.eval.Protects(in, r)
	ds = append(ds, more...)
	ds = append(ds, v.conditions(r, rs, scope)...)
	ds = append(ds, v.provisioners(m, r, rs, scope)...)
	ds = append(ds, v.imports(m, r, rs)...)
	ds = append(ds, v.triggers(ctx, m, r, scope)...)
	if ds.HasErrors() {
		return ds, nil, cty.NilVal
	}
	if marks.Any(val) && r.Addr.Mode != addrs.Ephemeral {
		if ds = append(ds, v.s.Place(rs.Block.CheckEphemeral(val), r, rs, addr)...); ds.HasErrors() {
			return ds, nil, cty.NilVal
		}
	}
	return ds, rs, val
}

// ask asks the provider to check a block's value.
func ask(ctx context.Context, c provider.Client, r *config.Resource, val cty.Value) diags.Diagnostics {
	plain := marks.Plain(val)
	switch r.Addr.Mode {
	case addrs.Data:
		return c.ValidateData(ctx, r.Addr.Type, plain)
	case addrs.Ephemeral:
		return c.ValidateEphemeral(ctx, r.Addr.Type, plain)
	}
	return c.ValidateResource(ctx, r.Addr.Type, plain)
}

// conditions evaluates the conditions of a block, as far as possible without known values.
func (v *validator) conditions(r *config.Resource, rs *schema.Schema, scope eval.Scope) diags.Diagnostics {
	var ds diags.Diagnostics
	check := func(cs []*config.Condition, kind string) {
		for _, c := range cs {
			own := v.ownReferences(r, c, kind)
			if ds = append(ds, own...); !own.HasErrors() {
				ds = append(ds, v.eval.Evaluate(c, scope).Diags...)
			}
		}
	}
	check(r.Preconditions, "precondition")
	scope.Self = cty.UnknownVal(rs.Block.ImpliedType())
	check(r.Postconditions, "postcondition")
	return ds
}

// ownReferences returns errors for references in a resource's condition to the resource by its own name.
func (v *validator) ownReferences(r *config.Resource, c *config.Condition, kind string) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
		for _, ref := range v.in.Refs.OfExpr(x) {
			if ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr {
				rng := ref.Range()
				detail := "The %s of %s cannot refer to the resource itself."
				if kind == "postcondition" {
					detail += " Use self for the checked instance."
				}
				ds = append(ds, diags.Errorf(&rng, "Invalid reference in "+kind, detail, kind, r.Addr)...)
			}
		}
	}
	return ds
}

// triggers checks that the attributes in replace_triggered_by exist: a missing attribute would never change.
// The plan reports references in another form. Source: Terraform 1.15,
// https://github.com/hashicorp/terraform/issues/36740.
func (v *validator) triggers(ctx context.Context, m *config.Module, r *config.Resource, scope eval.Scope) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, expr := range r.ReplaceTriggeredBy {
		t, more := session.Traversal(expr, scope, "")
		if more.HasErrors() {
			continue
		}
		// The reference may name all instances of a resource, which is not allowed in other expressions.
		if res, ok := traversals.Resource(t); ok {
			steps := 2
			if t.RootName() != res.Type || res.Mode != addrs.Managed {
				steps = 3
			}
			ref := refs.Reference{Object: addrs.Object{Kind: addrs.KindResource, Res: res}, Rest: t[steps:]}
			ds = append(ds, v.reference(ctx, m, &ref)...)
		}
	}
	return ds
}

// ignored checks that the attributes in ignore_changes exist.
func ignored(r *config.Resource, rs *schema.Schema) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, t := range r.IgnoreChanges {
		if ds = append(ds, traverse(rs.Block, t)...); ds.HasErrors() {
			continue
		}
		path, err := refs.Path(t)
		if err != nil {
			continue
		}
		if a := rs.Block.AttributeAt(path); a != nil && a.Computed && !a.Optional {
			ds = append(ds, diags.Warningf(&r.TypeRange, "Redundant ignore_changes element",
				"Adding %q to ignore_changes has no effect: the provider decides the attribute's value, which the configuration cannot set.", schema.FormatPath(path))...)
		}
	}
	return ds
}

// provider validates one provider block. A block without arguments cannot be wrong yet, and mocks are not
// checked.
func (v *validator) provider(ctx context.Context, m *config.Module, in addrs.ModuleInstance, p *config.Provider) diags.Diagnostics {
	if p.Mocked {
		return nil
	}
	if attrs, hs := p.Body.JustAttributes(); !hs.HasErrors() && len(attrs) == 0 {
		return nil
	}
	addr := m.ProviderOf(p.Addr.LocalName)
	ps, ds := v.in.Providers.Schema(ctx, addr)
	if ds.HasErrors() {
		return ds
	}
	scope := eval.Scope{Module: in}
	if p.ForEach != nil {
		ins, ds := v.eval.ForEach(p.ForEach, scope)
		if ds.HasErrors() || len(ins) == 0 {
			return ds
		}
		scope.Instance = &ins[0]
	}
	ectx := p.Context
	if ectx == nil {
		if ectx, ds = v.eval.BlockContext(p, scope); ds.HasErrors() {
			return ds
		}
	}
	bound := ps.Provider.Block.Bind(p.Body)
	val, ds := bound.Decode(ectx)
	if ds.HasErrors() {
		return ds
	}
	client, more := v.in.Providers.Unconfigured(ctx, addr)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	plain := marks.Plain(val)
	more = client.ValidateProvider(ctx, plain)
	for i := range more {
		if more[i].Subject == nil {
			more[i].Subject = bound.Locate(more[i].Attribute).Ptr()
		}
		if more[i].Address == "" {
			more[i].Address = addrs.AbsProviderConfig{Module: m.Addr, Provider: addr, Alias: p.Addr.Alias}.String()
		}
	}
	return append(ds, more...)
}
