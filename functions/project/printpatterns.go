package project

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// fewest is the smallest number of project blocks that are replaced by one block with a pattern.
const fewest = 3

// fold replaces several projects by one block with a pattern. The projects must differ only in one element of
// their directories, and in the same element of their names. For example, "services/*" replaces "services/a"
// and "services/b". The block must make exactly these projects from the repository's files. Otherwise fold
// leaves the projects unchanged.
func (s *Settings) fold(files fs.FS) {
	var patterns []wildcard
	members := map[string][]Project{}
	for _, p := range s.Projects {
		for _, w := range s.patternsFor(p) {
			key := string(w.block())
			if members[key] == nil {
				patterns = append(patterns, w)
			}
			members[key] = append(members[key], p)
		}
	}
	folded := map[string]string{} // the pattern that replaces a name
	for _, w := range patterns {
		all := members[string(w.block())]
		taken := slices.ContainsFunc(all, func(p Project) bool { return folded[p.Name] != "" })
		if _, named := s.ranges[w.Name]; taken || named || len(all) < fewest || len(s.wildcards) == maxPatterns || !s.makes(files, w, all) {
			continue
		}
		s.wildcards = append(s.wildcards, w)
		s.ranges[w.Name] = w.at
		for _, p := range all {
			folded[p.Name] = w.Name
		}
	}
	var left []Project
	for _, p := range s.Projects {
		if folded[p.Name] == "" {
			left = append(left, p)
		}
	}
	s.Projects = left
	for i, r := range s.Require {
		s.Require[i].Projects = inPatterns(r.Projects, folded)
	}
}

// patternsFor returns the blocks for many directories that could replace the project p together with others.
// It tries each element of the directory, the last one first, and each place of that element in the name.
func (s *Settings) patternsFor(p Project) (out []wildcard) {
	elements := strings.Split(p.Dir, "/")
	for i, element := range slices.Backward(elements) {
		of := p
		of.Dir = path.Join(path.Join(elements[:i]...), "*", path.Join(elements[i+1:]...))
		of.WhenChanged = slices.Clone(p.WhenChanged)
		for i, pattern := range of.WhenChanged {
			if text, taken := strings.CutPrefix(pattern, "!"+p.Dir+"/"); taken {
				of.WhenChanged[i] = "!" + ownDir + "/" + text
			} else if text, own := strings.CutPrefix(pattern, p.Dir+"/"); own {
				of.WhenChanged[i] = ownDir + "/" + text
			}
		}
		for at := strings.LastIndex(p.Name, element); at >= 0 && element != "."; at = strings.LastIndex(p.Name[:at], element) {
			of.Name = p.Name[:at] + "*" + p.Name[at+len(element):]
			out = append(out, newWildcard(of, s.Range(p.Name)))
		}
	}
	return out
}

// makes reports whether a block for many directories makes exactly the given projects, and no other such block
// makes one of them.
func (s *Settings) makes(files fs.FS, w wildcard, all []Project) bool {
	e := s.expansion(files)
	e.expand(w)
	all = slices.SortedFunc(slices.Values(all), byDir)
	slices.SortFunc(e.all, byDir)
	return slices.EqualFunc(all, e.all, func(a, b Project) bool {
		other := func(o wildcard) bool { return o.Workspace == a.Workspace && o.holds(a.Dir) }
		return bytes.Equal(s.completed(a).block(), s.completed(b).block()) && !slices.ContainsFunc(s.wildcards, other)
	})
}

func byDir(a, b Project) int { return strings.Compare(a.Dir, b.Dir) }

// inPatterns replaces names by their pattern, if all contains all names of the pattern. patterns has the
// pattern of each name.
func inPatterns(all []string, patterns map[string]string) (out []string) {
	for _, name := range all {
		pattern, is := patterns[name]
		for member, of := range patterns {
			is = is && (of != pattern || slices.Contains(all, member))
		}
		if !is {
			pattern = name
		}
		if !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	return out
}
