package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Moved is a moved block. Endpoints are relative to the module it is in.
type Moved struct {
	From, To           addrs.Target
	FromRange, ToRange hcl.Range
	Range              hcl.Range
}

// A Removed is a removed block.
type Removed struct {
	From         addrs.Target // static: without keys
	Destroy      bool         // lifecycle { destroy = ... }, default true
	Provisioners []*Provisioner
	Connection   hcl.Body // for all of the provisioners; nil if absent
	FromRange    hcl.Range
	Range        hcl.Range
}

// An Import is an import block.
type Import struct {
	To            hcl.Expression // a resource instance; keys may be expressions of each
	Resource      addrs.ConfigResource
	ID            hcl.Expression // or nil: exactly one of ID and Identity is set
	Identity      hcl.Expression
	ForEach       hcl.Expression
	Provider      *addrs.LocalProviderConfig
	Range         hcl.Range
	ProviderRange hcl.Range // of the provider argument
}

// Static returns the configuration address that a removed block in a module speaks of: a
// resource, or with no resource a module.
func (m *Removed) Static(in addrs.Module) (addrs.Module, addrs.Resource) {
	for _, s := range m.From.Module.Steps() {
		in = in.Child(s.Name)
	}
	return in, m.From.Resource
}
