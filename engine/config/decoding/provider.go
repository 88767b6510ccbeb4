package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

var providerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "alias"}, {Name: "version"},
		// These names are reserved for the language.
		{Name: "count"}, {Name: "depends_on"}, {Name: "source"},
		{Name: "for_each"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "lifecycle"}, {Type: "locals"}},
}

// provider reads a provider block.
func (d *Decoder) provider(b *hcl.Block) {
	content, remain := d.partialContentOf(b.Body, providerSchema)
	name := b.Labels[0]
	if err := checkLocalName(name); err != "" {
		d.errorf(&b.LabelRanges[0], badLocalName, "%s", err)
	}
	p := &config.Provider{Addr: addrs.LocalProviderConfig{LocalName: name}, Body: remain, Range: b.DefRange}
	if a := content.Attributes["alias"]; a != nil {
		if d.literal(a, &p.Addr.Alias) && !hclsyntax.ValidIdentifier(p.Addr.Alias) {
			d.errorf(a.Expr.Range().Ptr(), "Invalid provider configuration alias", "An alias must be a valid name. "+badIdentifier)
		}
	}
	if a := content.Attributes["version"]; a != nil {
		d.warnf(a.Expr.Range().Ptr(), "Version constraints inside provider configuration blocks are deprecated",
			"Write the version into the provider's entry of required_providers, in the terraform block, instead.")
		if c, ok := d.versionConstraint(a); ok {
			p.Versions = []config.VersionConstraint{c}
		}
	}
	if a := content.Attributes["for_each"]; a != nil {
		p.ForEach = a.Expr
		if content.Attributes["alias"] == nil && !d.override {
			d.errorf(&a.NameRange, "Alias required when using \"for_each\"",
				"Only a provider configuration with an alias can have several instances: a resource without the provider argument uses the one default configuration.")
		}
	}
	for _, n := range []string{"count", "depends_on", "source"} {
		if a := content.Attributes[n]; a != nil {
			d.errorf(&a.NameRange, "Reserved argument name in provider block",
				reservedName, n)
		}
	}
	p.Body = d.escaped(content.Blocks, remain, "provider")
	p.Empty = isEmptyBody(p.Body) && p.ForEach == nil
	d.addProvider(p)
}

// addProvider declares a provider configuration, or overrides the one with the same address. An override of a
// default configuration that no file declares counts as a declaration: for any provider in use, a default
// configuration exists, without arguments.
func (d *Decoder) addProvider(p *config.Provider) {
	old := d.content.Providers[p.Addr]
	switch {
	case d.override && old == nil && p.Addr.Alias != "":
		d.missingBase(p.Range, "Missing base provider configuration for override", "the provider configuration "+p.Addr.String())
	case old == nil:
		d.content.Providers[p.Addr] = p
	case !d.override:
		d.errorf(&p.Range, "Duplicate provider configuration",
			"%s is configured at %s already. To configure the provider in several ways, give each block an alias of its own.", p.Addr, at(old.Range))
	default:
		old.Body = overriddenBody(old.Body, p.Body)
		old.Empty = old.Empty && p.Empty
		if p.ForEach != nil {
			old.ForEach = p.ForEach
		}
		if p.Versions != nil {
			old.Versions = p.Versions
		}
	}
}

const reservedName = "The name %q is kept free for the language. If the plugin has something of that name, put it into a block named _."

// escaped handles the blocks of a provider or module block that belong to the language. It returns body with
// the arguments of the block named _ added. These are arguments for the provider or module whose names the
// language itself uses. All other blocks are errors, since their types are reserved. where is the kind of the
// enclosing block, for messages.
func (r *reader) escaped(blocks hcl.Blocks, body hcl.Body, where string) hcl.Body {
	var seen *hcl.Block
	for _, b := range blocks {
		if b.Type == "_" {
			if r.once(&seen, b, "Duplicate escaping block", "The block named _ may be used only once in each block.") {
				body = escapedBody(body, b.Body)
			}
			continue
		}
		r.errorf(&b.TypeRange, "Reserved block type name in "+where+" block", reservedName, b.Type)
	}
	return body
}
