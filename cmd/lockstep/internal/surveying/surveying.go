// Package surveying has the commands that read a whole repository, as Lockstep does for a pull request:
// projects, config check, config import, config schema. It also has the command docs. They only read files,
// and use no backend or provider.
//
// The package does not know pull requests, or what a project's plan would be. Start at [Projects].
package surveying

import (
	"io/fs"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A survey has the projects and settings of a repository, with the errors in them.
type survey struct {
	project.Repository
	// deployments has the name of the deployment that works for each project, by project: see
	// project.Deployments.
	deployments map[string]string
	conftests   []project.Conftest
	diags       diags.Diagnostics
	// versions is an error that lists the projects that require a version of the language that Lockstep does
	// not support.
	versions diags.Diagnostics
	// unplannable are the errors about projects that cannot be planned.
	unplannable diags.Diagnostics
}

// look reads the repository in the directory in which the command runs. This must be the repository's root.
func look(a *cli.App) survey {
	root, err := os.OpenRoot(a.Chdir)
	if err != nil {
		return survey{diags: diags.FromError("The directory cannot be read", err)}
	}
	defer root.Close()
	var s survey
	s.Repository, s.diags = project.Discover(root.FS())
	s.diags = append(s.diags, s.Unguarded...)
	s.deployments = project.Deployments(root.FS(), s.Projects)
	s.conftests = project.Conftests(root.FS())
	s.versions = project.OtherVersions(root.FS(), s.Projects)
	s.unplannable = project.Unplannable(root.FS(), s.Projects)
	for _, d := range slices.Concat(s.diags, s.unplannable) {
		if d.Subject == nil {
			continue
		}
		// Paths in diagnostics are relative to the repository's root, not to the working directory of the
		// process.
		src, err := fs.ReadFile(root.FS(), d.Subject.Filename)
		if err == nil {
			a.Files[d.Subject.Filename] = &hcl.File{Bytes: src}
		}
	}
	return s
}
