package decoding

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
)

// # Override files
//
// The blocks of a file named override.tf or NAME_override.tf change the blocks of the other
// files that have the same type and labels:
//
//   - An argument replaces the argument of the same name. An absent argument changes nothing,
//     so the zero value of a field has no meaning: given has the names of the present arguments.
//   - Nested blocks replace all nested blocks of the same type. An override without such blocks
//     changes nothing.
//   - Within lifecycle, required_providers and locals, entries are replaced one by one.
//   - depends_on cannot be changed.
//
// Source: https://developer.hashicorp.com/terraform/language/files/override
//
// Each replace method below has these rules for one type of block. The overridden block stays
// the declaration: its range, and its position among the diagnostics, are those of the original.

// replace changes old with the arguments of v. If the default value or something that its conversion depends
// on was replaced, the default value is converted again.
func (v *variable) replace(old *variable) {
	if v.given["description"] {
		old.Description = v.Description
	}
	if v.given["deprecated"] {
		old.Deprecated = v.Deprecated
	}
	if v.given["sensitive"] {
		old.Sensitive = v.Sensitive
	}
	if v.given["ephemeral"] {
		old.Ephemeral = v.Ephemeral
	}
	if v.given["const"] {
		old.Const = v.Const
	}
	if v.given["nullable"] {
		old.Nullable = v.Nullable
	}
	if v.given["type"] {
		old.Type, old.Defaults, old.ParseLiteral, old.TypeRange = v.Type, v.Defaults, v.ParseLiteral, v.TypeRange
	}
	if v.given["default"] {
		old.rawDefault, old.defaultRange, old.DefaultExpr = v.rawDefault, v.defaultRange, v.DefaultExpr
	}
	if old.rawDefault != cty.NilVal && (v.given["default"] || v.given["type"] || v.given["nullable"]) {
		old.Default = old.convertDefault(v.Range)
	}
}

// overrideOutput replaces the arguments of the output old with the arguments of o. It replaces only arguments
// whose names are in given.
func overrideOutput(old, o *config.Output, given map[string]bool) {
	if given["description"] {
		old.Description = o.Description
	}
	if given["deprecated"] {
		old.Deprecated = o.Deprecated
	}
	if given["value"] {
		old.Expr = o.Expr
	}
	if given["type"] {
		old.Type, old.Defaults = o.Type, o.Defaults
	}
	if given["sensitive"] {
		old.Sensitive = o.Sensitive
	}
	if given["ephemeral"] {
		old.Ephemeral = o.Ephemeral
	}
	if len(o.Preconditions) > 0 {
		old.Preconditions = o.Preconditions
	}
	if given["depends_on"] {
		old.DependsOn = o.DependsOn
	}
}

// replace changes old with the arguments of x. The bodies with the provider's arguments are merged when they
// are decoded, since only a schema distinguishes blocks from arguments.
func (x *resource) replace(old *config.Resource) {
	overrideRepetition(&old.Repetition, x.Repetition)
	if x.ProviderRange != nil {
		old.Provider, old.ProviderKey, old.ProviderRange = x.Provider, x.ProviderKey, x.ProviderRange
	}
	if x.given["create_before_destroy"] {
		old.CreateBeforeDestroy, old.CreateBeforeDestroySet = x.CreateBeforeDestroy, x.CreateBeforeDestroySet
	}
	if x.given["prevent_destroy"] {
		old.PreventDestroy, old.PreventDestroyIf = x.PreventDestroy, x.PreventDestroyIf
	}
	if x.given["destroy"] {
		old.Keep = x.Keep
	}
	if x.given["ignore_changes"] {
		old.IgnoreChanges, old.IgnoreAllChanges = x.IgnoreChanges, x.IgnoreAllChanges
	}
	if x.given["replace_triggered_by"] {
		old.ReplaceTriggeredBy = x.ReplaceTriggeredBy
	}
	if len(x.Preconditions) > 0 {
		old.Preconditions = x.Preconditions
	}
	if len(x.Postconditions) > 0 {
		old.Postconditions = x.Postconditions
	}
	if x.Connection != nil {
		old.Connection = x.Connection
	}
	if len(x.Provisioners) > 0 {
		old.Provisioners = x.Provisioners
	}
	if len(x.Triggers) > 0 {
		old.Triggers = x.Triggers
	}
	x.overrideDependsOn(x.DependsOn)
	old.Body = overriddenBody(old.Body, x.Body)
}

// replace changes old with the arguments of c. A source is either literal or computed: if c has one form, it
// replaces the other form in old.
func (c *call) replace(old *config.Call) {
	if c.given["source"] {
		old.Source, old.SourceRange, old.Address = c.Source, c.SourceRange, c.Address
		if old.Computed != nil || c.Computed != nil {
			old.Compute().Source, old.Computed.Versioned = c.Compute().Source, c.Computed.Versioned
		}
	}
	if c.given["version"] {
		old.Version = c.Version
		if old.Computed != nil || c.Computed != nil {
			old.Compute().Version = c.Compute().Version
		}
	}
	overrideRepetition(&old.Repetition, c.Repetition)
	c.overrideDependsOn(c.DependsOn)
	if c.Providers != nil {
		old.Providers = c.Providers
	}
	args := maps.Clone(old.Args)
	if args == nil {
		args = map[string]*hcl.Attribute{}
	}
	maps.Copy(args, c.Args)
	old.Args = args
	old.Body = overriddenBody(old.Body, c.Body)
}

// overrideDependsOn refuses depends_on, which an override file cannot change.
func (r *reader) overrideDependsOn(list []hcl.Traversal) {
	for _, t := range list {
		r.errorf(t.SourceRange().Ptr(), "Unsupported override", "An override file cannot change depends_on.")
	}
}

// overrideRepetition replaces x with the repetition of an override file, override, if the file has one. So
// count in an override file replaces for_each.
func overrideRepetition(x *config.Repetition, override config.Repetition) {
	switch {
	case override.ForEach != nil && x.Count != nil:
		// The opposite does not work: for_each does not replace count. The block then has both, and count
		// decides.
		// Source: Terraform 1.11.4.
	case len(override.Expressions()) > 0:
		*x = override
	}
}
