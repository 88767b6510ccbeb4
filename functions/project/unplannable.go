package project

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Unplannable returns a warning for each project whose state is unknown, because Lockstep cannot plan such a
// project. If the configuration of a project cannot be read, it returns the errors in the project's files, with
// their places. There are at most 30 warnings, and one more with the number of the other directories.
func Unplannable(files fs.FS, all []Project) (ds diags.Diagnostics) {
	const most = 30
	read, warnings := map[string]bool{}, 0
	for _, p := range all {
		if p.Nowhere == "" || read[p.Dir] {
			continue
		}
		read[p.Dir] = true
		if of := mistakes(files, p); len(of) > 0 {
			ds = append(ds, of...)
			continue
		}
		if warnings++; warnings > most {
			continue
		}
		ds = append(ds, diags.Warningf(nil, fmt.Sprintf("Project %q cannot be planned", p.Name),
			"The state of this project is unknown: %s. On pull requests, Lockstep keeps states in S3. Correct the backend block, or leave the directory out: exclude = [%q] in %s.", p.Nowhere, p.Dir, FileName)...)
	}
	if more := warnings - most; more > 0 {
		ds = append(ds, diags.Warningf(nil, "Further projects cannot be planned", "The states of the projects in %d further directories are unknown, too. Correct those above, and check again.", more)...)
	}
	return ds
}

// mistakes returns the errors in the configuration of a project that cannot be read; nil for other projects.
func mistakes(files fs.FS, p Project) (out diags.Diagnostics) {
	if p.Nowhere != unreadable {
		return nil
	}
	_, ds := loading.Load(loading.Input{Tree: source.FS(files, p.Dir), Budget: budget.Pipeline(memory)})
	for _, d := range ds {
		if d.Severity != diags.Error {
			continue
		}
		if d.Subject != nil {
			at := *d.Subject
			at.Filename = path.Join(p.Dir, at.Filename)
			d.Subject = &at
		}
		out = append(out, d)
	}
	return out
}
