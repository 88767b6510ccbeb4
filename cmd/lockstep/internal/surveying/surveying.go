// Package surveying has the commands about a whole repository, as pull requests see it: projects,
// config check. They read files only, and reach no backend and no provider.
//
// It does not know what a project's plan would be, and pull requests. Start at [Projects].
package surveying

import (
	"io/fs"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A survey is the content of a repository.
type survey struct {
	project.Repository
	// deployments serve the projects, by their names: see project.Deployments.
	deployments map[string]string
	conftests   []project.Conftest
	diags       diags.Diagnostics
	// versions is the error about the projects that require another version of the language.
	versions diags.Diagnostics
}

// look surveys the directory in which the command works: the repository's own.
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
	for _, d := range s.diags {
		if d.Subject == nil {
			continue
		}
		// Their paths begin at the repository's directory, and not at that of the process.
		src, err := fs.ReadFile(root.FS(), d.Subject.Filename)
		if err == nil {
			a.Files[d.Subject.Filename] = &hcl.File{Bytes: src}
		}
	}
	return s
}
