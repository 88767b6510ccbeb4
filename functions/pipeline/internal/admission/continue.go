package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// goingOn are the rules for an apply that one process has begun and another process continues.
var goingOn = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged, inputsMoved}

// Continue decides whether an apply that the gate has allowed may be continued. It ignores who asked and the
// present state of the pull request: half an apply is worse than none or all. But a record alone does not prove
// that there was a decision. So the plan must be the one that GitHub shows, its files must be the same, and the
// state must still be the project's.
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
