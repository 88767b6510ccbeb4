// Package config turns the files of a configuration into an immutable tree of
// modules. It checks what can be checked without a value: the shape of blocks,
// names, duplicates, which provider a resource belongs to.
//
// It evaluates nothing and refuses to know schemas, states and providers' answers:
// expressions and bodies stay as HCL gives them. Start at [Load]; source knows
// where modules come from.
package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// A Config is a root module and everything it calls.
type Config struct {
	Root *Module
	// Modules are all modules of the tree by their static address, Order the same
	// ones, callers before what they call, otherwise by name.
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

	installedVersion string // of a module from a registry
	packageDir       string // of the package that was installed; "" in the root's own files
}

// Content is what the files of one directory declare.
type Content struct {
	// Dir is the directory, relative to the root module's directory as path.module shows
	// it ("." for the root, "modules/net").
	Dir string

	RequiredVersions  []VersionConstraint
	RequiredProviders map[string]*RequiredProvider // by local name; names that are only used are in it, too
	Backend           *Backend                     // root only
	Providers         map[addrs.LocalProviderConfig]*Provider
	Variables         map[string]*Variable
	Locals            map[string]*Local
	Outputs           map[string]*Output
	Resources         map[addrs.Resource]*Resource // of every mode
	Calls             map[string]*Call
	Moved             []*Moved
	Removed           []*Removed
	Imports           []*Import
	Checks            map[string]*Check
	ProviderMeta      map[string]*ProviderMeta // by local name; nil if there are none

	broken     bool                      // the files have errors
	byProvider map[addrs.Provider]string // local names by provider; nil without indexProviders
}

// Broken reports whether the files have errors, so that what they declare is not
// known in full. Errors in the modules that they call do not count.
func (c *Content) Broken() bool { return c.broken }

// A VersionConstraint is a required_version or a version argument as written.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// A RequiredProvider maps a local name to a provider.
type RequiredProvider struct {
	LocalName string
	Source    addrs.Provider
	Versions  []VersionConstraint
	// Aliases are the configurations that the caller must pass (configuration_aliases).
	Aliases []addrs.LocalProviderConfig
	// Implied says that no required_providers entry exists: the name is only used.
	Implied bool
	Range   hcl.Range
}

// A Backend says where the state lives.
type Backend struct {
	Type  string
	Body  hcl.Body
	Range hcl.Range

	early func(hcl.Expression) (cty.Value, hcl.Diagnostics) // nil: arguments are literal
}

// A ProviderMeta is a provider_meta block: values that a module sends along with
// every request to a provider.
type ProviderMeta struct {
	LocalName string
	Body      hcl.Body
	Range     hcl.Range
}

// A Provider is a provider block.
type Provider struct {
	Addr addrs.LocalProviderConfig
	Body hcl.Body // without alias, version and for_each
	// ForEach makes several instances of the configuration, if it is not nil. Only what is
	// known before anything else is may stand in it. Source: OpenTofu 1.9.
	ForEach hcl.Expression
	// Versions is the version argument of old, nil if absent.
	Versions []VersionConstraint
	Range    hcl.Range

	empty bool // no arguments: a mere placeholder for what a caller may pass
}

// A Variable is an input of a module.
type Variable struct {
	Name        string
	Description string
	// Deprecated tells callers who pass a value what to do instead, if it is not "".
	// Source: OpenTofu 1.10.
	Deprecated string
	// Type is the constraint as written (DynamicPseudoType if none), with optional
	// attributes; Defaults are their defaults, or nil.
	Type     cty.Type
	Defaults *Defaults
	// ParseLiteral says that -var and environment values are taken as strings
	// rather than parsed as expressions (string, number, bool, or no type).
	ParseLiteral bool
	// Default is converted to Type; cty.NilVal if the variable is required.
	Default     cty.Value
	Nullable    bool
	Sensitive   bool
	Ephemeral   bool
	Validations []*Condition
	Range       hcl.Range
	TypeRange   hcl.Range

	rawDefault   cty.Value // as written, before conversion
	defaultRange hcl.Range
	given        map[string]bool
}

// A Local is a local value.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// An Output is an output value of a module.
type Output struct {
	Name          string
	Description   string
	Deprecated    string // what callers who mention it should do instead, if it is not ""
	Expr          hcl.Expression
	Sensitive     bool
	Ephemeral     bool
	DependsOn     []hcl.Traversal
	Preconditions []*Condition
	Range         hcl.Range

	given map[string]bool
}

// A Condition is a validation, precondition, postcondition or assertion.
type Condition struct {
	Condition    hcl.Expression
	ErrorMessage hcl.Expression
	Range        hcl.Range
}

// A Resource is a resource, data or ephemeral block.
type Resource struct {
	Addr addrs.Resource
	// Body is what the provider's schema describes: without meta-arguments,
	// lifecycle, connection and provisioner blocks.
	Body hcl.Body
	Repetition
	DependsOn []hcl.Traversal
	// Provider is the configuration named by the provider argument, or implied by the type.
	Provider      addrs.LocalProviderConfig
	ProviderRange *hcl.Range // of the provider argument, nil if implied
	// ProviderKey chooses an instance of Provider, for each instance of the resource; nil if
	// there is nothing to choose from.
	ProviderKey hcl.Expression

	CreateBeforeDestroy bool
	// CreateBeforeDestroySet says that the argument was written.
	CreateBeforeDestroySet bool
	PreventDestroy         bool
	// PreventDestroyIf is the argument where it mentions something; nil else. It is about all
	// instances. Source: OpenTofu 1.12.
	PreventDestroyIf   hcl.Expression
	IgnoreChanges      []hcl.Traversal // relative
	IgnoreAllChanges   bool
	ReplaceTriggeredBy []hcl.Expression
	Preconditions      []*Condition
	Postconditions     []*Condition
	Connection         hcl.Body // nil if absent
	Provisioners       []*Provisioner

	Range     hcl.Range // of the block's header
	TypeRange hcl.Range

	given          map[string]bool // names of arguments present, in override files only
	lifecycleRange *hcl.Range
}

// A Provisioner is a provisioner block.
type Provisioner struct {
	Type       string
	Body       hcl.Body
	Connection hcl.Body
	OnDestroy  bool // when = destroy
	Continue   bool // on_failure = continue
	Range      hcl.Range
}

// A Call is a module block.
type Call struct {
	Name    string
	Source  string
	Version []VersionConstraint
	// Args are the arguments for the child's variables.
	Args map[string]*hcl.Attribute
	Repetition
	DependsOn []hcl.Traversal
	// Providers maps configurations in the child to configurations here. nil if the
	// argument is absent: then default configurations are inherited.
	Providers   []PassedProvider
	Range       hcl.Range
	SourceRange hcl.Range

	early   *earlyCall // nil if source and version are literal
	address source.Address
	body    hcl.Body // the arguments for the child, whatever they are
	given   map[string]bool
	checked bool // checkInputs ran
}

// A PassedProvider is one entry of a module call's providers argument.
type PassedProvider struct {
	InChild, InParent addrs.LocalProviderConfig
	// InParentKey chooses an instance of InParent, for each instance of the call; nil if
	// there is nothing to choose from.
	InParentKey                 hcl.Expression
	InChildRange, InParentRange hcl.Range
}

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
	To       hcl.Expression // a resource instance; keys may be expressions of each
	Resource addrs.ConfigResource
	ID       hcl.Expression
	ForEach  hcl.Expression
	Provider *addrs.LocalProviderConfig
	Range    hcl.Range

	providerRange hcl.Range // where Provider is written
}

// A Check is a check block.
type Check struct {
	Name    string
	Data    *Resource // the scoped data source, nil if absent; also in Content.Resources
	Asserts []*Condition
	Range   hcl.Range
}

// Defaults are the default values of optional() attributes; see
// hcl/ext/typeexpr.Defaults, which it wraps.
type Defaults struct {
	Apply func(cty.Value) cty.Value
}
