package gatefacts

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// maxPatches is the maximum size of all patches of a pull request together, in bytes. If the patches are
// larger, Lockstep does not look for the causes of planned changes.
const maxPatches = 1 << 20

// EditedFiles returns the changed files of the pull request with their patches. It returns nil if some of them
// are not known: GitHub lists too few, leaves out the patch of a configuration file, or does not answer. The plan is the same without
// them; only its causes are not shown.
//
// A plan on an issue has no causes, because an issue changes no files.
func EditedFiles(ctx context.Context, e *Reader) []github.FileChange {
	if e.Pull.Issue != "" {
		return nil
	}
	files, all, err := e.Hub.ChangedFiles(ctx, e.Message.Pull.Number)
	if err != nil || !all {
		return nil
	}
	size := 0
	out := []github.FileChange{}
	for _, f := range files {
		if f.Patch == "" && f.Was == "" && Configures(f.Path) {
			return nil
		}
		size += len(f.Patch)
		out = append(out, f)
	}
	if size > maxPatches {
		return nil
	}
	return out
}

// configurations are the endings of the names of configuration files, files with values of variables, and
// settings.
var configurations = []string{".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json", ".hcl"}

// Configures reports whether a file can belong to a configuration or contain settings, in any directory: the
// head may have a project there that the base branch does not have.
func Configures(file string) bool {
	return slices.Contains(project.SettingsFiles, path.Base(file)) || slices.ContainsFunc(configurations, func(end string) bool { return strings.HasSuffix(file, end) })
}
