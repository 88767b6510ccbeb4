package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

var providerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "alias"}, {Name: "version"},
		// Reserved for the language.
		{Name: "count"}, {Name: "depends_on"}, {Name: "source"},
		{Name: "for_each"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "lifecycle"}, {Type: "locals"}},
}

// provider reads a provider block.
func (r *reader) provider(b *hcl.Block) {
	content, remain := r.partial(b.Body, providerSchema)
	name := b.Labels[0]
	if err := checkLocalName(name); err != "" {
		r.errorf(&b.LabelRanges[0], badLocalName, "%s", err)
	}
	p := &Provider{Addr: addrs.LocalProviderConfig{LocalName: name}, Body: remain, Range: b.DefRange}
	if a := content.Attributes["alias"]; a != nil {
		if r.literal(a, &p.Addr.Alias) && !hclsyntax.ValidIdentifier(p.Addr.Alias) {
			r.errorf(a.Expr.Range().Ptr(), "Invalid provider configuration alias", "An alias must be a valid name. "+badIdentifier)
		}
	}
	if a := content.Attributes["version"]; a != nil {
		r.warnf(a.Expr.Range().Ptr(), "Version constraints inside provider configuration blocks are deprecated",
			"Write the version into the provider's entry of required_providers, in the terraform block, instead.")
		if c, ok := r.versionConstraint(a); ok {
			p.Versions = []VersionConstraint{c}
		}
	}
	if a := content.Attributes["for_each"]; a != nil {
		p.ForEach = a.Expr
		if content.Attributes["alias"] == nil && !r.override {
			r.errorf(&a.NameRange, "Alias required when using \"for_each\"",
				"Only a provider configuration with an alias can have several instances: what names no instance uses the default configuration.")
		}
	}
	for _, n := range []string{"count", "depends_on", "source"} {
		if a := content.Attributes[n]; a != nil {
			r.errorf(&a.NameRange, "Reserved argument name in provider block",
				reservedName, n)
		}
	}
	p.Body = r.escaped(content.Blocks, remain, "provider")
	p.empty = isEmpty(p.Body) && p.ForEach == nil
	old := r.c.Providers[p.Addr]
	switch {
	case r.override && old == nil && p.Addr.Alias == "":
		// A default configuration exists without being declared.
		r.c.Providers[p.Addr] = p
	case r.override && old == nil:
		r.missingBase(p.Range, "Missing base provider configuration for override", "the provider configuration "+p.Addr.String())
	case r.override:
		old.Body = &overriddenBody{old.Body, p.Body}
		old.empty = old.empty && p.empty
		if p.ForEach != nil {
			old.ForEach = p.ForEach
		}
		if p.Versions != nil {
			old.Versions = p.Versions
		}
	case old != nil:
		r.errorf(&p.Range, "Duplicate provider configuration",
			"%s is configured at %s already. To configure the provider in several ways, give each block an alias of its own.", p.Addr, at(old.Range))
	default:
		r.c.Providers[p.Addr] = p
	}
}

const reservedName = "The name %q is kept free for the language. If the plugin has something of that name, put it into a block named _."

// escaped handles the blocks of a provider or resource that are not its plugin's:
// the content of the block named _ stands for itself whatever its names mean
// outside, the others are reserved.
func (r *reader) escaped(blocks hcl.Blocks, body hcl.Body, where string) hcl.Body {
	var seen *hcl.Block
	for _, b := range blocks {
		if b.Type == "_" {
			if r.once(&seen, b, "Duplicate escaping block", "The block named _ may be used only once in each block.") {
				body = withEscaped(body, b.Body)
			}
			continue
		}
		r.errorf(&b.TypeRange, "Reserved block type name in "+where+" block", reservedName, b.Type)
	}
	return body
}

// An escapedBody is a body and the content of its block named _.
type escapedBody struct {
	hcl.Body
	parts []hcl.Body
}

func withEscaped(body, escaped hcl.Body) hcl.Body {
	parts := []hcl.Body{body, escaped}
	return &escapedBody{hcl.MergeBodies(parts), parts}
}

// Parts returns both bodies, for who looks at them without a schema.
func (b *escapedBody) Parts() []hcl.Body { return b.parts }

// isEmpty reports whether nothing stands in a body.
func isEmpty(b hcl.Body) bool {
	attrs, ds := b.JustAttributes()
	return len(attrs) == 0 && !ds.HasErrors()
}

// providerRef reads a reference to a provider configuration: aws, aws.west, or the
// same in quotes, as of old.
func (r *reader) providerRef(e hcl.Expression) (addrs.LocalProviderConfig, bool) {
	e, ds := unquoteReference(e)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return addrs.LocalProviderConfig{}, false
	}
	t, ds := hcl.AbsTraversalForExpr(e)
	local, ok := localConfig(t)
	if ds.HasErrors() || !ok {
		r.errorf(e.Range().Ptr(), "Invalid provider configuration reference",
			"A reference to a provider configuration is the provider's local name, followed by a dot and an alias if it has one.")
		return local, false
	}
	if err := checkLocalName(local.LocalName); err != "" {
		r.errorf(t.SourceRange().Ptr(), badLocalName, "%s", err)
		return local, false
	}
	return local, true
}

// localConfig reads name or name.alias.
func localConfig(t hcl.Traversal) (addrs.LocalProviderConfig, bool) {
	var out addrs.LocalProviderConfig
	if len(t) == 0 || len(t) > 2 || t.IsRelative() {
		return out, false
	}
	out.LocalName = t.RootName()
	if len(t) == 2 {
		alias, ok := t[1].(hcl.TraverseAttr)
		if !ok {
			return out, false
		}
		out.Alias = alias.Name
	}
	return out, true
}
