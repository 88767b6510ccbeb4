package planning

import (
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// checkBlocks evaluates check blocks. What fails there is a warning.
func (p *planner) checkBlocks() {
	p.report(session.CheckBlocks(p.s.Eval, p.in.Config.Order, p.skipValue))
}

// checkResults groups the results of conditions by configuration object.
func (p *planner) checkResults() []states.CheckResult { return session.CheckResults(p.s.Eval.Checks()) }
