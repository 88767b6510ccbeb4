package commits

import (
	"maps"
	"slices"
)

// Files are the files of a commit by path, or changes to them.
type Files map[string]string

// Deleted stands for the content of a file that a change deletes.
const Deleted = "\x00deleted"

// With returns the files after changes.
func (f Files) With(changes Files) Files {
	out := maps.Clone(f)
	for name, content := range changes {
		if content == Deleted {
			delete(out, name)
		} else {
			out[name] = content
		}
	}
	return out
}

// Changed returns the names of the files that differ, sorted.
func (f Files) Changed(to Files) []string {
	var out []string
	for name, content := range to {
		if old, ok := f[name]; !ok || old != content {
			out = append(out, name)
		}
	}
	for name := range f {
		if _, ok := to[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Between returns the files that differ in head, as they are in f and in head.
func (f Files) Between(head Files) (before, after Files) {
	before, after = Files{}, Files{}
	for _, name := range f.Changed(head) {
		if content, ok := f[name]; ok {
			before[name] = content
		}
		if content, ok := head[name]; ok {
			after[name] = content
		}
	}
	return before, after
}
