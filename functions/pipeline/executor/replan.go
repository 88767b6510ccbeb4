package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/comparing"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// If an approved plan is out of date, the apply makes it once more: with the state locked, before any change.
// It uses the configuration and the variables in the approved plan. If another version of Lockstep saved the
// plan, they cannot be read. In that case the apply uses those of the checkout, and the new plan never counts
// as equal.
//
// The programs of the new plan run with the credentials of the apply, as the programs of the apply itself do.
// They are the same providers, chosen by the base branch's lock file and configured by the same files. So a
// person who could misuse the credentials in the new plan could also do so in the apply. The alternative is a
// plan in a second process, with credentials for reading. But the state could change between the end of that
// process and the lock of the apply. Then the plan would have to be made again and again.

// A replan is an apply that may have to make its plan once more.
type replan struct{ *checkout }

// permitted asks the gate whether the plan may be applied. If the answer requires it, permitted makes the plan
// once more. It returns the plan to apply; nil if no plan may be applied.
func (o replan) permitted(ctx context.Context, p *plans.Plan, permit func(jobs.BeforeApply) jobs.Permit) (*plans.Plan, diags.Diagnostics, error) {
	now := o.present
	now.State = runs.StateID(o.Opened)
	answer := permit(now)
	if o.Begun != nil && answer != jobs.Permitted {
		return nil, nil, nil // The plan is the rest of an earlier apply. There is no approved plan to compare with.
	}
	switch answer {
	case jobs.Permitted:
		if now.OtherVersion || now.Providers != "" {
			return nil, nil, errors.New("a plan of another version, or of other providers, must not be applied")
		}
		if ds := o.unitDiffers(p.Variables); ds.HasErrors() {
			return nil, ds, nil
		}
		return p, nil, nil
	case jobs.PlanAgain:
		if o.unit != nil { // Variables of a unit may have values from outputs of other projects, so they are read once more.
			o.Config, o.Variables = o.merged.config, o.merged.variables
		}
	case jobs.PlanCheckout:
		o.Config, o.Variables = o.merged.config, o.merged.variables
	default:
		return nil, nil, nil
	}
	if ds := relink(ctx, o.checkout); ds.HasErrors() {
		return nil, ds, nil
	}
	// Only the note about the difference is needed. Errors in the block matter after the merge.
	_ = o.ciphers.proposed(o.checkout, o.merged.config)
	again, new, ds, err := o.remake(ctx, p)
	if err != nil || ds.HasErrors() {
		return nil, ds, err
	}
	now.Again = again
	if permit(now) != jobs.Permitted {
		return nil, nil, nil
	}
	return new, ds, nil
}

// remake makes the plan once more from the locked state, and compares the new plan with the approved one.
func (o replan) remake(ctx context.Context, approved *plans.Plan) (*jobs.Replanned, *plans.Plan, diags.Diagnostics, error) {
	if ds := o.untaint(false); ds.HasErrors() {
		return nil, nil, ds, nil
	}
	new, ds := engine.Plan(ctx, o.run(ctx), o.State.Current, o.planOptions(ctx))
	if new != nil {
		ds = append(ds, o.Recovery.Reinvoked(new)...)
	}
	if ctx.Err() != nil {
		return nil, nil, nil, fmt.Errorf("plan %s again: %w", describe(o.job), context.Cause(ctx))
	}
	if ds.HasErrors() {
		return nil, nil, ds, nil
	}
	new.Backend = plans.Backend{Type: o.Settings.Name(), Workspace: o.job.Workspace}
	new.Applyable = new.Applyable || o.stores()
	a, err := o.against(ctx, approved, new, ds)
	if err != nil {
		return nil, nil, ds, err
	}
	o.Planned = operation.PlanID(a.Plan.Plan) // its journal belongs to the new plan
	return a, new, ds, nil
}

// against saves a new plan, describes it, and compares it with the approved plan. ds are the warnings about the
// new plan.
func (o replan) against(ctx context.Context, approved, new *plans.Plan, ds diags.Diagnostics) (*jobs.Replanned, error) {
	if o.remote != nil && approved != nil {
		if err := o.remote.Recall(ctx, approved); err != nil {
			return nil, fmt.Errorf("compare with the former plan of %s: %w", describe(o.job), err)
		}
	}
	res, err := resultOf(ctx, o.checkout, new, ds)
	if err != nil {
		return nil, err
	}
	a := o.compared(approved, new)
	if a.Plan.Full != "" {
		res.Full = a.Plan.Full + "\n" + cmp.Or(res.Full, res.Report)
	}
	a.Plan = res
	return a, nil
}

// compared compares the approved plan with the new one, now. approved is nil if it cannot be read.
func (o replan) compared(approved, now *plans.Plan) *jobs.Replanned {
	if approved == nil {
		return &jobs.Replanned{}
	}
	found := append(o.moved(approved, now), comparing.Compare(approved, now)...)
	a := &jobs.Replanned{Equal: len(found) == 0}
	if a.Equal {
		return a
	}
	hide := o.secrets(now, nil)
	hide.fromState(o.checkout, approved.PriorState)
	hide.add(approved)
	whole := hide.From(render.ComparisonMarkdown(found))
	if a.Difference = whole; len(whole) > differenceLimit {
		a.Difference = markdown.Cut(whole, differenceLimit)
		var b strings.Builder
		(&render.Printer{}).Comparison(&b, found)
		a.Plan.Full = hide.From(b.String())
	}
	return a
}

// moved returns the blocks that have changed in the configuration, and on which the plans depend. Because of
// such changes, plans that look equal could do different things.
func (o replan) moved(approved, now *plans.Plan) []comparing.Difference {
	later := map[string][]byte{}
	for name, f := range o.Config.Files {
		later[name] = f.Bytes
	}
	touched := comparing.Touched(approved, now)
	var out []comparing.Difference
	for _, d := range differences(o.merged.planned, later) {
		if d.Resource == "" || touched[d.Resource] {
			out = append(out, comparing.Difference{
				Object: d.Block, Aspect: comparing.Configuration,
				Approved: cty.StringVal("as it was planned"), Now: cty.StringVal("changed"),
			})
		}
	}
	return out
}

// merged has the configuration and the variables of the checkout. The plan to apply has its own ones.
type merged struct {
	config    *config.Config
	variables map[string]cty.Value
	planned   map[string][]byte // the files of the plan's configuration
}

// differenceLimit is the maximum length of the text about the difference of two plans, in bytes. This text is
// above the report about the new plan.
const differenceLimit = reportLimit / 3
