package tfplugin

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// resourceType has the types that calls about one managed resource type need: of its values, of its
// identities, and of the provider_meta block (cty.NilType if there is none).
type resourceType struct {
	values, identity, meta cty.Type
}

func (c *client) resourceType(ctx context.Context, name string) (resourceType, diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return resourceType{}, ds
	}
	s := declared.Resource("managed", name)
	if s == nil {
		return resourceType{}, c.missing(declared, "managed", name)
	}
	return resourceType{values: implied(s), identity: identityType(s), meta: metaType(declared)}, nil
}

// identityType returns the type of a resource type's identities; cty.NilType if it has none.
func identityType(s *schema.Schema) cty.Type {
	if s == nil || s.Identity == nil {
		return cty.NilType
	}
	return s.Identity.Type()
}

// metaType returns the type of the provider_meta block; cty.NilType if the provider declares none.
func metaType(p *schema.Provider) cty.Type {
	if p.Meta == nil {
		return cty.NilType
	}
	return implied(p.Meta)
}

// encodeMeta encodes a provider_meta block, but only for a provider that declares one. If the module has no
// such block, it encodes null.
func encodeMeta(v cty.Value, ty cty.Type) *DynamicValue {
	if ty == cty.NilType {
		return nil
	}
	return encode(v, ty)
}

func (c *client) ValidateResource(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	rt, ds := c.resourceType(ctx, typeName)
	if ds.HasErrors() {
		return ds
	}
	req := ValidateConfig_Request{TypeName: typeName, Config: encode(config, rt.values), ClientCapabilities: ours}
	return c.validate(ctx, c.Protocol.ValidateResource, &req)
}

func (c *client) validate(ctx context.Context, method string, req *ValidateConfig_Request) diags.Diagnostics {
	var resp ValidateConfig_Response
	if ds := c.call(ctx, method, req, &resp); ds.HasErrors() {
		return ds
	}
	return diagnostics(resp.Diagnostics)
}

func (c *client) UpgradeState(ctx context.Context, r provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TypeName)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	req := UpgradeResourceState_Request{
		TypeName: r.TypeName,
		Version:  r.Version,
		RawState: &RawState{Json: r.JSON, Flatmap: r.Flatmap},
	}
	var resp UpgradeResourceState_Response
	if ds := c.call(ctx, upgradeState, &req, &resp); ds.HasErrors() {
		return cty.NilVal, ds
	}
	ds = diagnostics(resp.Diagnostics)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, err := decode(resp.UpgradedState, rt.values)
	if err != nil {
		return cty.NilVal, append(ds, c.undecodable(upgradeState, "an upgraded state", err)...)
	}
	return v, ds
}

func (c *client) UpgradeIdentity(ctx context.Context, r provider.UpgradeIdentityRequest) (cty.Value, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TypeName)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	req := UpgradeResourceIdentity_Request{TypeName: r.TypeName, Version: r.Version, RawIdentity: &RawState{Json: r.JSON}}
	var resp UpgradeResourceIdentity_Response
	if ds := c.call(ctx, upgradeIdentity, &req, &resp); ds.HasErrors() {
		return cty.NilVal, ds
	}
	ds = diagnostics(resp.Diagnostics)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, more := c.identity(upgradeIdentity, resp.UpgradedIdentity, rt.identity)
	return v, append(ds, more...)
}

// identity decodes the identity in an answer; cty.NilVal if there is none.
func (c *client) identity(method string, d *ResourceIdentityData, ty cty.Type) (cty.Value, diags.Diagnostics) {
	v, err := decodeIdentity(d, ty)
	if err != nil {
		return cty.NilVal, c.undecodable(method, "an identity", err)
	}
	return v, nil
}

func (c *client) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TypeName)
	if ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	req := ReadResource_Request{
		TypeName:           r.TypeName,
		CurrentState:       encode(r.Prior, rt.values),
		CurrentIdentity:    encodeIdentity(r.Identity, rt.identity),
		Private:            r.Private,
		ProviderMeta:       encodeMeta(r.Meta, rt.meta),
		ClientCapabilities: ours,
	}
	var resp ReadResource_Response
	if ds := c.call(ctx, readResource, &req, &resp); ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	ds = append(diagnostics(resp.Diagnostics), c.mustNotDefer(readResource, resp.Deferred)...)
	if ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	v, err := decode(resp.NewState, rt.values)
	if err != nil {
		return provider.ReadResponse{}, append(ds, c.undecodable(readResource, "a state", err)...)
	}
	identity, more := c.identity(readResource, resp.NewIdentity, rt.identity)
	return provider.ReadResponse{New: v, Identity: identity, Private: resp.Private}, append(ds, more...)
}

func (c *client) Plan(ctx context.Context, r provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TypeName)
	if ds.HasErrors() {
		return provider.PlanResponse{}, ds
	}
	req := PlanResourceChange_Request{
		TypeName:           r.TypeName,
		PriorState:         encode(r.Prior, rt.values),
		ProposedNewState:   encode(r.Proposed, rt.values),
		Config:             encode(r.Config, rt.values),
		PriorIdentity:      encodeIdentity(r.Identity, rt.identity),
		PriorPrivate:       r.Private,
		ProviderMeta:       encodeMeta(r.Meta, rt.meta),
		ClientCapabilities: ours,
	}
	var resp PlanResourceChange_Response
	if ds := c.call(ctx, planChange, &req, &resp); ds.HasErrors() {
		return provider.PlanResponse{}, ds
	}
	ds = append(diagnostics(resp.Diagnostics), c.mustNotDefer(planChange, resp.Deferred)...)
	if ds.HasErrors() {
		return provider.PlanResponse{}, ds
	}
	v, err := decode(resp.PlannedState, rt.values)
	if err != nil {
		return provider.PlanResponse{}, append(ds, c.undecodable(planChange, "a planned state", err)...)
	}
	identity, more := c.identity(planChange, resp.PlannedIdentity, rt.identity)
	if ds = append(ds, more...); ds.HasErrors() {
		return provider.PlanResponse{}, ds
	}
	out := provider.PlanResponse{Planned: v, Identity: identity, Private: resp.PlannedPrivate, LegacyTypeSystem: resp.LegacyTypeSystem}
	for _, p := range resp.RequiresReplace {
		out.RequiresReplace = append(out.RequiresReplace, decodePath(p))
	}
	return out, ds
}

func (c *client) Apply(ctx context.Context, r provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TypeName)
	if ds.HasErrors() {
		return provider.ApplyResponse{}, ds
	}
	req := ApplyResourceChange_Request{
		TypeName:        r.TypeName,
		PriorState:      encode(r.Prior, rt.values),
		PlannedState:    encode(r.Planned, rt.values),
		Config:          encode(r.Config, rt.values),
		PlannedIdentity: encodeIdentity(r.Identity, rt.identity),
		PlannedPrivate:  r.Private,
		ProviderMeta:    encodeMeta(r.Meta, rt.meta),
	}
	var resp ApplyResourceChange_Response
	if err := c.Conn.Invoke(ctx, c.method(applyChange), &req, &resp); err != nil {
		return provider.ApplyResponse{Unanswered: unanswered(err)}, c.explain(ctx, applyChange, err)
	}
	ds = diagnostics(resp.Diagnostics)
	out := provider.ApplyResponse{Private: resp.Private, LegacyTypeSystem: resp.LegacyTypeSystem}
	if resp.NewState == nil {
		return out, ds // the provider returned no object
	}
	v, err := decode(resp.NewState, rt.values)
	if err != nil {
		return out, append(ds, c.undecodable(applyChange, "a new state", err)...)
	}
	out.New = v
	// An object without a readable identity exists nevertheless: return it together with the error.
	identity, more := c.identity(applyChange, resp.NewIdentity, rt.identity)
	out.Identity = identity
	return out, append(ds, more...)
}

func (c *client) Import(ctx context.Context, r provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	req := ImportResourceState_Request{
		TypeName: r.TypeName, Id: r.ID, Identity: encodeIdentity(r.Identity, identityType(declared.Resource("managed", r.TypeName))), ClientCapabilities: ours,
	}
	var resp ImportResourceState_Response
	if ds := c.call(ctx, importState, &req, &resp); ds.HasErrors() {
		return nil, ds
	}
	ds = append(diagnostics(resp.Diagnostics), c.mustNotDefer(importState, resp.Deferred)...)
	if ds.HasErrors() {
		return nil, ds
	}
	var out []provider.Imported
	for _, found := range resp.ImportedResources {
		s := declared.Resource("managed", found.TypeName)
		if s == nil {
			return nil, append(ds, c.missing(declared, "managed", found.TypeName)...)
		}
		v, err := decode(found.State, implied(s))
		if err != nil {
			return nil, append(ds, c.undecodable(importState, fmt.Sprintf("a %s", found.TypeName), err)...)
		}
		identity, more := c.identity(importState, found.Identity, identityType(s))
		if ds = append(ds, more...); ds.HasErrors() {
			return nil, ds
		}
		out = append(out, provider.Imported{TypeName: found.TypeName, State: v, Identity: identity, Private: found.Private})
	}
	return out, ds
}

func (c *client) Move(ctx context.Context, r provider.MoveRequest) (provider.MoveResponse, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, r.TargetType)
	if ds.HasErrors() {
		return provider.MoveResponse{}, ds
	}
	req := MoveResourceState_Request{
		SourceProviderAddress: r.SourceProvider,
		SourceTypeName:        r.SourceType,
		SourceSchemaVersion:   r.SourceVersion,
		SourceState:           &RawState{Json: r.SourceJSON},
		SourcePrivate:         r.SourcePrivate,
		TargetTypeName:        r.TargetType,

		SourceIdentitySchemaVersion: r.SourceIdentityVersion,
	}
	if r.SourceIdentity != nil {
		req.SourceIdentity = &RawState{Json: r.SourceIdentity}
	}
	var resp MoveResourceState_Response
	if ds := c.call(ctx, moveState, &req, &resp); ds.HasErrors() {
		return provider.MoveResponse{}, ds
	}
	ds = diagnostics(resp.Diagnostics)
	if ds.HasErrors() {
		return provider.MoveResponse{}, ds
	}
	v, err := decode(resp.TargetState, rt.values)
	if err != nil {
		return provider.MoveResponse{}, append(ds, c.undecodable(moveState, "a moved state", err)...)
	}
	identity, more := c.identity(moveState, resp.TargetIdentity, rt.identity)
	return provider.MoveResponse{State: v, Identity: identity, Private: resp.TargetPrivate}, append(ds, more...)
}
