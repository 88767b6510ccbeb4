package config

import (
	"fmt"
	"slices"
	"sync"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A VersionConstraint is the text of a required_version or version argument.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// LanguageVersion is the newest version of the Terraform language that Lockstep supports completely.
const LanguageVersion = states.LanguageVersion

// OpenTofuVersion is the version of OpenTofu whose additions to the language Lockstep supports.
const OpenTofuVersion = "1.12.6"

// spoken are all final versions from 1.11.0 to [LanguageVersion]. A configuration that is valid in one of
// these versions means the same in the newest version: between them, the language has only become more
// permissive.
var spoken = sync.OnceValue(func() (all []*version.Version) {
	newest := version.Must(version.NewVersion(LanguageVersion))
	for minor := 11; minor <= newest.Segments()[1]; minor++ {
		for patch := range 30 {
			if v := version.Must(version.NewVersion(fmt.Sprintf("1.%d.%d", minor, patch))); !v.GreaterThan(newest) {
				all = append(all, v)
			}
		}
	}
	return all
})

// Speaks reports whether a required_version allows the version v of the language. [language.Newest] stands for all
// versions that Lockstep supports: one of them has to be allowed.
func Speaks(v language.Version, c version.Constraints) bool {
	if v == language.Newest {
		return slices.ContainsFunc(spoken(), c.Check)
	}
	return c.Check(version.Must(version.NewVersion(v.Release())))
}

// Spoken describes the versions of Terraform that a required_version can allow, for messages.
func Spoken(v language.Version) string {
	if v == language.Newest {
		return "1.11 to " + LanguageVersion
	}
	return v.Release()
}

// NewVersionConstraint returns v as a version constraint. The parameter what is the name of the argument, for
// messages.
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
