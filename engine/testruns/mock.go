package testruns

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A mock is a provider whose objects are made up. It asks the real provider, which is not configured, only to
// validate configurations, to upgrade states, and for its functions.
type mock struct {
	provider.Client
	declared *schema.Provider
	seed     string          // seed of the run, so that an object gets the same values in the plan and in the apply
	mock     *testfiles.Mock // the mock's settings; nil if the test sets no values
	valid    *validations    // kept results of the provider's validations
}

var _ provider.Client = (*mock)(nil)

func (m *mock) ValidateProvider(context.Context, cty.Value) diags.Diagnostics { return nil }
func (m *mock) Configure(context.Context, cty.Value) diags.Diagnostics        { return nil }
func (m *mock) Stop(context.Context) error                                    { return nil }
func (m *mock) Close() error                                                  { return nil }

// UpgradeState decodes an object of the current schema version itself: the mock has made it. The real
// provider upgrades objects of older versions.
func (m *mock) UpgradeState(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	rs := m.declared.Resource("managed", req.TypeName)
	if rs == nil || rs.Version != req.Version || req.JSON == nil {
		return m.Client.UpgradeState(ctx, req)
	}
	v, err := rs.Block.JSON().Parse(req.JSON)
	if err != nil {
		return cty.DynamicVal, diags.FromError("Invalid object in the state", err)
	}
	return v, nil
}

func (m *mock) ValidateResource(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	return m.validate("managed", typeName, config, func() diags.Diagnostics { return m.Client.ValidateResource(ctx, typeName, config) })
}

func (m *mock) ValidateData(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	return m.validate("data", typeName, config, func() diags.Diagnostics { return m.Client.ValidateData(ctx, typeName, config) })
}

// validate returns the kept result of validating an equal configuration. If there is none, it calls ask.
func (m *mock) validate(mode, typeName string, config cty.Value, ask func() diags.Diagnostics) diags.Diagnostics {
	encoded, err := msgpack.Marshal(config, m.declared.Resource(mode, typeName).Block.ImpliedType())
	if err != nil {
		return ask()
	}
	return m.valid.result(validation{mode, typeName, sha256.Sum256(encoded)}, ask)
}

// validations keeps the results of validating configurations with a provider. If a later run has an equal
// configuration, the provider is not asked again. The zero value is empty. It is safe for concurrent use.
type validations struct {
	mu sync.Mutex
	by map[validation]diags.Diagnostics
}

// A validation is a validated configuration: its resource type, and the hash of its encoded value.
type validation struct {
	mode, typeName string
	config         [sha256.Size]byte
}

// mostValidations is the number of results kept for each provider.
const mostValidations = 100_000

// result returns the kept result of a validation. If there is none, it calls ask, and keeps the result. It keeps no
// errors, because they may come from a crash.
func (x *validations) result(key validation, ask func() diags.Diagnostics) diags.Diagnostics {
	x.mu.Lock()
	ds, kept := x.by[key]
	x.mu.Unlock()
	if kept {
		return slices.Clone(ds)
	}
	if ds = ask(); ds.HasErrors() {
		return ds
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.by == nil {
		x.by = map[validation]diags.Diagnostics{}
	}
	if len(x.by) < mostValidations {
		x.by[key] = slices.Clone(ds)
	}
	return ds
}

// values are the values that a test sets for an object.
type values struct {
	object  cty.Value // the attributes; cty.NilVal if none are set
	planned bool      // the values are known in a plan already
	place   *hcl.Range
}

// set returns the values that the mock's settings have for a resource type.
func (m *mock) set(mode addrs.ResourceMode, typeName string) values {
	if m.mock == nil {
		return values{}
	}
	x := m.mock.Objects[testfiles.ObjectType{Mode: mode, Type: typeName}]
	if x == nil {
		return values{planned: testfiles.During(0).Planned(m.mock.During)}
	}
	return values{object: x.Defaults, planned: x.During.Planned(m.mock.During), place: &x.Range}
}

func (m *mock) Read(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	return provider.ReadResponse{New: req.Prior, Private: req.Private}, nil
}

func (m *mock) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	return m.plan(ctx, req, m.set(addrs.Managed, req.TypeName))
}

func (m *mock) plan(ctx context.Context, req provider.PlanRequest, set values) (provider.PlanResponse, diags.Diagnostics) {
	out := provider.PlanResponse{Planned: req.Proposed, Private: req.Private}
	if req.Proposed.IsNull() {
		return out, nil
	}
	c := m.composer(ctx, set)
	c.unknown = !set.planned
	c.wanted = func(v cty.Value) bool { return req.Prior.IsNull() && v.IsNull() }
	out.Planned = c.block(m.declared.Resource("managed", req.TypeName).Block, req.Proposed, set.object, "")
	return out, c.diags
}

func (m *mock) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	return m.apply(ctx, req, m.set(addrs.Managed, req.TypeName))
}

func (m *mock) apply(ctx context.Context, req provider.ApplyRequest, set values) (provider.ApplyResponse, diags.Diagnostics) {
	out := provider.ApplyResponse{New: req.Planned, Private: req.Private}
	if req.Planned.IsNull() {
		return out, nil
	}
	c := m.composer(ctx, set)
	c.wanted = func(v cty.Value) bool { return !v.IsKnown() }
	out.New = c.block(m.declared.Resource("managed", req.TypeName).Block, req.Planned, set.object, "")
	if c.diags.HasErrors() {
		out.New = req.Prior
	}
	return out, c.diags
}

func (m *mock) ReadData(ctx context.Context, typeName string, config, _ cty.Value) (cty.Value, diags.Diagnostics) {
	return m.made(ctx, "data", typeName, config, m.set(addrs.Data, typeName))
}

// made returns the configuration as an object, with all computed attributes made up.
func (m *mock) made(ctx context.Context, mode, typeName string, config cty.Value, set values) (cty.Value, diags.Diagnostics) {
	c := m.composer(ctx, set)
	c.wanted = cty.Value.IsNull
	v := c.block(m.declared.Resource(mode, typeName).Block, config, set.object, "")
	return v, c.diags
}

func (m *mock) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	v, ds := m.made(ctx, "ephemeral", typeName, config, values{})
	return provider.OpenResponse{Result: v}, ds
}

func (m *mock) RenewEphemeral(context.Context, string, []byte) (provider.RenewResponse, diags.Diagnostics) {
	return provider.RenewResponse{}, nil
}

func (m *mock) CloseEphemeral(context.Context, string, []byte) diags.Diagnostics { return nil }

// PlanAction and InvokeAction succeed: a mock does nothing.
func (m *mock) PlanAction(context.Context, string, cty.Value) diags.Diagnostics { return nil }

func (m *mock) InvokeAction(context.Context, string, cty.Value, func(string)) (provider.InvokeResponse, diags.Diagnostics) {
	return provider.InvokeResponse{}, nil
}

func (m *mock) Import(_ context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	return nil, diags.Errorf(nil, "A mock has nothing to import",
		"The import block asks a mocked provider for the object %q of the type %s. Override the resource that it is imported to, with an override_resource block.", req.ID, req.TypeName)
}

// overriding is a provider client, real or mocked, with some objects overridden: calls for them get made-up
// objects.
type overriding struct {
	provider.Client
	made      mock
	overrides []override
}

// overrideFor returns the values that a test sets for the resource instance which the call of ctx is about. ok
// is false if no override matches the instance.
func (c *overriding) overrideFor(ctx context.Context) (set values, ok bool) {
	a, known := provider.Instance(ctx)
	if !known {
		return values{}, false
	}
	for _, o := range c.overrides {
		if o.Hits(a) {
			return values{object: o.Values, planned: o.Override.During.Planned(o.during), place: &o.Range}, true
		}
	}
	return values{}, false
}

func (c *overriding) Read(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	if _, ok := c.overrideFor(ctx); ok {
		return c.made.Read(ctx, req)
	}
	return c.Client.Read(ctx, req)
}

func (c *overriding) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	if set, ok := c.overrideFor(ctx); ok {
		return c.made.plan(ctx, req, set)
	}
	return c.Client.Plan(ctx, req)
}

func (c *overriding) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	if set, ok := c.overrideFor(ctx); ok {
		return c.made.apply(ctx, req, set)
	}
	return c.Client.Apply(ctx, req)
}

func (c *overriding) ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics) {
	if set, ok := c.overrideFor(ctx); ok {
		return c.made.made(ctx, "data", typeName, config, set)
	}
	return c.Client.ReadData(ctx, typeName, config, meta)
}

// Import makes up the object if a test overrides it: the object has the values of the override, and made-up
// values for the rest. Otherwise it imports the real object.
func (c *overriding) Import(ctx context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	set, ok := c.overrideFor(ctx)
	if !ok {
		return c.Client.Import(ctx, req)
	}
	b := c.made.declared.Resource("managed", req.TypeName).Block
	v, ds := c.made.made(ctx, "managed", req.TypeName, b.EmptyValue(), set)
	return []provider.Imported{{TypeName: req.TypeName, State: v}}, ds
}
