package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// variableSources returns the sources of the root variables' values. A later source overrides an earlier one:
//   - the automatically loaded files of the project's directory, and of the directories dirs below it;
//   - the files that lockstep.hcl names, and the values in lockstep.hcl;
//   - linked, the inputs that are outputs of other projects;
//   - the options of the plan.
//
// The caller adds secrets. The result also has the files that diagnostics may quote, by name. If the checkout
// does not have the project's directory, there are no sources.
func variableSources(repository fs.FS, j jobs.Job, limits budget.Limits, dirs []string, linked ...inputs.Source) ([]inputs.Source, map[string]*hcl.File, diags.Diagnostics) {
	entries, err := fs.ReadDir(repository, j.Dir)
	if err != nil {
		return nil, nil, diags.FromError("The project cannot be read", err)
	}
	r := &sourceReader{repository: repository, limits: limits, files: map[string]*hcl.File{}}
	r.auto(j.Dir, "", entries)
	for _, dir := range dirs {
		entries, _ := fs.ReadDir(repository, path.Join(j.Dir, dir)) // it need not exist
		r.auto(j.Dir, dir, entries)
	}
	for _, name := range j.VarFiles {
		r.add(inputs.FromNamedFile, name, name)
	}
	if len(j.Inputs) > 0 {
		name := j.Inputs[0].At.File
		if src, err := fs.ReadFile(repository, name); err == nil {
			r.files[name] = &hcl.File{Bytes: src}
		}
	}
	s, err := inputs.Settings("by variables in lockstep.hcl", j.Variables)
	if err != nil {
		r.ds = append(r.ds, diags.FromError("The variables in lockstep.hcl cannot be read", err)...)
	}
	r.sources = append(append(r.sources, s), linked...)
	for _, v := range j.Options.Variables {
		s, more := inputs.Option(v)
		r.ds = append(r.ds, more...)
		r.sources = append(r.sources, s)
	}
	return r.sources, r.files, r.ds
}

// A sourceReader reads files with values of variables.
type sourceReader struct {
	repository fs.FS
	limits     budget.Limits
	sources    []inputs.Source
	files      map[string]*hcl.File
	ds         diags.Diagnostics
}

// auto adds those files in the directory dir that are loaded automatically, such as terraform.tfvars. dir is
// below the project's directory. entries is its content.
func (r *sourceReader) auto(project, dir string, entries []fs.DirEntry) {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, name := range inputs.AutoFiles(names) {
		r.add(inputs.FromAutoFile, path.Join(dir, name), path.Join(project, dir, name))
	}
}

// add adds a file. name is its name for people, and at its path.
func (r *sourceReader) add(origin inputs.Origin, name, at string) {
	src, err := fs.ReadFile(r.repository, at)
	if errors.Is(err, fs.ErrNotExist) {
		r.ds = append(r.ds, diags.Errorf(nil, "Variables file is missing", "The project's var_files in lockstep.hcl name the file %s, which is not in the repository. Add it, or correct the list.", name)...)
		return
	}
	if err != nil {
		r.ds = append(r.ds, diags.FromError("Failed to read variables file", fmt.Errorf("%s: %w", name, err))...)
		return
	}
	if x := parsing.Fits(src, r.limits); x != nil {
		r.ds = append(r.ds, diags.Errorf(nil, x.Summary(), "%s", x.Of("The variables file "+name))...)
		return
	}
	s, more := inputs.File(origin, name, src)
	r.ds = append(r.ds, more...)
	r.sources = append(r.sources, s)
	if s.File != nil {
		r.files[name] = s.File
	}
}
