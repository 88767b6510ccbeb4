package constraint

import (
	"errors"
	"fmt"

	"github.com/apparentlymart/go-versions/versions"
)

// Version is a provider's version number as in https://semver.org. The zero value is 0.0.0. Two versions are
// equal (==) if they are the same release with the same build metadata.
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

// Compare orders versions by precedence: a pre-release comes before its release. Build metadata has no
// effect.
func Compare(a, b Version) int {
	switch {
	case a.LessThan(b):
		return -1
	case b.LessThan(a):
		return 1
	}
	return 0
}

// compareTotally also orders versions that differ only in build metadata, as if the metadata were a
// pre-release. That is Terraform's order in lock files.
func compareTotally(a, b Version) int {
	if c := Compare(a, b); c != 0 || a.Metadata == b.Metadata {
		return c
	}
	if a.Metadata.LessThan(b.Metadata) {
		return -1
	}
	return 1
}

// bounded returns parse(s), and a panic of parse as an error. The parsers of go-versions panic at numbers
// beyond 64 bits, which an untrusted registry or lock file may have.
func bounded[T any](parse func(string) (T, error), s string) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a number in it is too large")
		}
	}()
	return parse(s)
}
