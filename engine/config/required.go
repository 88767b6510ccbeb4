package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

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
