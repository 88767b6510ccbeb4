package constraint

import (
	"errors"
	"fmt"

	"github.com/apparentlymart/go-versions/versions"
)

// Version is a provider's version number, after https://semver.org. The zero value is
// 0.0.0. Versions are equal (==) when they are the same release: build metadata counts.
type Version = versions.Version

// ParseVersion reads a complete version number, `1.2.0` or `1.2.0-beta1`. Leading zeros
// are accepted; [Version.String] shows the normal form.
func ParseVersion(s string) (Version, error) {
	v, err := bounded(versions.ParseVersion, s)
	if err != nil {
		return Version{}, fmt.Errorf("invalid version number %q: %w", s, err)
	}
	return v, nil
}

// Compare orders versions by precedence: a pre-release comes before its release, build
// metadata does not count.
func Compare(a, b Version) int {
	switch {
	case a.LessThan(b):
		return -1
	case b.LessThan(a):
		return 1
	}
	return 0
}

// compareTotally orders versions that differ in metadata only, too: as if it were a
// pre-release, which is Terraform's order in lock files.
func compareTotally(a, b Version) int {
	if c := Compare(a, b); c != 0 || a.Metadata == b.Metadata {
		return c
	}
	if a.Metadata.LessThan(b.Metadata) {
		return -1
	}
	return 1
}

// bounded calls a parser of go-versions, which panics at numbers beyond 64 bits: registries
// and lock files are not to be trusted.
func bounded[T any](parse func(string) (T, error), s string) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a number in it is too large")
		}
	}()
	return parse(s)
}
