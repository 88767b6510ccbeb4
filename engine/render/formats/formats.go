// Package formats writes the JSON formats that tools for Terraform read: plans,
// states, outputs, provider schemas, and diagnostics with what `validate -json` says.
// They are those of Terraform 1.11, described at
// https://developer.hashicorp.com/terraform/internals/json-format and
// https://developer.hashicorp.com/terraform/internals/machine-readable-ui.
//
// It refuses to know files and people: what it writes is for programs, and has the
// sensitive values of plans, states and outputs beside a mask that says where they are.
// Only what a diagnostic says is without them, as it is shown to people too.
//
// Start at [Plan].
package formats

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Schemas gives the schema of a provider, or nil if it is not known. What is shown
// of objects without a schema is as much as can be told from the values alone.
type Schemas func(addrs.Provider) *schema.Provider

// Resource returns the schema of a resource type, or nil.
func (s Schemas) Resource(p addrs.Provider, r addrs.Resource) *schema.Schema {
	if s == nil {
		return nil
	}
	if ps := s(p); ps != nil {
		return ps.Resource(r.Mode.String(), r.Type)
	}
	return nil
}
