package providertest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func (c *client) ValidateResource(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	want("validate "+typeName, c.managed("validate", typeName), config, false)
	return c.begin(ctx, "validate", typeName, nameOf(config), false).before
}

// UpgradeState converts a stored object to the current schema. An attribute may have its older name (see "was"
// in [New]). Attributes that no longer exist are dropped.
func (c *client) UpgradeState(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	s := c.managed("upgrade", req.TypeName)
	var stored map[string]json.RawMessage
	if err := json.Unmarshal(req.JSON, &stored); err != nil {
		return cty.NilVal, diags.FromError("Invalid state", err)
	}
	e := c.begin(ctx, "upgrade", req.TypeName, textOf(stored["name"]), false)
	if e.before.HasErrors() {
		return cty.NilVal, e.before
	}
	ty := s.Block.ImpliedType()
	attrs := s.Block.EmptyValue().AsValueMap()
	for name := range attrs {
		src, ok := stored[name]
		if was := c.p.traits[req.TypeName][name].was; !ok && was != "" {
			src, ok = stored[was]
		}
		if !ok {
			continue
		}
		v, err := ctyjson.Unmarshal(src, ty.AttributeType(name))
		if err != nil {
			return cty.NilVal, diags.FromError("Invalid state", fmt.Errorf("%s: %w", name, err))
		}
		attrs[name] = v
	}
	return e.spoil(cty.ObjectVal(attrs)), nil
}

// UpgradeIdentity converts a stored identity to the current identity schema. As in UpgradeState, an attribute
// may have its older name.
func (c *client) UpgradeIdentity(ctx context.Context, req provider.UpgradeIdentityRequest) (cty.Value, diags.Diagnostics) {
	s := c.managed("upgrade", req.TypeName)
	if e := c.begin(ctx, "upgrade-identity", req.TypeName, fmt.Sprint(req.Version), true); e.before.HasErrors() {
		return cty.NilVal, e.before
	}
	var stored map[string]json.RawMessage
	if err := json.Unmarshal(req.JSON, &stored); err != nil {
		return cty.NilVal, diags.FromError("Invalid identity", err)
	}
	attrs := map[string]cty.Value{}
	for name, a := range s.Identity.Attributes {
		src, ok := stored[name]
		if was := c.p.traits[req.TypeName][name].was; !ok && was != "" {
			src, ok = stored[was]
		}
		if attrs[name] = cty.NullVal(a.Type); !ok {
			continue
		}
		v, err := ctyjson.Unmarshal(src, a.Type)
		if err != nil {
			return cty.NilVal, diags.FromError("Invalid identity", fmt.Errorf("%s: %w", name, err))
		}
		attrs[name] = v
	}
	return cty.ObjectVal(attrs), nil
}

// identityOf returns the identity of an object; cty.NilVal if its type has none, or the rules hide it.
func (e effect) identityOf(s *schema.Schema, v cty.Value) cty.Value {
	if s.Identity == nil || v.IsNull() || e.anonymous {
		return cty.NilVal
	}
	attrs := map[string]cty.Value{}
	for name := range s.Identity.Attributes {
		attrs[name] = v.GetAttr(name)
	}
	return cty.ObjectVal(attrs)
}

// wantIdentity panics if an identity in a call has unknown parts, or if the type has no identities.
func wantIdentity(call string, s *schema.Schema, v cty.Value) {
	if v == cty.NilVal {
		return
	}
	if s.Identity == nil {
		panic(call + ": there is an identity, and the type has none")
	}
	if errs := v.Type().TestConformance(s.Identity.Type()); len(errs) > 0 || v.IsNull() || !v.IsWhollyKnown() {
		panic(fmt.Sprintf("%s: the identity is not one of the schema: %#v", call, v))
	}
}

func (c *client) Read(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	c.ready("read")
	s := c.managed("read", req.TypeName)
	want("read "+req.TypeName, s, req.Prior, true)
	wantIdentity("read "+req.TypeName, s, req.Identity)
	e := c.begin(ctx, "read", req.TypeName, nameOf(req.Prior), true)
	ds := append(e.before, mistaken(req.Prior, req.Private)...)
	if ds.HasErrors() {
		return provider.ReadResponse{}, ds
	}
	v := c.p.object(c.p.keyOf(req.TypeName, req.Prior))
	if v == cty.NilVal || e.gone {
		v = cty.NullVal(req.Prior.Type())
	}
	return provider.ReadResponse{New: e.spoil(v), Identity: e.identityOf(s, v), Private: req.Private}, append(ds, e.after...)
}

func (c *client) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	c.ready("plan")
	s := c.managed("plan", req.TypeName)
	what := "plan " + req.TypeName
	want(what, s, req.Prior, true)
	want(what, s, req.Proposed, false)
	want(what, s, req.Config, false)
	wantIdentity(what, s, req.Identity)
	if req.Proposed.IsNull() && !c.p.declared.PlanDestroy {
		panic(what + ": the provider did not ask to plan deletions")
	}
	if req.Proposed.IsNull() != req.Config.IsNull() {
		panic(what + ": only one of proposed value and configuration is null")
	}
	name := nameOf(req.Proposed)
	if req.Proposed.IsNull() {
		name = nameOf(req.Prior)
	}
	e := c.begin(ctx, "plan", req.TypeName, name, true)
	ds := append(e.before, mistaken(req.Prior, req.Private)...)
	if ds.HasErrors() {
		return provider.PlanResponse{}, ds
	}
	planned, replace := c.p.plan(req)
	if e.stays {
		planned = req.Prior
	}
	return provider.PlanResponse{
		Planned:          e.spoil(planned),
		Identity:         req.Identity,
		Private:          req.Private,
		RequiresReplace:  replace,
		LegacyTypeSystem: c.p.legacy,
	}, append(ds, e.after...)
}

func (c *client) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	c.ready("apply")
	s := c.managed("apply", req.TypeName)
	op, subject := "update", req.Planned
	switch {
	case req.Prior.IsNull():
		op = "create"
	case req.Planned.IsNull():
		op, subject = "delete", req.Prior
	}
	what := op + " " + req.TypeName
	want(what, s, req.Prior, true)
	want(what, s, req.Planned, false)
	want(what, s, req.Config, true)
	e := c.begin(ctx, op, req.TypeName, nameOf(subject), true)
	out := provider.ApplyResponse{New: req.Prior, Identity: req.Identity, Private: req.Private, LegacyTypeSystem: c.p.legacy}
	ds := append(e.before, mistaken(req.Prior, req.Private)...)
	if c.dead.Load() {
		return provider.ApplyResponse{Unanswered: true}, ds
	}
	if ds.HasErrors() {
		return out, ds
	}
	v, err := c.p.apply(op, req)
	if err != nil {
		return out, append(ds, diags.FromError("Change failed", err)...)
	}
	if e.stays {
		v = req.Prior
	}
	if e.anonymous {
		out.Identity = cty.NilVal
	}
	out.New = e.spoil(v)
	if !v.IsNull() {
		out.Private = privateOf(v)
	}
	// As most providers do, the fake sets the identity of a new object, and leaves the identity of an existing
	// object unchanged.
	if s.Identity != nil && op == "create" {
		out.Identity = e.identityOf(s, v)
	} else if s.Identity != nil && op == "update" && req.Identity == cty.NilVal {
		return out, append(ds, diags.Errorf(nil, "Missing Resource Identity After Update", "The update of %s was not given the identity.", nameOf(subject))...)
	}
	return out, append(ds, e.after...)
}

func (c *client) Import(ctx context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	c.ready("import")
	typeName, id := req.TypeName, req.ID
	s := c.managed("import", typeName)
	if wantIdentity("import "+typeName, s, req.Identity); req.Identity != cty.NilVal {
		id = c.p.identified(typeName, req.Identity)
	}
	e := c.begin(ctx, "import", typeName, id, true)
	if e.before.HasErrors() {
		return nil, e.before
	}
	stub := s.Block.EmptyValue().AsValueMap()
	stub["id"] = cty.StringVal(id)
	found := provider.Imported{TypeName: typeName, State: e.spoil(cty.ObjectVal(stub)), Identity: req.Identity}
	switch {
	case e.gone || id == "":
		return nil, e.before
	case e.twice:
		stub["id"] = cty.StringVal(id + "-further")
		return []provider.Imported{found, {TypeName: typeName, State: cty.ObjectVal(stub)}}, e.before
	}
	return []provider.Imported{found}, e.before
}

// Move copies the attributes with the same names.
func (c *client) Move(ctx context.Context, req provider.MoveRequest) (provider.MoveResponse, diags.Diagnostics) {
	v, ds := c.UpgradeState(ctx, provider.UpgradeRequest{TypeName: req.TargetType, JSON: req.SourceJSON})
	if ds.HasErrors() {
		return provider.MoveResponse{}, ds
	}
	e := c.begin(ctx, "move", req.TargetType, nameOf(v), true)
	if e.before.HasErrors() {
		return provider.MoveResponse{}, e.before
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	from, to := c.p.keyOf(req.SourceType, v), c.p.keyOf(req.TargetType, v)
	if obj, ok := c.p.objects[from]; ok {
		delete(c.p.objects, from)
		obj.value = v
		c.p.objects[to] = obj
	}
	return provider.MoveResponse{State: e.spoil(v), Identity: e.identityOf(c.managed("move", req.TargetType), v), Private: req.SourcePrivate}, e.before
}

// identified returns the ID of the object with an identity; "" if there is none. A null attribute of the
// identity matches any value.
func (p *Provider) identified(typeName string, identity cty.Value) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, obj := range p.objects {
		is := key.typeName == typeName
		for name, want := range identity.AsValueMap() {
			is = is && (want.IsNull() || obj.value.GetAttr(name).RawEquals(want))
		}
		if is {
			return key.id
		}
	}
	return ""
}

// privateOf returns the private data of an object. With it, the fake notices if the engine mixes up objects.
func privateOf(v cty.Value) []byte { return []byte("private of " + idOf(v)) }

func mistaken(prior cty.Value, private []byte) diags.Diagnostics {
	if prior.IsNull() || len(private) == 0 || string(private) == string(privateOf(prior)) {
		return nil
	}
	return diags.Errorf(nil, "Wrong private data",
		"The object %s was given with the private data %q.", idOf(prior), private)
}

func textOf(src json.RawMessage) string {
	var s string
	_ = json.Unmarshal(src, &s)
	return s
}
