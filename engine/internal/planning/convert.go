package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// convert asks a provider to convert the current object of a moved instance, if the move changes its resource
// type or provider. Deposed objects keep their type: they will only be deleted.
//
// The provider of the new address converts the object, since only this provider can know both types. It gets
// the object as stored, as JSON of the old type's schema version, and its answer must be complete. The
// converted object replaces the stored one before anything is planned, and is refreshed in the new type.
// Source: https://developer.hashicorp.com/terraform/plugin/framework/resources/state-move and
// docs/plugin-protocol in Terraform's repository (MoveResourceState).
func (p *planner) convert(ctx context.Context, from, to addrs.AbsResourceInstance) diags.Diagnostics {
	o := p.prior.Object(addrs.ResourceInstanceObject{Instance: from})
	source := p.prior.State().Resource(from.AbsResource()).Provider
	target, hasBlock := providerOf(p.in.Config, to.Config())
	sameType := from.Resource.Resource.Type == to.Resource.Resource.Type
	if o == nil || sameType && (!hasBlock || source.Provider == target.Provider) || to.Resource.Resource.Mode != addrs.Managed {
		return nil
	}
	rs, ps, ds := p.s.Schema(ctx, target.Provider, to.Resource.Resource, nil)
	if ds.HasErrors() {
		return ds.At(to.String())
	}
	if !ps.MoveResourceState {
		return append(ds, diags.Errorf(nil, "Unsupported `moved` across resource types",
			"The provider %q cannot turn objects of another type, or of another provider, into its own: %s cannot become %s.", target.Provider, from, to).At(to.String())...)
	}
	client, more := p.s.Providers.Unconfigured(ctx, target.Provider)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	resp, more := client.Move(ctx, provider.MoveRequest{
		SourceProvider: source.Provider.String(), SourceType: from.Resource.Resource.Type,
		SourceVersion: o.SchemaVersion, SourceJSON: o.AttrsJSON, SourcePrivate: o.Private,
		SourceIdentity: o.Identity.JSON, SourceIdentityVersion: o.Identity.Version, TargetType: to.Resource.Resource.Type,
	})
	if ds = append(ds, more.At(to.String())...); ds.HasErrors() {
		return ds
	}
	bad := func(what string) diags.Diagnostics {
		return append(ds, diags.Errorf(nil, "Provider returned invalid value",
			"The provider %q gave an invalid answer when %s was to become %s: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", target.Provider, from, to, what).At(to.String())...)
	}
	switch {
	case resp.State == cty.NilVal || resp.State.IsNull():
		return bad("there is no object")
	case !resp.State.IsWhollyKnown():
		return bad("it has unknown values")
	}
	for _, err := range resp.State.Type().TestConformance(rs.Block.ImpliedType()) {
		return bad(session.Describe(err))
	}
	if resp.Identity != cty.NilVal {
		for _, err := range resp.Identity.Type().TestConformance(rs.Identity.Type()) {
			return bad("identity: " + session.Describe(err))
		}
	}
	next, err := session.Encode(session.MarkSensitive(resp.State, rs, nil), rs, session.Encoding{
		Status: o.Status, Identity: session.EncodeIdentity(resp.Identity, rs, states.Identity{}), Private: resp.Private, Dependencies: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy, SkipDestroy: o.SkipDestroy,
	})
	if err != nil {
		return bad(err.Error())
	}
	p.prior.SetObject(addrs.ResourceInstanceObject{Instance: from}, target, next)
	return ds
}

// providerOf returns the provider configuration of a resource: the one that its block selects or, without a
// block, the default one for its type. hasBlock reports whether there is a block.
func providerOf(cfg *config.Config, cr addrs.ConfigResource) (pc addrs.AbsProviderConfig, hasBlock bool) {
	m := cfg.Modules[cr.Module]
	switch {
	case m == nil: // the module no longer exists, and its objects will be deleted
		m = cfg.Root
	case m.Resources[cr.Resource] != nil:
		return m.ResourceProvider(m.Resources[cr.Resource]), true
	}
	return m.ProviderConfig(addrs.LocalProviderConfig{LocalName: cr.Resource.ImpliedProvider()}), false
}
