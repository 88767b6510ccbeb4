// Package formats writes the JSON formats that tools for Terraform read: plans,
// states, outputs, provider schemas, and diagnostics as in `validate -json`.
// They are those of Terraform 1.11, described at
// https://developer.hashicorp.com/terraform/internals/json-format and
// https://developer.hashicorp.com/terraform/internals/machine-readable-ui.
//
// It refuses to know files and people: its texts are for programs, and have the sensitive
// values of plans, states and outputs beside a mask of their paths. Only diagnostics are
// without them, as people see those too.
//
// Start at [Plan].
package formats

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Schemas gives the schema of a provider, or nil if it is not known. Objects without
// a schema are written as far as the values alone allow.
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
