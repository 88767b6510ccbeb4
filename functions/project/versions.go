package project

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// OtherVersions returns one error that names each required_version that Lockstep's version of the language does
// not meet. For each of them the error has the file, the line, and the projects that cannot be planned because
// of it. OtherVersions returns nil if Lockstep's version meets all of them.
func OtherVersions(files fs.FS, all []Project) diags.Diagnostics {
	var places []string // in the order of the projects
	of := map[string][]string{}
	read := map[string]*config.Config{} // The files are read in any version of the language, because only required_version counts here.
	for _, p := range all {
		if read[p.Dir] == nil {
			read[p.Dir], _ = loading.Load(loading.Input{Tree: source.FS(files, p.Dir), Budget: budget.Pipeline(memory)})
		}
		for _, m := range read[p.Dir].Order {
			for _, c := range m.RequiredVersions {
				constraints, err := version.NewConstraint(c.Text)
				if err != nil || config.Speaks(p.Language, constraints) {
					continue
				}
				place := fmt.Sprintf("%s:%d requires %s", path.Join(p.Dir, c.Range.Filename), c.Range.Start.Line, c.Text)
				if p.Language != language.Newest {
					place += fmt.Sprintf(", and not %s, which language = %q stands for", p.Language.Release(), p.Language)
				}
				if of[place] == nil {
					places = append(places, place)
				}
				if !slices.Contains(of[place], p.Name) {
					of[place] = append(of[place], p.Name)
				}
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	var b strings.Builder
	for _, place := range places {
		names := of[place]
		const most = 5
		more := ""
		if n := len(names) - most; n > 0 {
			names, more = names[:most], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(&b, "\n  %s (%s%s)", place, strings.Join(names, ", "), more)
	}
	return diags.Errorf(nil, "Another version of the language is required", "Lockstep speaks the Terraform language of versions %s, and cannot plan the projects in brackets. Allow one of these versions, for example with \">= 1.5\":\n%s", config.Spoken(language.Newest), b.String())
}

// language reads the argument language.
func (p *parser) language(a *hcl.Attribute, to *language.Version) {
	if a == nil {
		return
	}
	var text string
	p.decode(a, &text, "a text")
	v, err := language.Parse(text)
	if err != nil {
		p.errorf(a.Expr.Range(), "Invalid version of the language", "%s.", err)
		return
	}
	*to = v
}
