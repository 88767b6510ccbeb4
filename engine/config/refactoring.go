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
	Destroy      bool         // lifecycle { destroy = ... }; its default is true, in OpenTofu false
	Explicit     bool         // the block has lifecycle { destroy = ... }
	Provisioners []*Provisioner
	Connection   hcl.Body // for all of the provisioners; nil if absent
	FromRange    hcl.Range
	Range        hcl.Range
}

// An Import is an import block. Addresses are relative to the module it is in.
type Import struct {
	To            hcl.Expression // a resource instance; keys may be expressions of each
	Resource      addrs.ConfigResource
	ID            hcl.Expression // or nil: exactly one of ID and Identity is set
	Identity      hcl.Expression
	Typed         bool // ID was typed as one word, which may be an identity in place of an ID: "name=a,region=eu"
	ForEach       hcl.Expression
	Provider      *addrs.LocalProviderConfig
	Range         hcl.Range
	ProviderRange hcl.Range // of the provider argument
}

// Static returns the address in a removed block without instance keys. If the block names a module as a whole,
// the returned resource is empty. The parameter in is the module that has the block.
func (m *Removed) Static(in addrs.Module) (addrs.Module, addrs.Resource) {
	for _, s := range m.From.Module.Steps() {
		in = in.Child(s.Name)
	}
	return in, m.From.Resource
}

// A PlacedImport is an import block in a module of the tree. Every instance of the module has the block.
type PlacedImport struct {
	*Import
	In     *Module
	Target addrs.ConfigResource // Resource, as the root module names it
}

// Imports returns the import blocks of all modules, in the order of the modules.
// Source: Terraform 1.16; before, only the root module could have them.
func (c *Config) Imports() []PlacedImport {
	var out []PlacedImport
	for _, m := range c.Order {
		for _, i := range m.Imports {
			target := addrs.ConfigResource{Module: m.Addr, Resource: i.Resource.Resource}
			for _, call := range i.Resource.Module.Steps() {
				target.Module = target.Module.Child(call)
			}
			out = append(out, PlacedImport{i, m, target})
		}
	}
	return out
}
