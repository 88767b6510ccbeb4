package providertest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// client is one simulated process.
type client struct {
	p                        *Provider
	configured, closed, dead atomic.Bool
}

var _ provider.Client = (*client)(nil)

// want panics if the engine breaks a rule for v in a call: v conforms to s, has no marks, and is known if known
// is set.
func want(call string, s *schema.Schema, v cty.Value, known bool) {
	if v.ContainsMarked() {
		panic(fmt.Sprintf("%s: the value has marks: %#v", call, v))
	}
	if errs := v.Type().TestConformance(s.Block.ImpliedType()); len(errs) > 0 {
		panic(fmt.Sprintf("%s: the value does not conform to the schema: %s", call, errs[0]))
	}
	if known && !v.IsWhollyKnown() {
		panic(fmt.Sprintf("%s: the value is not wholly known: %#v", call, v))
	}
}

// ready panics if a call that needs a configuration is made to a client that is not configured, or that is
// closed.
func (c *client) ready(call string) {
	if c.closed.Load() {
		panic(call + ": the client is closed")
	}
	if !c.configured.Load() {
		panic(call + ": the client was not configured")
	}
}

func (c *client) managed(what, typeName string) *schema.Schema {
	s := c.p.declared.Managed[typeName]
	if s == nil {
		panic(fmt.Sprintf("%s: no resource type %s", what, typeName))
	}
	return s
}

// Lost reports whether the process has crashed. See [provider.Lost].
func (c *client) Lost() bool { return c.dead.Load() }

func (c *client) Schema(context.Context) (*schema.Provider, diags.Diagnostics) {
	if c.dead.Load() {
		return nil, crashed()
	}
	return c.p.declared, nil
}

func (c *client) ValidateProvider(ctx context.Context, config cty.Value) diags.Diagnostics {
	want("validate provider", c.p.declared.Provider, config, false)
	return c.begin(ctx, "validate", "provider", "", false).before
}

func (c *client) Configure(ctx context.Context, config cty.Value) diags.Diagnostics {
	want("configure", c.p.declared.Provider, config, false)
	if c.configured.Swap(true) {
		panic("configure: a process can be configured only once")
	}
	return c.begin(ctx, "configure", "", "", true).before
}

func (c *client) Stop(context.Context) error {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	select {
	case <-c.p.stopping:
	default:
		close(c.p.stopping)
	}
	return nil
}

func (c *client) Close() error {
	c.closed.Store(true)
	return nil
}

func (c *client) ValidateData(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	want("validate data "+typeName, c.p.declared.Data[typeName], config, false)
	return c.begin(ctx, "validate", typeName, nameOf(config), false).before
}

// ReadData returns the attributes of the managed object that has this type and the configured name. It makes
// up the attributes that this object does not have.
func (c *client) ReadData(ctx context.Context, typeName string, config, _ cty.Value) (cty.Value, diags.Diagnostics) {
	what := "data " + typeName
	c.ready(what)
	s := c.p.declared.Data[typeName]
	want(what, s, config, true)
	e := c.begin(ctx, "data", typeName, nameOf(config), true)
	if e.before.HasErrors() {
		return cty.NilVal, e.before
	}
	attrs := s.Block.SetUnknowns(config).AsValueMap()
	for _, found := range c.p.named(typeName, nameOf(config)) {
		for name, v := range found.AsValueMap() {
			if known, ok := attrs[name]; ok && !known.IsKnown() && v.Type().Equals(known.Type()) {
				attrs[name] = v
			}
		}
	}
	v := fill(cty.ObjectVal(attrs), nameOf(config), 1)
	return e.spoil(v), append(e.before, e.after...)
}

func (c *client) ValidateEphemeral(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	want("validate ephemeral "+typeName, c.p.declared.Ephemeral[typeName], config, false)
	return c.begin(ctx, "validate", typeName, nameOf(config), false).before
}

func (c *client) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	what := "open " + typeName
	c.ready(what)
	s := c.p.declared.Ephemeral[typeName]
	want(what, s, config, true)
	e := c.begin(ctx, "open", typeName, nameOf(config), true)
	if e.before.HasErrors() {
		return provider.OpenResponse{}, e.before
	}
	v := fill(s.Block.SetUnknowns(config), nameOf(config), 1)
	return provider.OpenResponse{Result: e.spoil(v), Private: []byte(nameOf(config)), RenewAt: c.p.renewAt()}, append(e.before, e.after...)
}

func (c *client) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diags.Diagnostics) {
	c.ready("renew " + typeName)
	if e := c.begin(ctx, "renew", typeName, string(private), true); e.before.HasErrors() {
		return provider.RenewResponse{}, e.before
	}
	return provider.RenewResponse{Private: private, RenewAt: c.p.renewAt()}, nil
}

func (p *Provider) renewAt() time.Time {
	if p.RenewAfter == 0 {
		return time.Time{}
	}
	return time.Now().Add(p.RenewAfter)
}

func (c *client) CloseEphemeral(ctx context.Context, typeName string, private []byte) diags.Diagnostics {
	c.ready("close " + typeName)
	return c.begin(ctx, "close", typeName, string(private), true).before
}

func (c *client) ValidateAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	want("validate action "+typeName, c.p.declared.Actions[typeName], config, false)
	return c.begin(ctx, "validate", typeName, nameOf(config), false).before
}

func (c *client) PlanAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	what := "plan-action " + typeName
	c.ready(what)
	want(what, c.p.declared.Actions[typeName], config, false)
	return c.begin(ctx, "plan-action", typeName, nameOf(config), false).before
}

func (c *client) InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(string)) (provider.InvokeResponse, diags.Diagnostics) {
	what := "invoke " + typeName
	c.ready(what)
	want(what, c.p.declared.Actions[typeName], config, true)
	e := c.begin(ctx, "invoke", typeName, nameOf(config), true)
	for _, text := range e.says {
		progress(text)
	}
	return provider.InvokeResponse{Unanswered: c.dead.Load()}, append(e.before, e.after...)
}

func (c *client) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	f := c.p.declared.Functions[name]
	if f == nil {
		panic("call: no function " + name)
	}
	if e := c.begin(ctx, "call", name, "", false); e.before.HasErrors() {
		return cty.NilVal, &provider.FunctionError{Text: e.before[0].Detail, Argument: -1}
	}
	if c.p.Call != nil {
		return c.p.Call(name, args)
	}
	var texts []string
	for _, arg := range args {
		text, err := convert.Convert(arg, cty.String)
		if err != nil || text.IsNull() {
			return cty.NilVal, &provider.FunctionError{Text: "not a text", Argument: len(texts)}
		}
		texts = append(texts, text.AsString())
	}
	return convert.Convert(cty.StringVal(strings.Join(texts, " ")), f.Return)
}
