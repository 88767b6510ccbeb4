// Package render writes plans, states, diagnostics and events as text for a terminal, as
// Markdown for a pull request, and as the stream of messages that a run prints as JSON.
// The formats for tools are in package formats.
//
// It refuses to know files, terminals, providers and GitHub: everything comes in
// as a value and goes out as bytes or to an [io.Writer]. It decides nothing, and it
// shows no sensitive value.
//
// Start at [Printer] for a terminal, [PlanMarkdown] for a pull request and [Message]
// for the stream.
package render

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Counts tells how many objects plan is going to create, change, destroy, import and
// forget. A replacement counts as a creation and a destruction. Data sources and
// outputs do not count.
func Counts(plan *plans.Plan) (add, change, destroy, imports, forget int) {
	for _, c := range plan.Changes {
		if c.Importing != nil {
			imports++
		}
		if c.Addr.Instance.Resource.Resource.Mode != addrs.Managed {
			continue
		}
		switch c.Action {
		case plans.Create:
			add++
		case plans.Update:
			change++
		case plans.Delete:
			destroy++
		case plans.DeleteThenCreate, plans.CreateThenDelete:
			add++
			destroy++
		case plans.Forget:
			forget++
		}
	}
	return add, change, destroy, imports, forget
}
