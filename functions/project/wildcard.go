package project

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A wildcard is a project block for many directories. Each * in its dir matches a part of a name in the path.
// The * in its name at the same position is replaced by that part.
type wildcard struct {
	Project // Name and Dir contain *
	at      hcl.Range
	name    *regexp.Regexp
	dir     *regexp.Regexp
}

func newWildcard(p Project, at hcl.Range) wildcard {
	return wildcard{p, at, starred(p.Name), starred(p.Dir)}
}

func (w wildcard) names(name string) bool { return w.name.MatchString(name) }
func (w wildcard) holds(dir string) bool  { return w.dir.MatchString(dir) }

// starred returns the regular expression for a text in which each * matches one or more characters of a path's
// element.
func starred(s string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, "([^/]+)") + "$")
}

// wildcard adds a project block for many directories, unless the block has errors. The diagnostics of the
// block begin at the index before.
func (p *parser) wildcard(x Project, at hcl.Range, before int) {
	doubled := slices.ContainsFunc(strings.Split(x.Dir, "/"), func(s string) bool { return strings.Count(s, "*") > 1 })
	switch {
	case x.Dir == "":
	case doubled:
		p.errorf(at, "Invalid pattern of directories", "An element of the path %q has several *. Write one * for a part of each name: \"services/*/live\".", x.Dir)
	case strings.Count(x.Name, "*") != strings.Count(x.Dir, "*"):
		p.errorf(at, "Invalid pattern of projects", "The name %q and the directory %q must have the same number of *: each in the name stands for the text of the one in the directory, as in project \"svc-*\" { dir = \"services/*\" }.", x.Name, x.Dir)
	case len(p.settings.wildcards) == maxPatterns:
		p.errorf(at, "Too many patterns", "At most %d project blocks may have a * in their name. Merge some of them, or name the directories.", maxPatterns)
	}
	if old, ok := p.settings.ranges[x.Name]; ok {
		p.errorf(at, "Two projects with one name", "There is another project %q at %s: give one of them another name.", x.Name, old)
	}
	p.settings.ranges[x.Name] = at
	for _, pattern := range x.WhenChanged {
		if plain := strings.TrimPrefix(pattern, "!"); plain == x.Dir || strings.HasPrefix(plain, x.Dir+"/") {
			p.warnf(at, "Pattern of all projects", "The pattern %q in when_changed is for the directories of all projects of this block, so a change of one plans all of them. Write %q for the directory of each project itself.", pattern, strings.Replace(pattern, x.Dir, ownDir, 1))
		}
	}
	if !p.diags[before:].HasErrors() {
		p.settings.wildcards = append(p.settings.wildcards, newWildcard(x, at))
	}
}

// excluded reports whether a directory, or one above it, matches a pattern of the argument exclude.
func (s *Settings) excluded(dir string) bool {
	for ; ; dir = path.Dir(dir) {
		if slices.ContainsFunc(s.exclude, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, dir) }) {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// place returns the directory and the workspace. No two projects have both in common.
func (p Project) place() [2]string { return [2]string{p.Dir, p.Workspace} }

// expanded returns the projects of a checkout. These are the projects with a separate block, and those made by
// blocks for many directories. at are the ranges of the projects, by name.
func (s *Settings) expanded(files fs.FS) (all []Project, at map[string]hcl.Range, ds diags.Diagnostics) {
	e := s.expansion(files)
	for _, p := range s.Projects {
		e.add(p, s.Range(p.Name))
		e.fixed[p.place()] = true
	}
	for _, w := range s.wildcards {
		e.expand(w)
	}
	return e.all, e.at, e.diags
}

// expansion returns a new expansion.
func (s *Settings) expansion(files fs.FS) *expansion {
	return &expansion{files: files, settings: s, at: map[string]hcl.Range{}, places: map[[2]string]string{}, fixed: map[[2]string]bool{}}
}

// An expansion collects the projects that blocks for many directories make.
type expansion struct {
	files    fs.FS
	settings *Settings
	all      []Project
	at       map[string]hcl.Range // by name
	places   map[[2]string]string // names by directory and workspace
	fixed    map[[2]string]bool   // the places of blocks for one directory
	full     bool                 // the maximum is reached, and reported
	diags    diags.Diagnostics
}

func (e *expansion) add(p Project, at hcl.Range) {
	e.all = append(e.all, p)
	e.at[p.Name] = at
	e.places[p.place()] = p.Name
}

func (e *expansion) errorf(at hcl.Range, summary, detail string, args ...any) {
	e.diags = append(e.diags, diags.Errorf(&at, summary, detail, args...)...)
}

// expand adds the projects of a block for many directories.
func (e *expansion) expand(w wildcard) {
	dirs := e.dirs(w.Dir)
	for _, dir := range dirs {
		p := w.Project
		p.Dir, p.Name = dir, w.nameOf(dir)
		if e.fixed[p.place()] {
			continue // it has a block of its own
		}
		if old, ok := e.places[p.place()]; ok {
			e.errorf(w.at, "Two projects with one state", "The project %q has the directory %s and the workspace %q, too: they would share their state. Change one of the patterns, or give its block another workspace.", old, dir, p.Workspace)
			continue
		}
		old, taken := e.at[p.Name]
		switch {
		case !validName(p.Name):
			e.errorf(w.at, "A directory that no command can name", "The directory %q would be the project %q. Give it a project block of its own, or exclude it. %s", dir, p.Name, nameRule)
		case taken:
			e.errorf(w.at, "Two projects with one name", "The directory %s would be the project %q, and there is one at %s. Give it a project block of its own with another name.", dir, p.Name, old)
		case len(e.all) == MaxProjects:
			if !e.full {
				e.errorf(w.at, "Too many projects", "With this block there are more than %d projects, and at most so many are allowed. Exclude directories.", MaxProjects)
			}
			e.full = true
			return
		default:
			e.add(p, w.at)
		}
	}
	if len(dirs) == 0 {
		e.diags = append(e.diags, diags.Warningf(&w.at, "Pattern without projects", "No directory with configuration files is at %s, or all are excluded.", w.Dir)...)
	}
}

// nameOf returns the name of the project that the block makes for a directory.
func (w wildcard) nameOf(dir string) string {
	name := w.Name
	for _, text := range w.dir.FindStringSubmatch(dir)[1:] {
		name = strings.Replace(name, "*", text, 1)
	}
	return name
}

// dirOf returns the directory for which the block makes the project with this name.
func (w wildcard) dirOf(name string) string {
	dir := w.Dir
	for _, text := range w.name.FindStringSubmatch(name)[1:] {
		dir = strings.Replace(dir, "*", text, 1)
	}
	return dir
}

// dirs returns the directories with configuration files that a pattern matches, sorted. Excluded directories
// are left out. A * does not match a dot at the beginning of a name.
func (e *expansion) dirs(pattern string) []string {
	dirs := []string{"."}
	for _, element := range strings.Split(pattern, "/") {
		if !strings.Contains(element, "*") {
			for i := range dirs {
				dirs[i] = path.Join(dirs[i], element)
			}
			continue
		}
		var below []string
		match := starred(element)
		for _, dir := range dirs {
			entries, _ := fs.ReadDir(e.files, dir) // a directory that does not exist has no entries
			for _, d := range entries {
				hidden := strings.HasPrefix(d.Name(), ".") && element[0] != '.'
				if name := path.Join(dir, d.Name()); !hidden && match.MatchString(d.Name()) && isDir(e.files, name, d) {
					below = append(below, name)
				}
			}
		}
		dirs = below
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return e.settings.excluded(dir) || !e.settings.configured(e.files, dir) })
}
