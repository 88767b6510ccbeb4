package commits

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Files are the files of a commit by path, or changes to them.
type Files map[string]string

// Deleted is the content of a file that a change deletes.
const Deleted = "\x00deleted"

// link is the beginning of the content of a symbolic link; the target follows.
const link = "\x00link "

// Link returns the content of a file that is a symbolic link to target.
func Link(target string) string { return link + target }

// LinkTo returns the target of a symbolic link, whose content is given. ok is false if it is the content of an
// ordinary file.
func LinkTo(content string) (target string, ok bool) { return strings.CutPrefix(content, link) }

// Resolve returns the content of a file, following symbolic links. ok is false if they lead to no file.
func (f Files) Resolve(name string) (content string, ok bool) {
	for range 40 {
		content, ok = f[name]
		target, is := LinkTo(content)
		if !ok || !is {
			return content, ok
		}
		name = path.Join(path.Dir(name), target)
	}
	return "", false
}

// With returns a copy of the files with changes applied.
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

// Changed returns the names of the files that differ between the two sets of files f and to, sorted.
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

// Between returns the files that differ between f and head. before has the contents of these files in f, and
// after those in head.
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
