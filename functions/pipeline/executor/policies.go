package executor

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/policychecks"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// contentOf returns the facts about a plan that requirements can use, including the verdicts of the job's
// policies and gates. It also returns the plan's risks.
func (o *checkout) contentOf(ctx context.Context, p *plans.Plan) (*runs.Content, []comment.Risk, error) {
	out, found := o.factsOf(p)
	if len(o.job.Policies)+len(o.job.Gates) == 0 {
		return out, found, nil
	}
	doc, err := o.planJSON(p, found)
	if err != nil {
		return nil, nil, fmt.Errorf("describe the plan for its judges: %w", err)
	}
	x := policychecks.Judge{Hide: o.secrets(p, nil).From}
	if ask := o.engine.Gate; ask != nil {
		x.Ask = func(ctx context.Context, g requirements.Gate, plan []byte) (runs.Judgement, error) {
			return ask(ctx, o.job, g, plan)
		}
	}
	return out, found, x.Content(ctx, o.job, doc, out)
}

// planJSON returns the JSON of a plan, with its risks.
func (o *checkout) planJSON(p *plans.Plan, found []comment.Risk) ([]byte, error) {
	doc, err := formats.Plan(p, o.Config, o.Schemas)
	if err != nil {
		return nil, err
	}
	return withRisks(doc, found)
}

// openJSON returns the JSON of a plan without sensitive values, if the job needs it.
func (o *checkout) openJSON(p *plans.Plan, found []comment.Risk) ([]byte, error) {
	if !o.job.PlanJSON {
		return nil, nil
	}
	doc, err := o.planJSON(p, found)
	if err != nil {
		return nil, err
	}
	return policychecks.Public(doc, o.secrets(p, nil).From)
}
