package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A List is a list block of a query file: it finds existing objects of a resource type, whether the state has them or not.
// Source: Terraform 1.14.
type List struct {
	Type, Name string
	// Config is the body of the config block; nil if absent.
	Config hcl.Body
	Repetition
	Provider addrs.LocalProviderConfig
	// IncludeResource and Limit are the arguments of these names, or nil.
	IncludeResource, Limit hcl.Expression
	Range                  hcl.Range
	TypeRange              hcl.Range
}

// String returns the address, such as list.aws_instance.all.
func (l *List) String() string { return "list." + l.Type + "." + l.Name }

// Resource returns the resource type that l lists.
func (l *List) Resource() addrs.Resource {
	return addrs.Resource{Mode: addrs.Managed, Type: l.Type, Name: l.Name}
}
