// Package formats writes the JSON formats that tools for Terraform read: plans, states, outputs, provider
// schemas, and diagnostics as in `validate -json`. The formats are those of Terraform 1.11, described at
// https://developer.hashicorp.com/terraform/internals/json-format and
// https://developer.hashicorp.com/terraform/internals/machine-readable-ui.
//
// It refuses to know files and people. Its texts are for programs: plans, states and outputs contain
// sensitive values, beside a mask of their paths. Only diagnostics have none, because people see them, too.
//
// Start at [Plan].
package formats

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Schemas returns the schema of a provider; nil if it is unknown. An object without a schema is written as
// well as its values alone allow.
type Schemas func(addrs.Provider) *schema.Provider

// Resource returns the schema of a resource type; nil if it is unknown.
func (s Schemas) Resource(p addrs.Provider, r addrs.Resource) *schema.Schema {
	if s == nil {
		return nil
	}
	if ps := s(p); ps != nil {
		return ps.Resource(r.Mode.String(), r.Type)
	}
	return nil
}
