package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Moved is a moved block. Its addresses are relative to the module with the block.
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

// Static returns the static address that a removed block in the module in refers to: a resource; without a
// resource, a module.
func (m *Removed) Static(in addrs.Module) (addrs.Module, addrs.Resource) {
	for _, s := range m.From.Module.Steps() {
		in = in.Child(s.Name)
	}
	return in, m.From.Resource
}
