package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A doubtful client is a client whose provider got a configuration with unknown values, such as a password
// that does not exist yet. The provider may then be unable to reach its server, without knowing why. So its
// errors get a hint.
type doubtful struct {
	provider.Client
	hint string
}

// doubt returns the hint about unknown values in a provider configuration; "" if there are none.
func (o *opening) doubt() string {
	if o.block == nil || o.value.IsWhollyKnown() {
		return ""
	}
	return unknownHint(o.addr, o.s.Eval.Unknowns(o.block, o.in))
}

// unknownHint returns a text that says which resources a provider configuration depends on, and how to apply
// them first.
func unknownHint(pc addrs.AbsProviderConfig, u eval.Unknowns) string {
	text := fmt.Sprintf("The configuration of %s depends on values that are known only after apply", pc)
	for i, a := range u.Attributes {
		if i == 0 {
			text += ":"
		}
		text += "\n  - " + a.Resource.String() + schema.FormatPath(a.Path)
	}
	if len(u.Attributes) == 0 {
		text += "."
	}
	if len(u.Resources) == 0 {
		return text
	}
	options := make([]string, len(u.Resources))
	for i, t := range u.Resources {
		options[i] = "-target=" + t.String()
		if strings.ContainsAny(options[i], `"[`) {
			options[i] = "'" + options[i] + "'"
		}
	}
	return text + "\n\nTo make them known, first plan and apply with these options, and then plan again:\n  " + strings.Join(options, " ")
}

// explain adds the hint about unknown values, and the text more, to errors of the provider. It adds nothing if
// the run was interrupted.
func (c *doubtful) explain(ctx context.Context, ds diags.Diagnostics, more string) diags.Diagnostics {
	if ctx.Err() != nil {
		return ds
	}
	ds = slices.Clone(ds)
	for i := range ds {
		if ds[i].Severity == diags.Error {
			ds[i].Detail = strings.TrimPrefix(ds[i].Detail+"\n\n"+c.hint+more, "\n\n")
		}
	}
	return ds
}

func (c *doubtful) Configure(ctx context.Context, config cty.Value) diags.Diagnostics {
	return c.explain(ctx, c.Client.Configure(ctx, config), "")
}

func (c *doubtful) Read(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	resp, ds := c.Client.Read(ctx, req)
	return resp, c.explain(ctx, ds, "\n\nOr plan with -refresh=false, which does not read the objects in the state.")
}

func (c *doubtful) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	resp, ds := c.Client.Plan(ctx, req)
	return resp, c.explain(ctx, ds, "")
}

func (c *doubtful) PlanAction(ctx context.Context, typeName string, config cty.Value) diags.Diagnostics {
	return c.explain(ctx, c.Client.PlanAction(ctx, typeName, config), "")
}

func (c *doubtful) Import(ctx context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	found, ds := c.Client.Import(ctx, req)
	return found, c.explain(ctx, ds, "")
}

func (c *doubtful) ReadData(ctx context.Context, typeName string, config, meta cty.Value) (cty.Value, diags.Diagnostics) {
	v, ds := c.Client.ReadData(ctx, typeName, config, meta)
	return v, c.explain(ctx, ds, "")
}

func (c *doubtful) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	resp, ds := c.Client.OpenEphemeral(ctx, typeName, config)
	return resp, c.explain(ctx, ds, "")
}
