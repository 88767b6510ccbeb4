package planning

import (
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// checkBlocks evaluates check blocks, unless everything is about to go.
func (p *planner) checkBlocks() {
	if p.in.Mode == plans.DestroyMode {
		session.DeclareChecks(p.s.Eval, p.in.Config.Order, p.skipValue)
		return
	}
	p.report(session.CheckBlocks(p.s.Eval, p.in.Config.Order, p.skipValue))
}

// checkResults groups the results of conditions by configuration object.
func (p *planner) checkResults() []states.CheckResult { return session.CheckResults(p.s.Eval.Checks()) }
