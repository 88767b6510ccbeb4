// Package render turns what the engine has to show into text for a terminal,
// Markdown for a pull request, and JSON in the formats that tools for Terraform
// read: plans, states, schemas, outputs, diagnostics and the stream of messages
// that a run prints.
//
// It refuses to know files, terminals, providers and GitHub: everything comes in
// as a value and goes out as bytes or to an [io.Writer]. It decides nothing, and it
// shows no sensitive value: the JSON of plans, states and outputs, which has them by
// definition beside a mask that says where they are, is for tools, everything else
// is for people.
//
// Start at [PlanJSON] for the formats and at [Printer] for people's text.
package render

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Schemas gives the schema of a provider, or nil if it is not known. What is shown
// of objects without a schema is as much as can be told from the values alone.
type Schemas func(addrs.Provider) *schema.Provider

// resource returns the schema of a resource type, or nil.
func (s Schemas) resource(p addrs.Provider, r addrs.Resource) *schema.Schema {
	if s == nil {
		return nil
	}
	if ps := s(p); ps != nil {
		return ps.Resource(r.Mode.String(), r.Type)
	}
	return nil
}

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
