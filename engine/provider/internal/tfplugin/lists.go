package tfplugin

import (
	"context"
	"errors"
	"io"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// maxListed is the largest event of a list that is accepted, in bytes. A typical object has some thousand
// bytes.
const maxListed = 16 << 20

// maxEmpty is the largest number of events in a row that have no object and only carry warnings.
const maxEmpty = 1000

// listTypes returns two schemas for a list resource type. list describes the configuration of its list blocks.
// object describes the managed type of the listed objects.
func (c *client) listTypes(ctx context.Context, name string) (list, object *schema.Schema, ds diags.Diagnostics) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return nil, nil, ds
	}
	if list = declared.Resource("list", name); list == nil {
		return nil, nil, c.missing(declared, "list", name)
	}
	if object = declared.Resource("managed", name); object == nil {
		return nil, nil, c.missing(declared, "managed", name)
	}
	return list, object, nil
}

func (c *client) ValidateList(ctx context.Context, r provider.ListRequest) diags.Diagnostics {
	list, _, ds := c.listTypes(ctx, r.TypeName)
	if ds.HasErrors() {
		return ds
	}
	req := ValidateListResourceConfig_Request{
		TypeName: r.TypeName, Config: encode(r.Config, implied(list)),
		IncludeResourceObject: encode(cty.BoolVal(r.Objects), cty.Bool), Limit: encode(cty.NumberIntVal(r.Limit), cty.Number),
	}
	var resp ValidateListResourceConfig_Response
	if ds := c.call(ctx, validateList, &req, &resp); ds.HasErrors() {
		return ds
	}
	return diagnostics(resp.Diagnostics)
}

// List reads the stream of events until the function found returns false or ctx ends. It keeps no events, so
// an endless stream takes time, but no memory.
func (c *client) List(ctx context.Context, r provider.ListRequest, found func(provider.Listed) bool) diags.Diagnostics {
	list, of, ds := c.listTypes(ctx, r.TypeName)
	if ds.HasErrors() {
		return ds
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := c.Conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, c.method(listResource), grpc.MaxCallRecvMsgSize(maxListed))
	if err == nil {
		err = stream.SendMsg(&ListResource_Request{
			TypeName: r.TypeName, Config: encode(r.Config, implied(list)), IncludeResourceObject: r.Objects, Limit: r.Limit,
		})
	}
	if err == nil || errors.Is(err, io.EOF) { // an end is explained by the answer
		err = stream.CloseSend()
	}
	if err != nil {
		return c.explain(ctx, listResource, err)
	}
	for empty := 0; empty < maxEmpty; {
		var e ListResource_Event
		switch err := stream.RecvMsg(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.explain(ctx, listResource, err)
		}
		x, ds := c.listed(&e, of)
		if ds.HasErrors() {
			return ds
		}
		if empty++; x.Identity != cty.NilVal {
			empty = 0
		}
		if !found(x) {
			return nil
		}
	}
	return diags.Errorf(nil, "Provider lists nothing", "The provider %s sent %d events for %q without an object among them. Lockstep stopped the query. This is a bug in the provider: report it there.", c.Name, maxEmpty, r.TypeName)
}

// listed decodes an event. object is the schema of the listed objects.
func (c *client) listed(e *ListResource_Event, object *schema.Schema) (provider.Listed, diags.Diagnostics) {
	x := provider.Listed{DisplayName: e.DisplayName, Diagnostics: diagnostics(e.Diagnostic)}
	if x.Diagnostics.HasErrors() {
		return x, nil
	}
	var ds diags.Diagnostics
	if x.Identity, ds = c.identity(listResource, e.Identity, identityType(object)); ds.HasErrors() {
		return x, ds
	}
	if e.ResourceObject != nil {
		v, err := decode(e.ResourceObject, implied(object))
		if err != nil {
			return x, c.undecodable(listResource, "an object", err)
		}
		if !v.IsNull() && v.IsWhollyKnown() {
			x.Object = v
		}
	}
	return x, nil
}

func (c *client) GenerateConfig(ctx context.Context, typeName string, state cty.Value) (cty.Value, diags.Diagnostics) {
	rt, ds := c.resourceType(ctx, typeName)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	req := GenerateResourceConfig_Request{TypeName: typeName, State: encode(state, rt.values)}
	var resp GenerateResourceConfig_Response
	if ds := c.call(ctx, generateConfig, &req, &resp); ds.HasErrors() {
		return cty.NilVal, ds
	}
	if ds = diagnostics(resp.Diagnostics); ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, err := decode(resp.Config, rt.values)
	if err != nil {
		return cty.NilVal, append(ds, c.undecodable(generateConfig, "a configuration", err)...)
	}
	return v, ds
}
