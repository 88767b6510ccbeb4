package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// options are the options of a plan in the engine's form.
type options engine.PlanOptions

// optionsOf parses the options that somebody typed in a comment.
func optionsOf(g grammar.Options) (options, diags.Diagnostics) {
	var ds diags.Diagnostics
	out := options{SkipRefresh: g.NoRefresh, Mode: plans.NormalMode}
	targets := func(flag string, given []string) (list []addrs.Target) {
		for _, s := range given {
			t, err := addrs.ParseTarget(s)
			if err != nil {
				ds = append(ds, diags.Errorf(nil, fmt.Sprintf("Invalid address for %s", flag), "%s: %s.", flag, err)...)
			}
			list = append(list, t)
		}
		return list
	}
	out.Targets, out.Excludes = targets("-target", g.Targets), targets("-exclude", g.Excludes)
	for _, s := range g.Replaces {
		a, err := addrs.ParseAbsResourceInstance(s)
		if err == nil && a.Resource.Resource.Mode != addrs.Managed {
			err = fmt.Errorf("%s is not managed, and only managed resource instances can be replaced", a)
		}
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Invalid address for -replace", "-replace: %s.", err)...)
		}
		out.ForceReplace = append(out.ForceReplace, a)
	}
	if g.Invoke != "" {
		a, err := addrs.ParseAction(g.Invoke)
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Invalid address for -invoke", "-invoke: %s.", err)...)
		}
		out.Invoke = a
	}
	switch {
	case g.Destroy:
		out.Mode = plans.DestroyMode
	case g.RefreshOnly:
		out.Mode = plans.RefreshOnlyMode
	}
	return out, ds
}

// planOptions returns the options for a plan of the state that was just read. The plan leaves out the objects of
// [doubts].
func (o *checkout) planOptions(ctx context.Context) engine.PlanOptions {
	out := engine.PlanOptions(o.options)
	out.Waiting = slices.Clone(doubts(o.Recovery, o.job.Options))
	if o.readsAffected() && everything(out) == "" {
		out.Affected = o.Affected(ctx, o.job.Refresh.Data == environments.Affected)
	}
	return out
}

// readsAffected reports whether the plan is to read only what its changes can affect. An option wins over the
// settings.
func (o *checkout) readsAffected() bool {
	if o.job.Options.Refresh != "" {
		return o.job.Options.Refresh == grammar.Affected
	}
	return o.job.Refresh.Objects == environments.Affected && !o.job.Options.NoRefresh
}

// everything returns the option that makes a plan read everything; "" if there is none.
func everything(o engine.PlanOptions) string {
	switch {
	case o.Mode == plans.DestroyMode:
		return "-destroy"
	case o.Mode == plans.RefreshOnlyMode:
		return "-refresh-only"
	case o.Invoke != (addrs.AbsResourceInstance{}):
		return "-invoke"
	}
	return ""
}

// withoutAffect returns a warning that the option -refresh=affected of a comment has no effect.
func (o *checkout) withoutAffect() diags.Diagnostics {
	if option := everything(engine.PlanOptions(o.options)); option != "" && o.job.Options.Refresh == grammar.Affected {
		return operation.AllRead(option)
	}
	return nil
}
