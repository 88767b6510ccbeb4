package session

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// opening is a provider configuration that is being opened.
type opening struct {
	s     *Session
	addr  addrs.AbsProviderConfig
	block *config.Provider // nil if there is no block: then the configuration is empty
	body  *schema.Bound
	value cty.Value // the value of the block, without marks
	in    addrs.ModuleInstance
}

// open evaluates the block of a provider configuration, starts a provider process, and configures it. It also
// returns the value of the block.
func (s *Session) open(ctx context.Context, pc addrs.AbsProviderConfig) (provider.Client, cty.Value, diags.Diagnostics) {
	ps, ds := s.Providers.Schema(ctx, pc.Provider)
	if ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	o := &opening{s: s, addr: pc}
	if ds = append(ds, o.evaluate(ps)...); ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	if o.block != nil && o.block.Mocked {
		c, more := s.Providers.Client(ctx, pc)
		return c, cty.NilVal, append(ds, more...)
	}
	if c := s.inherited(pc, o.value); c != nil {
		return c.client, o.value, c.ds
	}
	hint := o.doubt()
	if s.Known && hint != "" {
		return nil, cty.NilVal, append(ds, diags.Errorf(o.block.Range.Ptr(), "Invalid provider configuration", "%s", hint)...)
	}
	start := s.Providers.Client
	if s.former[pc] != nil {
		start = s.Providers.Another
	}
	c, more := start(ctx, pc)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	c = s.limited(pc.Provider, c)
	if hint != "" {
		c = &doubtful{c, hint}
	}
	if ds = append(ds, o.answered(c.ValidateProvider(ctx, o.value))...); ds.HasErrors() {
		return nil, cty.NilVal, ds
	}
	return c, o.value, append(ds, o.answered(c.Configure(ctx, o.value))...)
}

// evaluate evaluates the provider block; an empty block if there is none.
func (o *opening) evaluate(ps *schema.Provider) diags.Diagnostics {
	m := o.s.Config.Modules[o.addr.Module]
	if m != nil {
		o.block = m.ProviderBlock(o.addr)
	}
	if !o.s.HasProvider(o.addr) {
		return NoProvider(o.addr, "resources")
	}
	if o.block != nil && o.block.Mocked {
		return nil
	}
	if o.block == nil {
		o.body = ps.Provider.Block.Bind(hcl.EmptyBody())
		val, ds := o.body.Decode(nil)
		o.s.recordProvider(o.addr, ps.Provider, nil, val)
		o.value = val
		return append(ds, o.missing(ds)...)
	}
	ins, ds := o.s.Eval.Modules(m)
	if ds.HasErrors() || len(ins) == 0 {
		return append(ds, diags.Reported()...)
	}
	o.in = ins[0]
	scope := eval.Scope{Module: o.in}
	if o.block.ForEach != nil {
		scope.Instance, _ = o.s.providerInstance(o.addr)
	}
	ctx, more := o.block.Context, diags.Diagnostics(nil)
	if ctx == nil {
		ctx, more = o.s.Eval.BlockContext(o.block, scope)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.body = ps.Provider.Block.Bind(o.block.Body)
	val, more := o.body.Decode(ctx)
	o.s.recordProvider(o.addr, ps.Provider, o.block, val)
	o.value = marks.Plain(val)
	return append(ds, more...)
}

// HasProvider reports whether a provider configuration exists: it has a block, or it is the default one in the
// root module, which needs no block. If the block has for_each, an instance with the key of pc must also exist.
func (s *Session) HasProvider(pc addrs.AbsProviderConfig) bool {
	m := s.Config.Modules[pc.Module]
	if m == nil {
		return false
	}
	block := m.ProviderBlock(pc)
	switch {
	case block == nil:
		return pc.Alias == "" && pc.Module.IsRoot() && pc.Key.IsNone()
	case block.ForEach == nil:
		return pc.Key.IsNone()
	}
	_, ok := s.providerInstance(pc)
	return ok
}

// NoProvider returns the error for objects whose provider configuration no longer exists. The parameter who
// names these objects.
func NoProvider(pc addrs.AbsProviderConfig, who string) diags.Diagnostics {
	if !pc.Key.IsNone() {
		return diags.Errorf(nil, "Provider instance not present",
			"The state has objects of %s, made with the provider instance %s, which the configuration does not have any more. It is needed to read and destroy them: keep its key in the for_each of the provider block until they are gone, and only then take it out.", who, pc)
	}
	return diags.Errorf(nil, "Provider configuration not present",
		"The state has objects of %s, made with the provider configuration %s, which the configuration does not have any more. It is needed to read and destroy them: put the provider block back until they are gone.", who, pc)
}

// missing returns the error that the provider block is missing, if there is no block and ds, the provider's
// answer, has errors. Otherwise it returns nil.
func (o *opening) missing(ds diags.Diagnostics) diags.Diagnostics {
	if o.block != nil || !ds.HasErrors() {
		return nil
	}
	return diags.Errorf(nil, "Invalid provider configuration",
		"The provider %q needs to be configured: write a provider block in the root module, with the arguments that the provider's documentation calls required.", o.addr.Provider)
}

// answered adds the address of the provider configuration, and the source range of the attribute, to
// diagnostics from the provider.
func (o *opening) answered(ds diags.Diagnostics) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil && o.block != nil {
			ds[i].Subject = o.body.Locate(ds[i].Attribute).Ptr()
		}
		if ds[i].Address == "" {
			ds[i].Address = o.addr.String()
		}
	}
	return append(ds, o.missing(ds)...)
}
