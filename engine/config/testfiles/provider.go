package testfiles

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Provider is a provider configuration in a test file. It replaces a provider configuration of the tested
// module.
type Provider struct {
	Addr addrs.LocalProviderConfig
	Body hcl.Body // the provider's own arguments; nil for a mock
	Mock *Mock    // nil for a real one
	// ForEach makes several instances of a mock. If it is nil, the mock has the instances of the
	// configuration that it replaces.
	ForEach hcl.Expression
	Range   hcl.Range

	named  hcl.Range      // the label
	source addrs.Provider // the provider of the first module that receives it; zero before
}

var providerSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "alias"}, {Name: "version"},
	{Name: "count"}, {Name: "depends_on"}, {Name: "for_each"}, {Name: "source"}, // reserved
}}

// provider reads a provider block.
func (r *reader) provider(b *hcl.Block) *Provider {
	content, remain, ds := b.Body.PartialContent(providerSchema)
	r.add(ds)
	p := &Provider{Addr: addrs.LocalProviderConfig{LocalName: b.Labels[0]}, Body: remain, Range: b.DefRange}
	r.alias(p, content.Attributes["alias"])
	if a := content.Attributes["version"]; a != nil {
		r.errorf(a.Expr.Range().Ptr(), "Version constraints are not allowed in test files", "The versions of providers are selected for the configuration under test: write the constraint into its required_providers block.")
	}
	for _, name := range []string{"count", "depends_on", "for_each", "source"} {
		if a := content.Attributes[name]; a != nil {
			r.errorf(&a.NameRange, "Reserved argument name in provider block", "The name %q is kept free for the language.", name)
		}
	}
	return p
}

// alias reads the alias of a provider configuration.
func (r *reader) alias(p *Provider, a *hcl.Attribute) {
	if r.literal(a, &p.Addr.Alias) && !hclsyntax.ValidIdentifier(p.Addr.Alias) {
		r.errorf(a.Expr.Range().Ptr(), "Invalid provider configuration alias", "An alias must be a valid name. "+badIdentifier)
	}
}

const badIdentifier = "Names begin with a letter or an underscore; after that, digits and dashes are possible too."

// Sorted returns the provider configurations in their order in the file.
func (f *File) Sorted() []*Provider { return f.providers }
