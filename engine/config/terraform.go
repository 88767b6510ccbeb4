package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var terraformSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "required_version"}, {Name: "experiments"}, {Name: "language"}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "backend", LabelNames: []string{"type"}},
		{Type: "cloud"},
		{Type: "encryption"},
		{Type: "required_providers"},
		{Type: "provider_meta", LabelNames: []string{"provider"}},
	},
}

// terraform reads a terraform block.
func (r *reader) terraform(b *hcl.Block) {
	content := r.content(b.Body, terraformSchema)
	if a := content.Attributes["required_version"]; a != nil {
		r.requiredVersion(a)
	}
	if a := content.Attributes["experiments"]; a != nil {
		r.errorf(&a.NameRange, "Module uses experimental features", "Lockstep has no experimental language features: leave out this argument.")
	}
	if a := content.Attributes["language"]; a != nil {
		r.language(a)
	}
	for _, x := range content.Blocks {
		switch x.Type {
		case "backend":
			r.backend(x)
		case "cloud":
			r.cloudBlock(x)
		case "encryption":
			r.errorf(&x.DefRange, "State encryption is not supported",
				"Lockstep writes states and plans as they are, and reads no others: take this block out, once the state was written without encryption. Where the state lives may encrypt it, as S3 does.")
		case "required_providers":
			r.requiredProviders(x)
		case "provider_meta":
			r.providerMeta(x)
		}
	}
}

// language accepts the only edition that there is.
func (r *reader) language(a *hcl.Attribute) {
	const remedy = "The only edition of the language is TF2021, which is the default: leave out this argument."
	switch hcl.ExprAsKeyword(a.Expr) {
	case "TF2021":
	case "":
		r.errorf(a.Expr.Range().Ptr(), "Invalid language edition", "A bare keyword is required. "+remedy)
	default:
		r.errorf(a.Expr.Range().Ptr(), "Unsupported language edition", remedy)
	}
}

func (r *reader) backend(b *hcl.Block) {
	if r.override {
		r.cloud = nil
	}
	if r.cloud != nil {
		r.errorf(&b.DefRange, bothBackends, "State is kept in one place only: remove the cloud block at %s.", at(r.cloud.DefRange))
	}
	if r.c.Backend != nil && !r.override {
		r.errorf(&b.DefRange, "Duplicate backend configuration", "State is kept in one place only, and a backend was configured at %s already.", at(r.c.Backend.Range))
		return
	}
	r.c.Backend = &Backend{Type: b.Labels[0], Body: b.Body, Range: b.DefRange}
}

const bothBackends = "Both a backend and cloud configuration are present"

func (r *reader) cloudBlock(b *hcl.Block) {
	switch {
	case r.override:
		r.c.Backend = nil
	case r.c.Backend != nil:
		r.errorf(&b.DefRange, bothBackends, "State is kept in one place only: remove this block, as there is a backend at %s.", at(r.c.Backend.Range))
	case r.cloud != nil:
		r.errorf(&b.DefRange, "Duplicate HCP Terraform configurations", "There is a cloud block at %s already.", at(r.cloud.DefRange))
		return
	}
	r.cloud = b
}

// refuseCloud reports the root module's cloud block. That of another module has no
// effect, just as its backend.
func (r *reader) refuseCloud() {
	if r.cloud == nil || r.called {
		return
	}
	r.errorf(&r.cloud.DefRange, "HCP Terraform is not supported",
		"A cloud block stores state and runs plans in HCP Terraform, whose place Lockstep takes. Remove the block and declare a backend, for instance \"s3\", instead.")
}

// providerMeta reads a provider_meta block. Only its shape is checked: what it may say, its provider
// knows.
func (r *reader) providerMeta(b *hcl.Block) {
	name := b.Labels[0]
	if !hclsyntax.ValidIdentifier(name) {
		r.errorf(&b.LabelRanges[0], badLocalName, badIdentifier)
		return
	}
	if r.c.ProviderMeta == nil {
		r.c.ProviderMeta = map[string]*ProviderMeta{}
	}
	if old := r.c.ProviderMeta[name]; old != nil && !r.override {
		r.errorf(&b.DefRange, "Duplicate provider_meta block",
			"A module may have only one provider_meta block for a provider. That of %q was declared at %s.", name, at(old.Range))
		return
	}
	r.c.ProviderMeta[name] = &ProviderMeta{LocalName: name, Body: b.Body, Range: b.DefRange}
}

func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
