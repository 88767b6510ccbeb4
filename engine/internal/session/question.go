package session

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Question is a PlanResourceChange call: its arguments, and after [Question.Ask] the checked answer.
type Question struct {
	Session  *Session
	Client   provider.Client
	Provider addrs.AbsProviderConfig
	Resource *config.Resource
	Schema   *schema.Schema
	Addr     addrs.AbsResourceInstance

	Config   cty.Value // with marks
	Prior    cty.Value // with marks; null for a creation
	Identity cty.Value // identity of the prior object; cty.NilVal if there is none
	Private  []byte

	// Planned and all fields below are the answer of the provider.
	Planned         cty.Value // with sensitive marks
	PlannedIdentity cty.Value // may be unknown; cty.NilVal if there is none
	PlannedPrivate  []byte
	Sensitive       []cty.Path // sensitive paths of the configuration, without ignored arguments
	RequiredReplace []cty.Path
}

// Validate asks the provider to check the configuration value.
func (q *Question) Validate(ctx context.Context) diags.Diagnostics {
	plain := marks.Plain(q.Config)
	return q.place(q.Client.ValidateResource(ctx, q.Resource.Addr.Type, plain))
}

func (q *Question) place(ds diags.Diagnostics) diags.Diagnostics {
	return q.Session.Place(ds, q.Resource, q.Schema, q.Addr.String())
}

// Ask proposes a new value to the provider and checks the answer. The proposed state combines the
// configuration and the prior state; the provider returns the planned state.
func (q *Question) Ask(ctx context.Context) diags.Diagnostics {
	plainPrior := marks.Plain(q.Prior)
	config, ds := ignoreChanges(q.Resource, q.Prior, q.Config)
	if ds.HasErrors() {
		return ds
	}
	plainConfig, sensitive := marks.Paths(config, marks.Sensitive)
	proposed := schema.ProposedNew(q.Schema.Block, plainPrior, plainConfig)
	meta, ds := q.Session.Meta(ctx, q.Resource, q.Provider.Provider, q.Addr)
	if ds.HasErrors() {
		return ds
	}
	resp, more := q.Client.Plan(provider.WithInstance(ctx, q.Addr), provider.PlanRequest{
		TypeName: q.Resource.Addr.Type, Prior: plainPrior, Proposed: proposed, Config: plainConfig, Identity: q.Identity, Private: q.Private, Meta: meta,
	})
	if ds = append(ds, q.place(more)...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, q.checkPlanned(plainPrior, plainConfig, resp)...); ds.HasErrors() {
		return ds
	}
	q.Planned, q.Sensitive = MarkSensitive(resp.Planned, q.Schema, sensitive), sensitive
	q.PlannedIdentity, q.PlannedPrivate = resp.Identity, resp.Private
	if q.RequiredReplace, more = q.replacePaths(plainPrior, resp); more.HasErrors() {
		return append(ds, more...)
	}
	return ds
}

// checkPlanned checks the provider's answer against the rules for plans: see [schema.AssertPlanValid].
func (q *Question) checkPlanned(prior, config cty.Value, resp provider.PlanResponse) diags.Diagnostics {
	bad := func(what string) diags.Diagnostics {
		return diags.Errorf(nil, "Provider produced invalid plan",
			"Provider %q planned an invalid value for %s: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", q.Provider.Provider, q.Addr, what)
	}
	if resp.Planned == cty.NilVal || resp.Planned.IsNull() {
		return bad("the planned value is null")
	}
	for _, err := range resp.Planned.Type().TestConformance(q.Schema.Block.ImpliedType()) {
		return bad(Describe(err))
	}
	if resp.Identity != cty.NilVal {
		for _, err := range resp.Identity.Type().TestConformance(q.Schema.Identity.Type()) {
			return bad("its identity: " + Describe(err))
		}
	}
	if resp.LegacyTypeSystem {
		return nil // the legacy SDK cannot keep these rules and is exempt
	}
	var ds diags.Diagnostics
	for _, err := range schema.AssertPlanValid(q.Schema.Block, prior, config, resp.Planned) {
		ds = append(ds, bad(Describe(err))...)
	}
	return ds
}

// Describe returns an error's text, after the path of the attribute that the error is about.
func Describe(err error) string {
	if pe, ok := err.(cty.PathError); ok {
		return schema.FormatPath(pe.Path) + ": " + pe.Error()
	}
	return err.Error()
}

// replacePaths returns the paths in the provider's RequiresReplace whose value changes. They are sorted: the
// provider returns them in any order, and a plan must be the same each time.
func (q *Question) replacePaths(prior cty.Value, resp provider.PlanResponse) ([]cty.Path, diags.Diagnostics) {
	if len(resp.RequiresReplace) == 0 || prior.IsNull() {
		return nil, nil
	}
	var out []cty.Path
	for _, path := range resp.RequiresReplace {
		if len(path) == 0 {
			continue
		}
		after, errAfter := path.Apply(resp.Planned)
		before, errBefore := path.Apply(prior)
		switch {
		case errAfter != nil && errBefore != nil:
			return nil, diags.Errorf(nil, "Provider produced invalid plan",
				"Provider %q has indicated \"requires replacement\" on %s for a non-existent attribute path %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
				q.Provider.Provider, q.Addr, schema.FormatPath(path))
		case errAfter == nil && errBefore == nil && after.IsNull() && before.IsNull():
			// Two nulls are equal, even if their types differ, so nothing has changed.
		case errAfter != nil || errBefore != nil || !after.RawEquals(before):
			out = append(out, path)
		}
	}
	return states.SortPaths(out), nil
}
