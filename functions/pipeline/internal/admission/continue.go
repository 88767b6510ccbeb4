package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// goingOn are the rules for an apply that was begun, and that another process goes on with.
var goingOn = []func(*Request) reasons.Reason{savedExchanged, shownExchanged, keptExchanged, inputsMoved}

// Continue decides whether an apply that the gate has allowed may be gone on with. Who asked for it,
// and how the pull request stands by now, does not matter: half an apply is worse than none or
// all. But a record alone is no proof that there was a decision: the plan must be the one that
// is shown on GitHub, of the same files, and its state be the project's still.
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
