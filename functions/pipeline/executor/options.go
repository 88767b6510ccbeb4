package executor

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
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

// waiting returns the options for a plan that leaves out the given objects: the result of [doubts].
func (o options) waiting(objects []addrs.Target) engine.PlanOptions {
	o.Waiting = slices.Clone(objects)
	return engine.PlanOptions(o)
}
