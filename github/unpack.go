package github

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// archiveLimits are the limits of an archive's content.
type archiveLimits struct {
	Entries int   // files, directories and links
	Bytes   int64 // of all files together
}

// checkoutLimits are the limits of a checkout. Bytes is half of the default disk space of a Lambda function.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-ephemeral-storage.html (512 MB)
var checkoutLimits = archiveLimits{Entries: 100_000, Bytes: 256 << 20}

// Limits of names in an archive. A depth limit is needed because implied directories do not count as entries.
const (
	maxEntryPath  = 2048
	maxEntryDepth = 100
	// maxSegment is the limit of file systems for one name.
	// Source: https://man7.org/linux/man-pages/man3/limits.h.3head.html (NAME_MAX, PATH_MAX)
	maxSegment    = 255
	maxLinkTarget = 4095 // of a link
)

// smallerRemedy is the advice to users if a repository is too large.
const smallerRemedy = "Lockstep plans the files in GitHub's archive of a commit. Files that no plan needs can be left out of it with `export-ignore` in `.gitattributes`, or removed from the repository."

// Unpacked counts what was unpacked from an archive.
type Unpacked struct {
	Files int
	Bytes int64
	// LeftOut are the symbolic links that were not created: they lead out of the repository or nowhere, or no
	// file system accepts them.
	LeftOut []string
}

// unpack unpacks a repository's tarball, as GitHub makes them, into the directory dir. Everything in the
// archive is in one directory, of any name. If the archive contains its commit's SHA, that must be sha; ""
// accepts any.
//
// For every archive: nothing is written outside of dir, and no link leads out of it. The error is a
// *[FinalError] if the archive exceeds the limits, or has an entry that is not a file, a directory or a
// symbolic link. After an error, dir contains a part of the archive.
func unpack(r io.Reader, dir, sha string, limits archiveLimits) (Unpacked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	defer root.Close()
	zr, err := gzip.NewReader(r)
	if err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	u := &unpacking{root: root, limits: limits, sha: sha, made: map[string]bool{".": true}, buf: make([]byte, 64<<10)}
	err = u.all(tar.NewReader(zr))
	if err == nil {
		err = u.link()
	}
	if err != nil {
		return u.done, fmt.Errorf("unpack: %w", err)
	}
	return u.done, nil
}

// tryUnpack unpacks the archive in data. It returns what it has unpacked, and data. If data is nil or cannot be
// unpacked, it returns nil instead of data, and leaves dir empty.
func tryUnpack(data []byte, dir, sha string, limits archiveLimits) (Unpacked, []byte, error) {
	if data == nil {
		return Unpacked{}, nil, nil
	}
	u, err := unpack(bytes.NewReader(data), dir, sha, limits)
	if err == nil {
		return u, data, nil
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil {
			err = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return Unpacked{}, nil, err
}

type unpacking struct {
	root    *os.Root
	limits  archiveLimits
	sha     string
	entries int
	links   []archiveLink
	done    Unpacked
	made    map[string]bool // directories that exist; they stay directories, because links are made last
	buf     []byte
}

type archiveLink struct{ name, target string }

func (u *unpacking) all(tr *tar.Reader) error {
	for {
		h, err := tr.Next()
		switch {
		case err == io.EOF && u.entries == 0:
			return errors.New("the archive is empty")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			// git archive writes the commit's SHA here.
			if have := h.PAXRecords["comment"]; have != "" && u.sha != "" && have != u.sha {
				return fmt.Errorf("the archive holds the commit %.7s instead of %.7s", have, u.sha)
			}
			continue
		}
		if u.entries++; u.entries > u.limits.Entries {
			return &FinalError{Why: fmt.Sprintf("the archive has more than %d entries", u.limits.Entries), Remedy: smallerRemedy}
		}
		if err := u.entry(h, tr); err != nil {
			return err
		}
	}
}

func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	_, name, _ := strings.Cut(h.Name, "/")
	name = strings.TrimSuffix(name, "/")
	if name == "" && h.Typeflag == tar.TypeDir {
		return nil // the directory that contains everything
	}
	if len(name) > maxEntryPath || strings.Count(name, "/") > maxEntryDepth || slices.ContainsFunc(strings.Split(name, "/"), segmentTooLong) {
		return &FinalError{Why: fmt.Sprintf("a file or directory of the commit has a name that is too long: %.60q...", h.Name), Remedy: "Give it a shorter name in a new commit."}
	}
	if strings.HasPrefix(h.Name, "/") || !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return &FinalError{Why: fmt.Sprintf("a file or directory of the commit has the name %q", h.Name), Remedy: "Give it another name in a new commit."}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.mkdir(name)
	case tar.TypeReg:
		return u.file(name, h, content)
	case tar.TypeSymlink:
		u.links = append(u.links, archiveLink{name, h.Linkname})
		return nil
	}
	return &FinalError{Why: fmt.Sprintf("the archive's entry %q is neither a file nor a directory nor a symbolic link", h.Name), Remedy: "Remove it from the repository."}
}

func segmentTooLong(segment string) bool { return len(segment) > maxSegment }

// mkdir creates a directory, once. Most entries are in a directory that exists.
func (u *unpacking) mkdir(dir string) error {
	if u.made[dir] {
		return nil
	}
	u.made[dir] = true
	return u.root.MkdirAll(dir, 0o755)
}

func (u *unpacking) file(name string, h *tar.Header, content io.Reader) error {
	if u.done.Bytes += h.Size; h.Size < 0 || u.done.Bytes > u.limits.Bytes {
		return &FinalError{Why: fmt.Sprintf("the archive's files have more than %d bytes together", u.limits.Bytes), Remedy: smallerRemedy}
	}
	if err := u.mkdir(path.Dir(name)); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if h.Mode&0o111 != 0 {
		mode = 0o755
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	u.done.Files++
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, content, u.buf) // a *os.File would allocate a buffer for each file
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// link creates the symbolic links. It does so after everything else, so that nothing is written through a link.
// Then it removes the links that lead out of the directory. It repeats this until no such link is left, because
// one link can lead through another.
func (u *unpacking) link() error {
	u.links = slices.DeleteFunc(u.links, func(l archiveLink) bool {
		odd := l.target == "" || len(l.target) > maxLinkTarget || strings.ContainsRune(l.target, 0)
		if odd {
			u.done.LeftOut = append(u.done.LeftOut, l.name)
		}
		return odd
	})
	for _, l := range u.links {
		if err := u.root.MkdirAll(path.Dir(l.name), 0o755); err != nil {
			return err
		}
		if err := u.root.Symlink(l.target, l.name); err != nil {
			return err
		}
	}
	for again := true; again; {
		again = false
		kept := u.links[:0]
		for _, l := range u.links {
			if u.inside(l) {
				kept = append(kept, l)
				continue
			}
			if err := u.root.Remove(l.name); err != nil {
				return err
			}
			u.done.LeftOut = append(u.done.LeftOut, l.name)
			again = true
		}
		u.links = kept
	}
	return nil
}

// inside reports whether a link leads to an existing entry within the directory.
func (u *unpacking) inside(l archiveLink) bool {
	_, err := u.root.Stat(l.name)
	return err == nil && !path.IsAbs(l.target)
}
