package tfplugin

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

func (c *client) ephemeralType(ctx context.Context, name string) (cty.Type, diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return cty.NilType, ds
	}
	s := declared.Resource("ephemeral", name)
	if s == nil {
		return cty.NilType, c.missing(declared, "ephemeral", name)
	}
	return implied(s), nil
}

func (c *client) ValidateEphemeral(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	ty, ds := c.ephemeralType(ctx, typeName)
	if ds.HasErrors() {
		return ds
	}
	return c.validate(ctx, validateEphemeral, &ValidateConfig_Request{TypeName: typeName, Config: encode(config, ty)})
}

func (c *client) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	ty, ds := c.ephemeralType(ctx, typeName)
	if ds.HasErrors() {
		return provider.OpenResponse{}, ds
	}
	req := OpenEphemeralResource_Request{TypeName: typeName, Config: encode(config, ty), ClientCapabilities: ours}
	var resp OpenEphemeralResource_Response
	if ds := c.call(ctx, openEphemeral, &req, &resp); ds.HasErrors() {
		return provider.OpenResponse{}, ds
	}
	ds = append(diagnostics(resp.Diagnostics), c.mustNotDefer(openEphemeral, resp.Deferred)...)
	if ds.HasErrors() {
		return provider.OpenResponse{}, ds
	}
	v, err := decode(resp.Result, ty)
	if err != nil {
		return provider.OpenResponse{}, append(ds, c.undecodable(openEphemeral, "a result", err)...)
	}
	return provider.OpenResponse{Result: v, Private: resp.Private, RenewAt: instant(resp.RenewAt)}, ds
}

func (c *client) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diags.Diagnostics) {
	if _, ds := c.ephemeralType(ctx, typeName); ds.HasErrors() {
		return provider.RenewResponse{}, ds
	}
	var resp RenewEphemeralResource_Response
	if ds := c.call(ctx, renewEphemeral, &RenewEphemeralResource_Request{TypeName: typeName, Private: private}, &resp); ds.HasErrors() {
		return provider.RenewResponse{}, ds
	}
	return provider.RenewResponse{Private: resp.Private, RenewAt: instant(resp.RenewAt)}, diagnostics(resp.Diagnostics)
}

func (c *client) CloseEphemeral(ctx context.Context, typeName string, private []byte) diags.Diagnostics {
	if _, ds := c.ephemeralType(ctx, typeName); ds.HasErrors() {
		return ds
	}
	var resp CloseEphemeralResource_Response
	if ds := c.call(ctx, closeEphemeral, &CloseEphemeralResource_Request{TypeName: typeName, Private: private}, &resp); ds.HasErrors() {
		return ds
	}
	return diagnostics(resp.Diagnostics)
}

// instant returns t as a time.Time; zero if t is nil.
func instant(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
