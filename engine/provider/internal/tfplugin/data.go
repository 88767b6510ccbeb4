package tfplugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

func (c *client) ValidateData(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return ds
	}
	s := declared.Resource("data", typeName)
	if s == nil {
		return c.missing(declared, "data", typeName)
	}
	req := ValidateConfig_Request{TypeName: typeName, Config: encode(config, implied(s))}
	return c.validate(ctx, c.Protocol.ValidateData, &req)
}

func (c *client) ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	s := declared.Resource("data", typeName)
	if s == nil {
		return cty.NilVal, c.missing(declared, "data", typeName)
	}
	req := ReadDataSource_Request{
		TypeName:           typeName,
		Config:             encode(config, implied(s)),
		ProviderMeta:       encodeMeta(meta, metaType(declared)),
		ClientCapabilities: ours,
	}
	var resp ReadDataSource_Response
	if ds := c.call(ctx, readData, &req, &resp); ds.HasErrors() {
		return cty.NilVal, ds
	}
	ds = append(diagnostics(resp.Diagnostics), c.mustNotDefer(readData, resp.Deferred)...)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, err := decode(resp.State, implied(s))
	if err != nil {
		return cty.NilVal, append(ds, c.undecodable(readData, "a state", err)...)
	}
	return v, ds
}
