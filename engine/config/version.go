package config

import (
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// LanguageVersion is the version of the Terraform language that Lockstep speaks, and
// that required_version arguments are compared with.
const LanguageVersion = "1.11.4"

// versionConstraint reads a literal version constraint.
func (r *reader) versionConstraint(a *hcl.Attribute) (VersionConstraint, bool) {
	v, ds := a.Expr.Value(nil)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return VersionConstraint{}, false
	}
	if v.IsNull() {
		return VersionConstraint{}, false // as if it were not there
	}
	out, ds := constraintFromValue(v, a.Name, a.Expr.Range())
	r.diags = append(r.diags, ds...)
	return out, !ds.HasErrors()
}

// constraintFromValue checks that v is a version constraint.
func constraintFromValue(v cty.Value, what string, at hcl.Range) (VersionConstraint, hcl.Diagnostics) {
	out := VersionConstraint{Range: at}
	bad := func(detail string, args ...any) (VersionConstraint, hcl.Diagnostics) {
		return out, hcl.Diagnostics{problem(&at, "Invalid version constraint", detail, args...)}
	}
	s, err := convert.Convert(v, cty.String)
	switch {
	case err != nil:
		return bad("A string is required for %s.", what)
	case !s.IsWhollyKnown():
		return bad("%s must be a literal string.", what)
	}
	out.Text = s.AsString()
	if _, err := version.NewConstraint(out.Text); err != nil {
		return bad("This string is no version constraint: write something like \"~> 1.2\" or \">= 1.0, < 3.0\".")
	}
	return out, nil
}

// versionMatches reports whether a version satisfies all constraints.
func versionMatches(v string, cs []VersionConstraint) (bool, error) {
	parsed, err := version.NewVersion(v)
	if err != nil {
		return false, err
	}
	for _, c := range cs {
		constraint, err := version.NewConstraint(c.Text)
		if err != nil {
			return false, err
		}
		if !constraint.Check(parsed) {
			return false, nil
		}
	}
	return true, nil
}

// requiredVersion checks one required_version argument.
func (r *reader) requiredVersion(a *hcl.Attribute) {
	c, ok := r.versionConstraint(a)
	if !ok {
		return
	}
	r.c.RequiredVersions = append(r.c.RequiredVersions, c)
	constraints, err := version.NewConstraint(c.Text)
	if err != nil {
		return
	}
	for _, one := range constraints {
		// The stock tool refuses constraints on pre-releases that it could only ever
		// meet by accident.
		if one.Prerelease() {
			r.errorf(&c.Range, "Invalid required_version constraint",
				"%q speaks of a pre-release, which no constraint can ask for. Name a final version instead.", strings.TrimSpace(one.String()))
			return
		}
	}
	if match, err := versionMatches(LanguageVersion, []VersionConstraint{c}); err == nil && !match {
		// Before all others, which may come from what newer versions understand.
		r.diags = slices.Insert(r.diags, 0, diags.MarkLate(problem(&c.Range, OtherVersion,
			"This configuration requires version %s of the Terraform language; Lockstep speaks version %s. Change the constraint, or use a release of Lockstep that speaks a version which it allows.",
			c.Text, LanguageVersion)))
	}
}

// OtherVersion is the summary of the diagnostic about a configuration that is for other versions of
// the language.
const OtherVersion = "Unsupported Terraform Core version"
