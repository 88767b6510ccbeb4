package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

var terraformSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "required_version"}, {Name: "experiments"}, {Name: "language"}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "backend", LabelNames: []string{"type"}},
		{Type: "cloud"},
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

// requiredProviders reads a required_providers block.
func (r *reader) requiredProviders(b *hcl.Block) {
	if !r.override {
		if r.requirements != nil {
			r.errorf(&b.DefRange, "Duplicate required providers configuration",
				"A module may have only one required_providers block. It was declared before at %s.", at(r.requirements.DefRange))
			return
		}
		r.requirements = b
	}
	attrs, ds := b.Body.JustAttributes()
	r.diags = append(r.diags, ds...)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		req := &RequiredProvider{LocalName: name, Range: a.Range}
		if r.requiredProvider(req, a) {
			r.c.RequiredProviders[name] = req
		}
	}
	if !r.override {
		r.duplicateRequirements()
	}
}

// requiredProvider reads one entry: an object, or a version constraint as of old.
func (r *reader) requiredProvider(req *RequiredProvider, a *hcl.Attribute) bool {
	if err := checkLocalName(req.LocalName); err != "" {
		r.errorf(a.NameRange.Ptr(), badLocalName, "%s", err)
		return false
	}
	req.Source = addrs.DefaultProvider(req.LocalName)
	pairs, ds := hcl.ExprMap(a.Expr)
	if ds.HasErrors() {
		v, vds := a.Expr.Value(nil)
		if vds.HasErrors() || v.IsNull() || v.Type() != cty.String {
			r.errorf(a.Expr.Range().Ptr(), "Invalid required_providers object", "An entry of required_providers must be an object with source and version.")
			return false
		}
		c, cds := constraintFromValue(v, "version", a.Expr.Range())
		r.diags = append(r.diags, cds...)
		if cds.HasErrors() {
			return false
		}
		req.Versions = []VersionConstraint{c}
		return true
	}
	ok := true
	for _, p := range pairs {
		ok = r.requirementArg(req, p) && ok
	}
	return ok
}

const badLocalName = "Invalid provider local name"

// checkLocalName returns what is wrong with a provider's local name, "" if nothing.
func checkLocalName(name string) string {
	p, err := addrs.ParseProvider(name)
	if err != nil {
		return "A provider's local name may contain only lower-case letters, digits and dashes: " + err.Error() + "."
	}
	if p.Type != name {
		return fmt.Sprintf("A provider's local name must be written in lower case: %q.", p.Type)
	}
	if strings.Contains(name, "_") {
		return fmt.Sprintf("A provider's local name may contain only lower-case letters, digits and dashes, so %q cannot be one.", name)
	}
	return ""
}

// requirementArg reads source, version or configuration_aliases.
func (r *reader) requirementArg(req *RequiredProvider, p hcl.KeyValuePair) bool {
	key, ds := p.Key.Value(nil)
	if ds.HasErrors() || key.Type() != cty.String || key.IsNull() || !key.IsKnown() {
		r.errorf(p.Key.Range().Ptr(), "Invalid Attribute", "A literal name is required here: source, version or configuration_aliases.")
		return false
	}
	switch name := key.AsString(); name {
	case "version":
		return r.requirementVersion(req, p.Value)
	case "source":
		return r.requirementSource(req, p.Value)
	case "configuration_aliases":
		return r.requirementAliases(req, p.Value)
	default:
		r.errorf(p.Key.Range().Ptr(), "Invalid required_providers object",
			"An entry of required_providers has no argument named %q: it takes source, version and configuration_aliases.", name)
		return false
	}
}

func (r *reader) requirementVersion(req *RequiredProvider, e hcl.Expression) bool {
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		r.errorf(e.Range().Ptr(), "Invalid version constraint", "A literal string is required.")
		return false
	}
	c, cds := constraintFromValue(v, "version", e.Range())
	r.diags = append(r.diags, cds...)
	if !cds.HasErrors() {
		req.Versions = []VersionConstraint{c}
	}
	return !cds.HasErrors()
}

func (r *reader) requirementSource(req *RequiredProvider, e hcl.Expression) bool {
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		r.errorf(e.Range().Ptr(), "Invalid source", "A literal string is required.")
		return false
	}
	p, err := addrs.ParseProvider(v.AsString())
	if err != nil {
		r.errorf(e.Range().Ptr(), sourceSummary(v.AsString()), "%s.", capital(err.Error()))
		return false
	}
	req.Source = p
	return true
}

// sourceSummary returns the headline for a source that is wrong, by the part of it
// that is.
func sourceSummary(source string) string {
	parts := strings.Split(source, "/")
	wrong := func(s string) bool { _, err := addrs.ParseProvider(s); return err != nil }
	switch {
	case source == "" || len(parts) > 3 || slices.Contains(parts, ""):
		return "Invalid provider source string"
	case wrong(parts[len(parts)-1]):
		return "Invalid provider type"
	case len(parts) > 1 && wrong(parts[len(parts)-2]+"/x"):
		return "Invalid provider namespace"
	}
	return "Invalid provider source hostname"
}

// duplicateRequirements warns of providers with two local names.
func (r *reader) duplicateRequirements() {
	first := map[addrs.Provider]string{}
	for _, name := range slices.Sorted(maps.Keys(r.c.RequiredProviders)) {
		req := r.c.RequiredProviders[name]
		if other, dup := first[req.Source]; dup {
			r.warnf(&req.Range, "Duplicate required provider",
				"The provider %s is required twice, as %q and as %q. Keep one of the two entries.", req.Source.ForDisplay(), other, name)
			continue
		}
		first[req.Source] = name
	}
}

func (r *reader) requirementAliases(req *RequiredProvider, e hcl.Expression) bool {
	list, ds := hcl.ExprList(e)
	if ds.HasErrors() {
		r.diags = append(r.diags, ds...)
		return false
	}
	ok := true
	for _, x := range list {
		t, ds := hcl.AbsTraversalForExpr(x)
		r.diags = append(r.diags, ds...)
		if ds.HasErrors() {
			ok = false
			continue
		}
		local, good := localConfig(t)
		switch {
		case !good:
			r.errorf(x.Range().Ptr(), "Invalid configuration_aliases value", "An entry must name a provider configuration, as %s.alias.", req.LocalName)
			ok = false
		case local.LocalName != req.LocalName:
			r.errorf(x.Range().Ptr(), "Invalid configuration_aliases value", "A configuration alias must begin with the local name of its provider, %q.", req.LocalName)
			ok = false
		default:
			req.Aliases = append(req.Aliases, local)
		}
	}
	return ok
}

// providerMeta reads a provider_meta block. Only its shape is checked: no provider
// that the engine knows asks for it, so it is kept for the provider that may.
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
