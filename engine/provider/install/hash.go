package install

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// hashDir returns a package's `h1:` checksum: SHA-256 over the names and SHA-256
// sums of all files in its directory, in base 64, as golang.org/x/mod defines it for
// Go modules.
func hashDir(dir string) (string, error) {
	target, err := filepath.EvalSymlinks(dir) // dirhash does not enter a link
	if err != nil {
		return "", err
	}
	return dirhash.HashDir(target, "", dirhash.Hash1)
}

// hashPacked returns the `h1:` checksum of a packed package, as mirrors publish it. It equals the checksum of
// [hashDir], unless the archive has entries for directories, which count as files here.
func hashPacked(archive string) (string, error) {
	return dirhash.HashZip(archive, dirhash.Hash1)
}

// A listing lists the files of a package. Its `h1:` checksum is computed from the listing.
type listing []listed

type listed struct {
	name string
	sum  []byte // SHA-256
}

func (l *listing) add(name string, sum hash.Hash) { *l = append(*l, listed{name, sum.Sum(nil)}) }

// h1 returns the same checksum as dirhash.Hash1 for the files, without reading them again.
// Source: https://pkg.go.dev/golang.org/x/mod/sumdb/dirhash#Hash1
func (l listing) h1() string {
	h := sha256.New()
	slices.SortStableFunc(l, func(a, b listed) int { return strings.Compare(a.name, b.name) })
	for _, f := range l {
		fmt.Fprintf(h, "%x  %s\n", f.sum, f.name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// hashArchive returns a package's `zh:` checksum: the SHA-256 sum of its zip archive
// in hexadecimal.
func hashArchive(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "zh:" + hex.EncodeToString(h.Sum(nil)), nil
}

// sums are the known checksums of a package.
type sums struct {
	h1 string
	zh string // "" for an unpacked package
	// packed is the archive's own `h1:` checksum, if it differs from h1.
	packed string
}

// fits reports whether one of the given hashes is a checksum of the package. checkable is false if none of
// the hashes can be compared: they have unknown schemes, or they are checksums of the archive while only the
// unpacked package is available.
func (s sums) fits(hashes []string) (fits, checkable bool) {
	for _, h := range hashes {
		switch {
		case strings.HasPrefix(h, "h1:"), strings.HasPrefix(h, "zh:") && s.zh != "":
			checkable = true
		}
	}
	known := func(h string) bool { return h != "" && slices.Contains(hashes, h) }
	return known(s.h1) || known(s.zh) || known(s.packed), checkable
}

// String returns the checksums for messages.
func (s sums) String() string {
	if s.zh == "" {
		return s.h1
	}
	return s.h1 + " (" + s.zh + ")"
}
