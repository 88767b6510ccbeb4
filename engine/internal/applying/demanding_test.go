package applying_test

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

type sessionEnvironment = session.Environment

// demanding returns a factory of a client that demands a replacement for every change of an attribute.
func demanding(c provider.Client, attr string) provider.Factory {
	return func(context.Context, *schema.Provider) (provider.Client, error) {
		return demandingClient{c, attr}, nil
	}
}

type demandingClient struct {
	provider.Client
	attr string
}

func (c demandingClient) Plan(ctx context.Context, r provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	resp, ds := c.Client.Plan(ctx, r)
	resp.RequiresReplace = append(resp.RequiresReplace, cty.GetAttrPath(c.attr))
	return resp, ds
}
