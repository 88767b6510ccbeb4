package config

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// overrideVariable changes old by what v says.
func (r *reader) overrideVariable(old, v *Variable) {
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
	if v.given["nullable"] {
		old.Nullable = v.Nullable
	}
	if v.given["type"] {
		old.Type, old.Defaults, old.ParseLiteral, old.TypeRange = v.Type, v.Defaults, v.ParseLiteral, v.TypeRange
	}
	if v.given["default"] {
		old.rawDefault, old.defaultRange = v.rawDefault, v.defaultRange
	}
	if old.rawDefault != cty.NilVal && (v.given["default"] || v.given["type"] || v.given["nullable"]) {
		old.Default = r.convertDefault(old, v.Range)
	}
}

func overrideOutput(old, o *Output) {
	if o.given["description"] {
		old.Description = o.Description
	}
	if o.given["deprecated"] {
		old.Deprecated = o.Deprecated
	}
	if o.given["value"] {
		old.Expr = o.Expr
	}
	if o.given["sensitive"] {
		old.Sensitive = o.Sensitive
	}
	if o.given["ephemeral"] {
		old.Ephemeral = o.Ephemeral
	}
	if len(o.Preconditions) > 0 {
		old.Preconditions = o.Preconditions
	}
	if o.given["depends_on"] {
		old.DependsOn = o.DependsOn
	}
}

// overrideResource changes old by what x says. The bodies are put together when they
// are decoded, since only the schema tells blocks from arguments.
func (r *reader) overrideResource(old, x *Resource) {
	old.Repetition.override(x.Repetition)
	if x.ProviderRange != nil {
		old.Provider, old.ProviderKey, old.ProviderRange = x.Provider, x.ProviderKey, x.ProviderRange
	}
	if x.given["create_before_destroy"] {
		old.CreateBeforeDestroy, old.CreateBeforeDestroySet = x.CreateBeforeDestroy, x.CreateBeforeDestroySet
	}
	if x.given["prevent_destroy"] {
		old.PreventDestroy, old.PreventDestroyIf = x.PreventDestroy, x.PreventDestroyIf
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
	r.overrideDependsOn(x.DependsOn)
	old.Body = &overriddenBody{old.Body, x.Body}
}

func (r *reader) overrideCall(old, c *Call) {
	if c.given["source"] {
		old.Source, old.SourceRange, old.address = c.Source, c.SourceRange, c.address
		if old.early != nil || c.early != nil {
			old.evaluated().source, old.early.versioned = c.evaluated().source, c.early.versioned
		}
	}
	if c.given["version"] {
		old.Version = c.Version
		if old.early != nil || c.early != nil {
			old.evaluated().version = c.evaluated().version
		}
	}
	old.Repetition.override(c.Repetition)
	r.overrideDependsOn(c.DependsOn)
	if c.Providers != nil {
		old.Providers = c.Providers
	}
	args := maps.Clone(old.Args)
	if args == nil {
		args = map[string]*hcl.Attribute{}
	}
	maps.Copy(args, c.Args)
	old.Args = args
	old.body = &overriddenBody{old.body, c.body}
}

// overrideDependsOn refuses what only whole blocks can change.
func (r *reader) overrideDependsOn(list []hcl.Traversal) {
	for _, t := range list {
		r.errorf(t.SourceRange().Ptr(), "Unsupported override", "An override file cannot change depends_on.")
	}
}

// An overriddenBody is a body with another one's arguments and blocks in place of
// its own: arguments one by one, blocks all of a type at once.
type overriddenBody struct{ base, over hcl.Body }

func (b *overriddenBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	base, ds := b.base.Content(relaxed(s))
	over, ods := b.over.Content(relaxed(s))
	out := b.merge(base, over)
	ds = append(append(ds, ods...), b.missing(s, out)...)
	return out, ds
}

func (b *overriddenBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	base, baseRest, ds := b.base.PartialContent(relaxed(s))
	over, overRest, ods := b.over.PartialContent(relaxed(s))
	out := b.merge(base, over)
	ds = append(append(ds, ods...), b.missing(s, out)...)
	return out, &overriddenBody{baseRest, overRest}, ds
}

func (b *overriddenBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	base, ds := b.base.JustAttributes()
	over, ods := b.over.JustAttributes()
	out := maps.Clone(base)
	if out == nil {
		out = hcl.Attributes{}
	}
	maps.Copy(out, over)
	return out, append(ds, ods...)
}

func (b *overriddenBody) MissingItemRange() hcl.Range { return b.base.MissingItemRange() }

// Parts returns the body and what changes it, for who looks at both without a schema.
func (b *overriddenBody) Parts() []hcl.Body { return []hcl.Body{b.base, b.over} }

func (b *overriddenBody) merge(base, over *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: base.MissingItemRange}
	maps.Copy(out.Attributes, base.Attributes)
	maps.Copy(out.Attributes, over.Attributes)
	changed := map[string]bool{}
	for _, x := range over.Blocks {
		changed[blockType(x)] = true
	}
	for _, x := range base.Blocks {
		if !changed[blockType(x)] {
			out.Blocks = append(out.Blocks, x)
		}
	}
	out.Blocks = append(out.Blocks, over.Blocks...)
	return out
}

// blockType returns a block's type; dynamic blocks stand for the type they make.
func blockType(b *hcl.Block) string {
	if b.Type == "dynamic" && len(b.Labels) > 0 {
		return b.Labels[0]
	}
	return b.Type
}

// missing reports required arguments that neither body has.
func (b *overriddenBody) missing(s *hcl.BodySchema, c *hcl.BodyContent) hcl.Diagnostics {
	var ds hcl.Diagnostics
	for _, a := range s.Attributes {
		if a.Required && c.Attributes[a.Name] == nil {
			ds = append(ds, problem(c.MissingItemRange.Ptr(), "Missing required argument",
				"The argument %q is required, and neither the block nor what overrides it has it.", a.Name))
		}
	}
	return ds
}
