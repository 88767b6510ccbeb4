// Package config has a configuration as an immutable tree of modules with their blocks. The shape of the
// blocks, names, duplicates and the provider of each resource are already checked.
//
// The package evaluates nothing, and does not depend on schemas, states, providers' answers and files:
// expressions and bodies stay as HCL returns them. Start at [Config]; package loading creates one.
package config

import (
	"path"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// A Config is a root module with all modules that it calls, directly or not.
type Config struct {
	Root *Module
	// Modules has all modules of the tree by their static address. Order has the same modules, each after the
	// module that calls it, and otherwise by name.
	Modules map[addrs.Module]*Module
	Order   []*Module
	// Files are the source files that were read, for code snippets. The keys are the file names in ranges.
	Files map[string]*hcl.File
	// Language is the version of the language that all modules are written in.
	Language language.Version
}

// A Module is one module in the tree. Modules that are called from the same directory share their Content.
type Module struct {
	Addr     addrs.Module
	Parent   *Module            // nil for the root
	Call     *Call              // in Parent; nil for the root
	Children map[string]*Module // by name of the call
	*Content

	// Version is the installed version of a registry module; "" for other modules.
	Version string
	// PackageDir is the directory of the installed package that the module is in. It is "" for a module that is
	// among the root module's own files.
	PackageDir string
	// replaced are the instances that a test replaces: see [Variant.Instances].
	replaced []ReplacedInstance
}

// Content has the declarations in the files of one directory.
type Content struct {
	// Dir is the directory, relative to the root module's directory, in the form of path.module ("." for the
	// root, "modules/net").
	Dir string
	// Registry is the host of provider and module addresses without a host. The root module decides it for all
	// modules; see loading.Registry. "" means addrs.DefaultRegistryHost.
	Registry string

	RequiredVersions  []VersionConstraint
	RequiredProviders map[string]*RequiredProvider // by local name, including names that are used without an entry
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

	// Broken reports that the files have errors: some declarations may be missing. Errors in called modules
	// do not count.
	Broken bool

	byProvider map[addrs.Provider]string // local names by provider; nil without IndexProviders
}

// NewContent returns the content of the directory dir, without declarations.
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
