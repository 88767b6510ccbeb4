package project

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// foreignSettings parses atlantis.yaml into the settings that [Parse] returns for lockstep.hcl: projects,
// requirements and automerge. It grants nothing else. The notices name the parts of the file that have no
// effect in Lockstep.
func foreignSettings(src []byte) (*Settings, []atlantis.Notice, diags.Diagnostics) {
	s, doc, ds := foreignWith(atlantis.Options{}, src)
	return s, doc.Notices, ds
}

// foreignWith is like foreignSettings, but has options for reading atlantis.yaml. It also returns the parsed
// document.
func foreignWith(o atlantis.Options, src []byte) (*Settings, atlantis.Document, diags.Diagnostics) {
	doc, ds := o.Parse(atlantis.FileName, src)
	p := &parser{settings: &Settings{
		ranges: map[string]hcl.Range{}, depends: map[[2]string]dependence{}, Files: map[string]*hcl.File{atlantis.FileName: {Bytes: src}}, environments: map[string]environments.Environment{},
		defaults: Project{Workspace: DefaultWorkspace, Apply: OnComment}, workspaceFiles: true,
	}, places: map[[2]string]string{}, diags: ds}
	p.settings.Require, p.settings.Unreadable = doc.Require, doc.Unreadable
	if doc.Automerge {
		p.settings.Automerge = &Automerge{Method: DefaultMethod, DeleteBranch: doc.DeleteBranch}
	}
	for _, x := range doc.Exclude {
		p.settings.exclude = append(p.settings.exclude, p.pattern(quoted{x.Value, x.At}))
	}
	if doc.Discover != (len(doc.Projects) == 0) {
		p.settings.discover = &doc.Discover
	}
	for _, x := range doc.Projects {
		p.foreign(x)
	}
	return p.settings, doc, diags.FromHCL(p.diags)
}

// Imported returns the lockstep.hcl for an atlantis.yaml of a repository with these files. The notices are
// comments at the beginning of the result. If there are errors, it returns nil.
func Imported(files fs.FS, src []byte, o atlantis.Options) ([]byte, []atlantis.Notice, diags.Diagnostics) {
	s, doc, ds := foreignWith(o, src)
	if ds.HasErrors() {
		return nil, nil, ds
	}
	comments := []string{"Written from " + atlantis.FileName + "."}
	for _, n := range doc.Notices {
		how := "not carried over"
		if n.Carried {
			how = "carried over in another form"
		}
		comments = append(comments, "", n.Where()+": "+how+".", "  "+n.Instead)
	}
	s.spell(regular(files))
	s.fold(files)
	return s.print(comments, doc.Steps), doc.Notices, ds
}

// spell writes into the settings what atlantis.yaml only implies. Projects of lower groups become names in
// depends_on. Value files for workspaces become var_files. exists reports whether a file exists.
func (s *Settings) spell(exists func(name string) bool) {
	all, groups := s.blocks(), map[string]bool{}
	for _, p := range all {
		groups[order.Group(p.Group)] = true
	}
	edges := EdgesOf(all)
	spelled := func(p Project) Project {
		p = s.filed(p, exists)
		p.DependsOn, p.Group = nil, 0
		for _, name := range edges[p.Name] {
			if groups[name] {
				p.DependsOn = append(p.DependsOn, edges[name]...)
			} else {
				p.DependsOn = append(p.DependsOn, name)
			}
		}
		slices.Sort(p.DependsOn)
		p.DependsOn = slices.Compact(p.DependsOn)
		return p
	}
	for i, p := range s.Projects {
		s.Projects[i] = spelled(p)
	}
	for i, w := range s.wildcards {
		s.wildcards[i].Project = spelled(w.Project)
	}
	s.workspaceFiles = false
}

// regular returns a function that reports whether there is a regular file with a given name.
func regular(files fs.FS) func(name string) bool {
	return func(name string) bool {
		d, err := fs.Stat(files, name)
		return err == nil && d.Mode().IsRegular()
	}
}

// foreign adds a project of atlantis.yaml, with the checks of a project block.
func (p *parser) foreign(from atlantis.Project) {
	before := len(p.diags)
	if from.Broken { // The error is reported. The name stays known, because other projects may depend on the project.
		p.settings.ranges[from.Name.Value] = from.At
		return
	}
	x := p.settings.defaults
	x.At, x.Name = line(from.At), from.Name.Value
	if !validName(strings.ReplaceAll(x.Name, "*", "x")) {
		p.errorf(from.Name.At, "Invalid name of a project", "%s", nameRule)
	}
	x.Dir = p.path(quoted{from.Dir.Value, from.Dir.At}, "directory")
	if from.Workspace.Value != "" {
		x.Workspace = p.workspace(quoted{from.Workspace.Value, from.Workspace.At})
	}
	if from.WhenChanged != nil {
		x.WhenChanged = p.lines(from.WhenChanged, p.pattern)
		if n := len(x.WhenChanged); n > maxPatterns {
			p.errorf(from.At, "Too many patterns", "The project %q has %d patterns, and at most %d are allowed. Write fewer: ** matches any directories.", x.Name, n, maxPatterns)
		}
	}
	files := func(s quoted) string { return p.path(s, "file") }
	x.VarFiles, x.BackendFiles = p.lines(from.VarFiles, files), p.lines(from.BackendFiles, files)
	x.Variables, x.BackendConfig = from.Variables, from.BackendConfig
	x.Group, x.Language = from.Group, from.Language
	for _, t := range from.DependsOn {
		x.DependsOn = append(x.DependsOn, t.Value)
		p.settings.depends[[2]string{x.At, t.Value}] = dependence{at: t.At}
	}
	if strings.Contains(x.Dir, "*") {
		p.wildcard(x, from.At, before)
		return
	}
	p.unique(x, from.At)
	if len(p.diags) == before {
		p.settings.Projects = append(p.settings.Projects, x)
	}
}

// lines converts each text with the function read. It returns nil if there are no texts.
func (p *parser) lines(all []atlantis.Text, read func(quoted) string) []string {
	if all == nil {
		return nil
	}
	out := []string{}
	for _, x := range all {
		out = append(out, read(quoted{x.Value, x.At}))
	}
	return out
}

// filed adds the value file for a project's workspace, if the settings come from atlantis.yaml and the file
// exists. It comes after all other value files.
//
// Source: https://www.runatlantis.io/docs/using-atlantis, its automatic files of values.
func (s *Settings) filed(p Project, exists func(name string) bool) Project {
	if name := path.Join(p.Dir, "env", p.Workspace+".tfvars"); s.workspaceFiles && !slices.Contains(p.VarFiles, name) && exists(name) {
		p.VarFiles = append(slices.Clone(p.VarFiles), name)
	}
	return p
}

// chosen is the file with the settings of a repository: lockstep.hcl, or otherwise atlantis.yaml.
type chosen struct {
	name    string // "" if neither exists
	src     []byte
	ignored bool // atlantis.yaml exists, too, and is ignored
}

// choose finds the first of [SettingsFiles] in a checkout, and reads it.
func choose(files fs.FS) (c chosen, err error) {
	_, err = fs.Stat(files, atlantis.FileName)
	foreign := err == nil
	for _, name := range SettingsFiles {
		src, err := fs.ReadFile(files, name)
		switch {
		case err == nil:
			return chosen{name, src, foreign && name == FileName}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return chosen{name: name}, err
		}
	}
	return chosen{}, nil
}

// SettingsFiles are the names of the files in the repository's root that may have its settings. The first
// existing one counts.
var SettingsFiles = []string{FileName, atlantis.FileName}

// Read parses one of [SettingsFiles]. The name decides the format.
func Read(name string, src []byte) (*Settings, diags.Diagnostics) {
	if name == atlantis.FileName {
		s, _, ds := foreignSettings(src)
		return s, ds
	}
	return Parse(name, src)
}
