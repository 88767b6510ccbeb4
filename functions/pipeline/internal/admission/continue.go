package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// goingOn are the rules for an apply that another process continues.
var goingOn = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged, inputsMoved}

// Continue decides whether another process may continue an apply that the gate has allowed. It ignores who
// requested the apply and whether the pull request has changed: half an apply is worse than none or all. But a
// record alone does not prove that the gate has allowed it. So the plan must be the one that GitHub shows, its
// files must be the same, and the state must still belong to the project.
func Continue(q Request) Decision {
	var d Decision
	for _, no := range goingOn {
		if r := no(&q); r != nil {
			d.Reasons = append(d.Reasons, r)
		}
	}
	if q.Placing != nil {
		d.Reasons = append(d.Reasons, q.Placing.Reasons...)
	}
	return d
}
