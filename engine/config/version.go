package config

import (
	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A VersionConstraint is a required_version or a version argument as written.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// LanguageVersion is the version of the Terraform language that Lockstep speaks, and
// that required_version arguments are compared with.
const LanguageVersion = "1.11.4"

// NewVersionConstraint returns the version constraint v of the argument named, for messages,
// by the second parameter.
func NewVersionConstraint(v cty.Value, what string, at hcl.Range) (VersionConstraint, hcl.Diagnostics) {
	out := VersionConstraint{Range: at}
	bad := func(detail string, args ...any) (VersionConstraint, hcl.Diagnostics) {
		return out, hcl.Diagnostics{diags.HCLError(&at, "Invalid version constraint", detail, args...)}
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

// VersionMatches reports whether a version satisfies all constraints.
func VersionMatches(v string, cs []VersionConstraint) (bool, error) {
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
