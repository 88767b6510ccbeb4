package atlantis

import (
	"path"
	"reflect"
	"slices"
	"strings"
)

// fewest is the number of projects from which on one block with a pattern stands for their blocks.
const fewest = 3

// OwnDir stands for the directory of a project in the patterns of when_changed.
const OwnDir = "{dir}"

// folded returns the document with one project in the place of several that differ in nothing but one
// element of their directories, and that element in their names: "services/*" for "services/a", "services/b"
// and so on. It does so only if the pattern is for these directories and no other one with a configuration.
// configured are all directories that have one, and there reports whether a file is in the repository.
func (d Document) folded(configured []string, there func(name string) bool) Document {
	var out []Project
	names := map[string]string{} // the pattern for a name
	done := map[string]bool{}
	for _, p := range d.Projects {
		if done[p.Name.Value] {
			continue
		}
		pattern, members := d.pattern(p, configured, there)
		if members == nil {
			out = append(out, p)
			continue
		}
		for _, name := range members {
			names[name], done[name] = pattern.Name.Value, true
		}
		out = append(out, pattern)
	}
	d.Projects = out
	d.Require = slices.Clone(d.Require)
	for i, r := range d.Require {
		d.Require[i].Projects = inPatterns(r.Projects, names)
	}
	return d
}

// pattern returns the project that stands for p and others, and their names; nil if it stands for p alone.
func (d Document) pattern(p Project, configured []string, there func(name string) bool) (Project, []string) {
	elements := strings.Split(p.Dir.Value, "/")
	for i, element := range slices.Backward(elements) {
		// The element must be one place of the name, so that the pattern gives each directory its name.
		if strings.Contains(p.Dir.Value, "*") || element == "." || strings.Count(p.Name.Value, element) != 1 {
			continue
		}
		dir := path.Join(path.Join(elements[:i]...), "*", path.Join(elements[i+1:]...))
		of := p
		of.Dir.Value, of.Name.Value = dir, strings.Replace(p.Name.Value, element, "*", 1)
		var names, dirs []string
		for _, q := range d.Projects {
			if at, ok := starOf(dir, q.Dir.Value); ok && slices.Contains(configured, q.Dir.Value) && alike(p, q, of, at, there) {
				names, dirs = append(names, q.Name.Value), append(dirs, q.Dir.Value)
			}
		}
		other := func(c string) bool {
			_, ok := starOf(dir, c)
			return ok && !slices.Contains(dirs, c)
		}
		if len(names) >= fewest && !slices.ContainsFunc(configured, other) {
			of.WhenChanged = ofDirectory(p.WhenChanged, p.Dir.Value)
			return of, names
		}
	}
	return Project{}, nil
}

// starOf returns the text of a directory in the place of the pattern's *.
func starOf(pattern, dir string) (string, bool) {
	before, after, _ := strings.Cut(pattern, "*")
	rest, begins := strings.CutPrefix(dir, before)
	text, ends := strings.CutSuffix(rest, after)
	return text, begins && ends && text != "" && !strings.Contains(text, "/")
}

// alike reports whether a project q is the one that a pattern makes of a directory with the text at, where it
// makes p of its own.
func alike(p, q, pattern Project, at string, there func(name string) bool) bool {
	workspace := q.Workspace.Value
	if workspace == "" {
		workspace = "default"
	}
	if q.Name.Value != strings.Replace(pattern.Name.Value, "*", at, 1) || there(WorkspaceFile(q.Dir.Value, workspace)) {
		return false
	}
	return reflect.DeepEqual(unplaced(p), unplaced(q))
}

// unplaced is a project without its places, its name and its directory.
func unplaced(p Project) any {
	return []any{p.Workspace.Value, values1(ofDirectory(p.WhenChanged, p.Dir.Value)), p.WhenChanged == nil, values1(p.VarFiles), p.Variables, values1(p.BackendFiles), p.BackendConfig, values1(p.DependsOn), p.Group}
}

// ofDirectory writes the patterns of a project's own directory as those of whichever directory it is.
func ofDirectory(patterns []Text, dir string) []Text {
	if patterns == nil {
		return nil
	}
	out := make([]Text, len(patterns))
	for i, t := range patterns {
		not, text := "", t.Value
		if rest, is := strings.CutPrefix(text, "!"); is {
			not, text = "!", rest
		}
		if rest, is := strings.CutPrefix(text, dir+"/"); is {
			text = OwnDir + "/" + rest
		}
		out[i] = Text{not + text, t.At}
	}
	return out
}

// inPatterns puts a pattern in the place of the names that it stands for, if all of them are there.
func inPatterns(all []string, names map[string]string) []string {
	size, here := map[string]int{}, map[string]int{}
	for _, pattern := range names {
		size[pattern]++
	}
	for _, name := range all {
		here[names[name]]++
	}
	var out []string
	for _, name := range all {
		pattern, is := names[name]
		switch {
		case !is || here[pattern] < size[pattern]:
			out = append(out, name)
		case !slices.Contains(out, pattern):
			out = append(out, pattern)
		}
	}
	return out
}
