package decoding

import (
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// requiredVersion reads one required_version argument. If it allows none of the language versions that Lockstep
// supports, requiredVersion adds an error.
func (d *Decoder) requiredVersion(a *hcl.Attribute) {
	c, ok := d.versionConstraint(a)
	if !ok {
		return
	}
	d.content.RequiredVersions = append(d.content.RequiredVersions, c)
	constraints, err := version.NewConstraint(c.Text)
	if err != nil {
		return
	}
	for _, one := range constraints {
		// Terraform refuses constraints on pre-releases, which could only be met by accident.
		if one.Prerelease() {
			d.errorf(&c.Range, "Invalid required_version constraint",
				"%q names a pre-release, which no constraint can require. Name a final version instead.", strings.TrimSpace(one.String()))
			return
		}
	}
	if !config.Speaks(d.language, constraints) {
		// This diagnostic comes before all others, since a newer version of the language may not report
		// those.
		if d.language != language.Newest {
			d.diags = slices.Insert(d.diags, 0, diags.MarkLate(diags.HCLError(&a.Range, OtherVersion,
				"This configuration requires version %s of the Terraform language. The language is set to \"%s\", which means version %s. Allow this version, or remove the setting: `language` in lockstep.hcl, or the environment variable %s.",
				c.Text, d.language, d.language.Release(), language.Variable)))
			return
		}
		d.diags = slices.Insert(d.diags, 0, diags.MarkLate(diags.HCLError(&a.Range, OtherVersion,
			"This configuration requires version %s of the Terraform language. Lockstep speaks the language of versions %s. Allow one of these versions, for example with \">= 1.5\".",
			c.Text, config.Spoken(language.Newest))))
	}
}

// OtherVersion is the summary of the diagnostic about a configuration for other versions of the language.
const OtherVersion = "Unsupported Terraform Core version"
