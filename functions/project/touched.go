package project

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Touched returns the projects to plan after a change of files. A file touches a project with
// patterns if one of them matches; a project without patterns if it is one of its variable files,
// or is in or below a module that it calls; and the innermost project whose directory contains it.
func Touched(all []Project, files []string) []Project {
	touched := make([]bool, len(all))
	for _, f := range files {
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
	return slices.Contains(p.VarFiles, file) || slices.ContainsFunc(p.Modules, func(m string) bool { return within(file, m) })
}

// matches reports whether a pattern of the project matches a file.
func (p Project) matches(file string) bool {
	return slices.ContainsFunc(p.WhenChanged, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, file)
	})
}

func within(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
