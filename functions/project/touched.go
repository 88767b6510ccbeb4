package project

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/functions/project/links"
)

// Touched returns the projects to plan after a change of files. A file touches a project with
// patterns if one of them matches; a project without patterns if it is one of the files that its
// block names, or is in or below a module that it calls; and the innermost project whose directory contains it.
//
// lockstep.hcl, or atlantis.yaml, touches the projects whose settings are not those that base, from the
// base commit, has for them: so the first file in place of the second touches none, if it has the same
// projects.
func Touched(all []Project, files []string, base *Settings) []Project {
	touched := make([]bool, len(all))
	for _, f := range files {
		if slices.Contains(SettingsFiles, f) {
			for i, p := range all {
				touched[i] = touched[i] || base.changed(p)
			}
		}
		inner := innermost(all, f)
		for i, p := range all {
			touched[i] = touched[i] || p.wants(f) || p.WhenChanged == nil && p.Dir == inner
		}
	}
	var out []Project
	for i, p := range all {
		if touched[i] {
			out = append(out, p)
		}
	}
	return out
}

// changed reports whether a project's own settings are not those that s, from the base commit, has
// for it: its block, the variables of its environment, or the defaults have changed. So a change of
// lockstep.hcl alone is planned where it matters.
func (s *Settings) changed(p Project) bool {
	was, ok := s.described(p)
	if !ok {
		return true
	}
	if s != nil {
		was = s.filed(was, func(name string) bool { return slices.Contains(p.VarFiles, name) })
	}
	return !bytes.Equal(was.settings(), p.settings())
}

// described returns what the settings say of a project's directory.
func (s *Settings) described(p Project) (Project, bool) {
	if s == nil {
		s, _ = Parse(FileName, nil)
	}
	for _, x := range s.Projects {
		if x.Name == p.Name {
			return s.completed(x), true
		}
	}
	for _, w := range s.wildcards {
		if w.holds(p.Dir) && w.of(p.Dir) == p.Name {
			x := w.Project
			x.Name, x.Dir = p.Name, p.Dir
			return s.completed(x), true
		}
	}
	x := s.defaults
	x.Name, x.Dir = p.Dir, p.Dir
	return s.completed(x), s.onlyDirectories() || s.discover != nil && *s.discover
}

// settings are those of a project's block that its plan depends on, as text.
func (p Project) settings() []byte {
	x := Project{
		Name: p.Name, Dir: p.Dir, Workspace: p.Workspace, WhenChanged: p.WhenChanged, VarFiles: p.VarFiles,
		Environment: p.Environment, Variables: p.Variables, Inputs: links.Plain(p.Inputs), BackendConfig: p.BackendConfig, BackendFiles: p.BackendFiles,
	}
	if len(p.BackendFiles) > 0 {
		x.BackendConfig = nil // it comes from these files, whose own changes count
	}
	data, err := json.Marshal(x)
	if err != nil {
		panic(err) // it was read from a text
	}
	return data
}

// innermost returns the deepest project directory that contains a file, or "".
func innermost(all []Project, file string) string {
	inner := ""
	for _, p := range all {
		if within(file, p.Dir) && (inner == "" || inner == "." || len(p.Dir) > len(inner)) {
			inner = p.Dir
		}
	}
	return inner
}

// wants reports whether a change of a file touches the project, other than by its directory.
func (p Project) wants(file string) bool {
	if p.WhenChanged != nil {
		return p.matches(file)
	}
	return slices.Contains(p.VarFiles, file) || slices.Contains(p.BackendFiles, file) || slices.ContainsFunc(p.Modules, func(m string) bool { return within(file, m) })
}

// matches reports whether a pattern of the project matches a file. One with a ! before it takes files
// out again, and later ones win.
func (p Project) matches(file string) bool {
	in := false
	for _, pattern := range p.WhenChanged {
		pattern, taken := strings.CutPrefix(pattern, "!")
		if in == taken && doublestar.MatchUnvalidated(pattern, file) {
			in = !taken
		}
	}
	return in
}

func within(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
