package project

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Touched returns those of the projects that a change of files matters to. Where a
// project has no patterns, a file matters to it that is one of its variable files or
// in a module that it calls or below; and of projects whose directories contain the
// file, to the innermost.
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

// innermost returns the deepest directory of a project that a file is in, or "".
func innermost(all []Project, file string) string {
	inner := ""
	for _, p := range all {
		if within(file, p.Dir) && (inner == "" || inner == "." || len(p.Dir) > len(inner)) {
			inner = p.Dir
		}
	}
	return inner
}

// wants reports whether a project is to be planned for a change of a file, but for
// its own directory.
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
