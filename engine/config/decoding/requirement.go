package decoding

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// A requirement is an entry of required_providers that is being read.
type requirement struct {
	*reader
	*config.RequiredProvider
}

// entry reads one entry, and reports whether it is valid: an object, or a version constraint as in Terraform
// 0.12. Without a source, the provider is in the default namespace and its type is the local name.
func (r *requirement) entry(a *hcl.Attribute) bool {
	if err := checkLocalName(r.LocalName); err != "" {
		r.errorf(a.NameRange.Ptr(), badLocalName, "%s", err)
		return false
	}
	r.Source = addrs.DefaultProviderIn(r.registry, r.LocalName)
	pairs, ds := hcl.ExprMap(a.Expr)
	if ds.HasErrors() {
		v, vds := a.Expr.Value(nil)
		if vds.HasErrors() || v.IsNull() || v.Type() != cty.String {
			r.errorf(a.Expr.Range().Ptr(), "Invalid required_providers object", "An entry of required_providers must be an object with source and version.")
			return false
		}
		c, cds := config.NewVersionConstraint(v, "version", a.Expr.Range())
		r.diags = append(r.diags, cds...)
		if cds.HasErrors() {
			return false
		}
		r.Versions = []config.VersionConstraint{c}
		return true
	}
	ok := true
	for _, p := range pairs {
		ok = r.argument(p) && ok
	}
	return ok
}

// argument reads source, version or configuration_aliases, and reports whether it is valid.
func (r *requirement) argument(p hcl.KeyValuePair) bool {
	key, ds := p.Key.Value(nil)
	if ds.HasErrors() || key.Type() != cty.String || key.IsNull() || !key.IsKnown() {
		r.errorf(p.Key.Range().Ptr(), "Invalid Attribute", "A literal name is required here: source, version or configuration_aliases.")
		return false
	}
	switch name := key.AsString(); name {
	case "version":
		return r.version(p.Value)
	case "source":
		return r.source(p.Value)
	case "configuration_aliases":
		return r.aliases(p.Value)
	default:
		r.errorf(p.Key.Range().Ptr(), "Invalid required_providers object",
			"An entry of required_providers has no argument named %q: it takes source, version and configuration_aliases.", name)
		return false
	}
}

func (r *requirement) version(e hcl.Expression) bool {
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		r.errorf(e.Range().Ptr(), "Invalid version constraint", "A literal string is required.")
		return false
	}
	c, cds := config.NewVersionConstraint(v, "version", e.Range())
	r.diags = append(r.diags, cds...)
	if !cds.HasErrors() {
		r.Versions = []config.VersionConstraint{c}
	}
	return !cds.HasErrors()
}

func (r *requirement) source(e hcl.Expression) bool {
	v, ds := e.Value(nil)
	if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
		r.errorf(e.Range().Ptr(), "Invalid source", "A literal string is required.")
		return false
	}
	p, err := addrs.ParseProviderIn(r.registry, v.AsString())
	if err != nil {
		r.errorf(e.Range().Ptr(), sourceSummary(v.AsString()), "%s.", diags.Capital(err.Error()))
		return false
	}
	r.Source = p
	return true
}

// sourceSummary returns the summary for a wrong source. It depends on the part that is wrong.
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

func (r *requirement) aliases(e hcl.Expression) bool {
	list, ds := hcl.ExprList(e)
	if ds.HasErrors() {
		r.add(ds)
		return false
	}
	ok := true
	for _, x := range list {
		t, ds := hcl.AbsTraversalForExpr(x)
		r.add(ds)
		if ds.HasErrors() {
			ok = false
			continue
		}
		local, good := traversals.ProviderConfig(t)
		switch {
		case !good:
			r.errorf(x.Range().Ptr(), "Invalid configuration_aliases value", "An entry must name a provider configuration, as %s.alias.", r.LocalName)
			ok = false
		case local.LocalName != r.LocalName:
			r.errorf(x.Range().Ptr(), "Invalid configuration_aliases value", "A configuration alias must begin with the local name of its provider, %q.", r.LocalName)
			ok = false
		default:
			r.Aliases = append(r.Aliases, local)
		}
	}
	return ok
}
