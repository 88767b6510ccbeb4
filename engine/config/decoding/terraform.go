package decoding

import (
	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
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
func (d *Decoder) terraform(b *hcl.Block) {
	content := d.contentOf(b.Body, terraformSchema)
	if a := content.Attributes["required_version"]; a != nil {
		d.requiredVersion(a)
	}
	if a := content.Attributes["experiments"]; a != nil {
		d.errorf(&a.NameRange, "Module uses experimental features", "Lockstep has no experimental language features: leave out this argument.")
	}
	if a := content.Attributes["language"]; a != nil {
		d.edition(a, "TF2021")
	}
	for _, x := range content.Blocks {
		switch x.Type {
		case "backend":
			d.backend(x)
		case "cloud":
			d.cloudBlock(x)
		case "encryption":
			d.encryption(x)
		case "required_providers":
			d.requiredProviders(x)
		case "provider_meta":
			d.providerMeta(x)
		}
	}
}

var languageSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "edition"}, {Name: "experiments"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "compatible_with"}},
}

var compatibleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "opentofu"}, {Name: "terraform"}}}

// languageBlock reads a language block, which names the tools that the module supports. The module supports
// Lockstep if the block names a tool in a version whose language Lockstep supports. Other tools may be named, too.
// Source: OpenTofu 1.12.6, which reads its own version only.
func (d *Decoder) languageBlock(b *hcl.Block) {
	if d.override {
		d.errorf(&b.DefRange, "Language selections in override file", "A language block is for the whole module: move it to a file that is no override file.")
		return
	}
	content := d.contentOf(b.Body, languageSchema)
	if a := content.Attributes["edition"]; a != nil {
		d.edition(a, "tofu2024")
	}
	if a := content.Attributes["experiments"]; a != nil {
		d.experiments(a)
	}
	for _, x := range content.Blocks {
		compatible, _, ds := x.Body.PartialContent(compatibleSchema)
		d.Report(ds)
		attrs := compatible.Attributes
		var unfit []*hcl.Attribute
		fits := false
		for _, name := range []string{"opentofu", "terraform"} {
			a := attrs[name]
			if a == nil {
				continue
			}
			c, ok := d.versionConstraint(a)
			if !ok {
				fits = true // the error is already reported
				continue
			}
			constraints, err := version.NewConstraint(c.Text)
			own := version.Must(version.NewVersion(config.OpenTofuVersion))
			if err != nil || name == "opentofu" && constraints.Check(own) || name == "terraform" && config.Speaks(d.language, constraints) {
				fits = true
				continue
			}
			unfit = append(unfit, a)
		}
		if len(unfit) > 0 && !fits {
			d.errorf(&unfit[0].Range, "Incompatible module",
				"This module is for other versions of the language. Lockstep speaks that of Terraform %s and of OpenTofu %s here. Use a version of the module that allows one of these.",
				config.Spoken(d.language), config.OpenTofuVersion)
		}
	}
}

// edition checks the edition of the language. The parameter only is the one edition that exists so far.
func (d *Decoder) edition(a *hcl.Attribute, only string) {
	remedy := "The only edition of the language is " + only + ", which is the default: leave out this argument."
	switch hcl.ExprAsKeyword(a.Expr) {
	case only:
	case "":
		d.errorf(a.Expr.Range().Ptr(), "Invalid language edition", "A bare keyword is required. %s", remedy)
	default:
		d.errorf(a.Expr.Range().Ptr(), "Unsupported language edition", "%s", remedy)
	}
}

// experiments reports each experiment in a language block.
func (d *Decoder) experiments(a *hcl.Attribute) {
	list, ds := hcl.ExprList(a.Expr)
	d.Report(ds)
	for _, x := range list {
		d.errorf(x.Range().Ptr(), "Unknown experiment keyword", "Lockstep has no experimental language features: leave out this argument.")
	}
}

func (d *Decoder) backend(b *hcl.Block) {
	if d.override {
		d.cloud = nil
	}
	if d.cloud != nil {
		d.errorf(&b.DefRange, bothBackends, "State is kept in one place only: remove the cloud block at %s.", at(d.cloud.DefRange))
	}
	if d.content.Backend != nil && !d.override {
		d.errorf(&b.DefRange, "Duplicate backend configuration", "State is kept in one place only, and a backend was configured at %s already.", at(d.content.Backend.Range))
		return
	}
	d.content.Backend = &config.Backend{Type: b.Labels[0], Body: b.Body, Range: b.DefRange}
}

func (d *Decoder) encryption(b *hcl.Block) {
	if old := d.content.Encryption; len(old) > 0 && !d.override {
		d.errorf(&b.DefRange, "Duplicate encryption configuration", "A module has one encryption block, and there is one at %s already. Write one block with the contents of both, or put the other into an override file.", at(old[0].Range))
		return
	}
	d.content.Encryption = append(d.content.Encryption, &config.Encryption{Body: b.Body, Range: b.DefRange})
}

const bothBackends = "Both a backend and cloud configuration are present"

func (d *Decoder) cloudBlock(b *hcl.Block) {
	switch {
	case d.override:
		d.content.Backend = nil
	case d.content.Backend != nil:
		d.errorf(&d.content.Backend.Range, bothBackends, "State is kept in one place only: remove the cloud block at %s.", at(b.DefRange))
	case d.cloud != nil:
		d.errorf(&b.DefRange, "Duplicate HCP Terraform configurations", "There is a cloud block at %s already.", at(d.cloud.DefRange))
		return
	}
	d.cloud = b
}

// refuseCloud adds an error if the root module has a cloud block. In a called module, a cloud block has no
// effect, like a backend block, and is no error.
func (d *Decoder) refuseCloud() {
	if d.cloud == nil || d.options.Called {
		return
	}
	d.errorf(&d.cloud.DefRange, "HCP Terraform is not supported",
		"A cloud block stores states and runs plans in HCP Terraform. Lockstep runs plans itself, and keeps the states in a backend such as \"s3\". "+MoveFromCloud)
}

// MoveFromCloud says how a state leaves HCP Terraform: its stock client does not copy it to a backend.
const MoveFromCloud = "To move the state of a workspace, run \"terraform state pull > state.json\" here. Write the block of a backend in place of this block. Then run \"lockstep init -reconfigure\" and \"lockstep state push state.json\"."

// providerMeta reads a provider_meta block. The provider defines its arguments. Their values must be literal,
// since nothing exists yet that they could refer to.
func (d *Decoder) providerMeta(b *hcl.Block) {
	name := b.Labels[0]
	if problem := checkLocalName(name); problem != "" {
		d.errorf(&b.LabelRanges[0], badLocalName, "%s", problem)
		return
	}
	attrs, ds := b.Body.JustAttributes()
	if ds.HasErrors() {
		attrs = nil // it has blocks: which arguments are allowed is checked against the provider's schema
	}
	for _, a := range attrs {
		for _, v := range a.Expr.Variables() {
			d.errorf(v.SourceRange().Ptr(), "Variables not allowed", "Variables may not be used in a provider_meta block. Write the value of %q out.", a.Name)
		}
	}
	if d.content.ProviderMeta == nil {
		d.content.ProviderMeta = map[string]*config.ProviderMeta{}
	}
	if old := d.content.ProviderMeta[name]; old != nil && !d.override {
		d.errorf(&b.DefRange, "Duplicate provider_meta block",
			"A module may have only one provider_meta block for a provider. That of %q was declared at %s.", name, at(old.Range))
		return
	}
	d.content.ProviderMeta[name] = &config.ProviderMeta{LocalName: name, Body: b.Body, Range: b.DefRange}
}
