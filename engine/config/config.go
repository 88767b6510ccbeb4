// Package config is a configuration as an immutable tree of modules: their blocks, with
// the shape of blocks, names, duplicates and the provider of each resource checked.
//
// It evaluates nothing and refuses to know schemas, states, providers' answers and the
// files themselves: expressions and bodies stay as HCL gives them. Start at [Config];
// package loading makes one.
package config

import (
	"path"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Config is a root module and everything it calls.
type Config struct {
	Root *Module
	// Modules are all modules of the tree by their static address, Order the same
	// ones, callers before the modules that they call, otherwise by name.
	Modules map[addrs.Module]*Module
	Order   []*Module
	// Files are the sources read, by the name that ranges carry, for snippets.
	Files map[string]*hcl.File
}

// A Module is one place in the tree. Modules that are called from the same
// directory share their Content.
type Module struct {
	Addr     addrs.Module
	Parent   *Module            // nil for the root
	Call     *Call              // in Parent; nil for the root
	Children map[string]*Module // by name of the call
	*Content

	// Version is the installed version of a module from a registry.
	Version string
	// PackageDir is the directory of the installed package; "" in the root's own files.
	PackageDir string
}

// Content holds the declarations in the files of one directory.
type Content struct {
	// Dir is the directory, relative to the root module's directory as path.module shows
	// it ("." for the root, "modules/net").
	Dir string

	RequiredVersions  []VersionConstraint
	RequiredProviders map[string]*RequiredProvider // by local name; names that are only used are in it, too
	Backend           *Backend                     // root only
	Encryption        []*Encryption                // root only; later ones, of override files, are merged into the first
	Providers         map[addrs.LocalProviderConfig]*Provider
	Variables         map[string]*Variable
	Locals            map[string]*Local
	Outputs           map[string]*Output
	Resources         map[addrs.Resource]*Resource // of every mode but actions
	Actions           map[addrs.Resource]*Resource // action blocks
	Calls             map[string]*Call
	Moved             []*Moved
	Removed           []*Removed
	Imports           []*Import
	Checks            map[string]*Check
	Lists             []*List                  // root only, if query files were read; in the order of the files
	ProviderMeta      map[string]*ProviderMeta // by local name; nil if there are none

	// Broken is set if the files have errors: then some declarations may be missing. Errors
	// in called modules do not count.
	Broken bool

	byProvider map[addrs.Provider]string // local names by provider; nil without IndexProviders
}

// NewContent returns the content of a directory without declarations.
func NewContent(dir string) *Content {
	return &Content{
		Dir:               dir,
		RequiredProviders: map[string]*RequiredProvider{},
		Providers:         map[addrs.LocalProviderConfig]*Provider{},
		Variables:         map[string]*Variable{},
		Locals:            map[string]*Local{},
		Outputs:           map[string]*Output{},
		Resources:         map[addrs.Resource]*Resource{},
		Actions:           map[addrs.Resource]*Resource{},
		Calls:             map[string]*Call{},
		Checks:            map[string]*Check{},
	}
}

// Empty reports whether the root module's directory has no configuration files.
func (c *Config) Empty() bool {
	for name := range c.Files {
		if path.Dir(name) == c.Root.Dir {
			return false
		}
	}
	return true
}
