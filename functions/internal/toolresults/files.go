package toolresults

import (
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// An artifact is the place of a file, as SARIF describes it: an address, and the name of the base to which the
// address is relative. index is the position of the description in the list of artifacts; -1 for none.
type artifact struct {
	uri, base string
	index     int
}

// pathOf returns the path of a file from the root of the repository. inside is false if the file is outside. Both
// results are zero if the artifact names no file.
func (r *reader) pathOf(a artifact, bases map[string]artifact) (name string, inside bool) {
	base, ok := r.base(a.base, bases, 0)
	if a.uri == "" || !ok {
		return "", a.uri == ""
	}
	for _, meaning := range meanings(a.uri) {
		name, inside = r.within(meaning, base)
		if inside && r.exists(name) {
			return name, true
		}
	}
	return name, inside // no path exists: use the last meaning, the one that SARIF's specification gives the address
}

// maxBases is the maximum length of a chain of bases. A base can be relative to another base.
const maxBases = 10

// base returns the directory of the base with a name; "" if it is unknown: the program's directory is then used. ok is
// false if the base is not in the file system.
func (r *reader) base(name string, bases map[string]artifact, depth int) (dir string, ok bool) {
	b, known := bases[name]
	if !known || b.uri == "" || depth > maxBases {
		return "", true
	}
	outer, ok := r.base(b.base, bases, depth+1)
	all := meanings(b.uri)
	if !ok || len(all) == 0 {
		return "", false
	}
	dir = all[len(all)-1]
	if !path.IsAbs(dir) {
		dir = path.Join(outer, dir)
	}
	return dir, true
}

// maxURI is the maximum length of an address in bytes. Each byte of a path may need three.
const maxURI = 3 * maxPath

// meanings returns the paths that an address can mean: the address itself, if the program did not encode the path, and
// then the decoded path. It returns nothing for an address that is not a file.
func meanings(uri string) []string {
	if len(uri) > maxURI {
		return nil
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil: // such as 100%.tf
		return []string{uri}
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && path.IsAbs(u.Path):
		return []string{u.Path}
	case u.Scheme != "" || u.Host != "":
		return nil
	case u.Path == uri:
		return []string{uri}
	}
	return []string{uri, u.Path}
}

// within returns a path from the root of the repository for a path of the output, relative to base. ok is false if the
// path is outside.
func (r *reader) within(name, base string) (out string, ok bool) {
	if !path.IsAbs(name) {
		name = path.Join(base, name)
	}
	if !path.IsAbs(name) {
		out = path.Join(r.Dir, name)
		if root := path.Join(".", name); !r.exists(out) && r.exists(root) {
			out = root
		}
	} else if out, ok = strings.CutPrefix(path.Clean(name), path.Clean(r.Root)+"/"); !ok || !path.IsAbs(r.Root) {
		return "", false
	}
	if !fs.ValidPath(out) || out == "." || len(out) > maxPath || strings.ContainsRune(out, 0) {
		return "", false
	}
	return out, true
}

// files remembers what the reader has seen of the checkout. A hostile output names many files, so there are limits.
type files struct {
	exist map[string]bool
	lines map[string][]string
	read  int // bytes
}

// Limits of the files that are looked at, and of their content in bytes. Files beyond them count as missing.
const (
	maxLooks = 50_000
	maxFile  = 1 << 20
	maxRead  = 32 << 20
	maxLine  = 1_000
)

// exists reports whether there is a regular file of this name.
func (r *reader) exists(name string) bool {
	is, known := r.seen.exist[name]
	if known || r.Files == nil || len(r.seen.exist) >= maxLooks || !fs.ValidPath(name) {
		return is
	}
	if r.seen.exist == nil {
		r.seen.exist = map[string]bool{}
	}
	info, err := fs.Stat(r.Files, name)
	is = err == nil && info.Mode().IsRegular()
	r.seen.exist[name] = is
	return is
}

// line returns the beginning of a line of a file, without blank space around it. It returns "" if the file cannot be read, is too long,
// or comes after too many others.
func (r *reader) line(name string, n int) string {
	all, known := r.seen.lines[name]
	if !known && r.seen.read < maxRead && r.exists(name) {
		all = r.content(name)
	}
	if n < 1 || n > len(all) {
		return ""
	}
	text := all[n-1]
	return strings.TrimSpace(text[:min(len(text), maxLine)])
}

// content reads the lines of a file, and keeps them.
func (r *reader) content(name string) (out []string) {
	f, err := r.Files.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) <= maxFile {
		out = strings.Split(string(data), "\n")
	}
	const perLine = 16 // bytes of memory
	r.seen.read += len(data) + perLine*len(out)
	if r.seen.lines == nil {
		r.seen.lines = map[string][]string{}
	}
	r.seen.lines[name] = out
	return out
}
