package providertest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

func (c *client) ValidateList(ctx context.Context, req provider.ListRequest) diags.Diagnostics {
	want("validate list "+req.TypeName, c.p.declared.List[req.TypeName], req.Config, true)
	return c.begin(ctx, "validate", req.TypeName, "", false).before
}

// List sends the objects that have the attributes of the configuration, in the order of their IDs. It ignores
// the limit of the request: the engine must enforce it.
func (c *client) List(ctx context.Context, req provider.ListRequest, found func(provider.Listed) bool) diags.Diagnostics {
	what := "list " + req.TypeName
	c.ready(what)
	want(what, c.p.declared.List[req.TypeName], req.Config, true)
	s := c.managed(what, req.TypeName)
	e := c.begin(ctx, "list", req.TypeName, "", true)
	if e.before.HasErrors() {
		return e.before
	}
	p := c.p
	p.mu.Lock()
	objects := map[string]cty.Value{}
	for key, o := range p.objects {
		if key.typeName == req.TypeName && matches(o.value, req.Config) {
			objects[key.id] = o.value
		}
	}
	p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(objects)) {
		x := provider.Listed{DisplayName: fmt.Sprintf("%s %s", req.TypeName, id), Identity: e.identityOf(s, objects[id])}
		if req.Objects {
			x.Object = s.Block.WithoutWriteOnly(objects[id])
		}
		if !found(x) {
			break
		}
	}
	return append(e.before, e.after...)
}

// GenerateConfig returns the object unchanged: it is its own configuration.
func (c *client) GenerateConfig(_ context.Context, _ string, state cty.Value) (cty.Value, diags.Diagnostics) {
	return state, nil
}

// matches reports whether an object has the same values as a configuration, for all attributes that are set in
// the configuration.
func matches(object, config cty.Value) bool {
	for name, v := range config.AsValueMap() {
		if !v.IsNull() && (!object.Type().HasAttribute(name) || !object.GetAttr(name).RawEquals(v)) {
			return false
		}
	}
	return true
}
