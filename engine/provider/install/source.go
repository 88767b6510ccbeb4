package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// A Source is an origin of provider packages. If an error wraps a *NotFoundError, the source does not have
// the provider or the version.
type Source interface {
	// Versions returns the available versions of a provider for any platform, in any order, and the source's
	// warnings to its users.
	Versions(ctx context.Context, p addrs.Provider) (versions []constraint.Version, warnings []string, err error)
	// Package returns the location of a version's package, and its checksums.
	Package(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error)
}

// An Archive is a zip file that arrives while it is read, such as a *ranged.Reader.
type Archive interface {
	io.ReaderAt
	io.Closer
	Size() int64
	// Sum reads the remaining bytes of the archive, and returns the SHA-256 sum of the whole archive in
	// hexadecimal.
	Sum() (string, error)
}

// A Package is one version of a provider for one platform. Its place is in Dir, Archive, URL, Fetch or Remote:
// exactly one of these is set.
type Package struct {
	Provider addrs.Provider
	Version  constraint.Version

	Dir     string   // a directory with the unpacked package
	Archive string   // a zip file on disk
	URL     *url.URL // a zip file to download
	// Fetch downloads a zip file in another way than by a URL.
	Fetch func(context.Context, *os.File) error
	// Remote opens a zip file that is unpacked while it arrives.
	Remote func(context.Context) (Archive, error)

	// Hashes are the checksums that the source publishes; empty if it publishes none. The package must match
	// one of the `zh:` or `h1:` checksums, if there are any. Other schemes cannot be checked.
	Hashes []string
	// Signed are the `zh:` checksums of this version's packages for all platforms, if they have a verified
	// signature.
	Signed []string
	Auth   Authentication
}

// isDownloaded reports whether the archive has to be written to the disk first.
func (p Package) isDownloaded() bool { return p.URL != nil || p.Fetch != nil }

// Authentication is the evidence that a package is authentic.
type Authentication struct {
	Kind AuthKind
	// KeyID is the signing key's ID, in hexadecimal; "" if there was no signature.
	KeyID string
}

// AuthKind is a kind of evidence, in the words that people see.
type AuthKind string

const (
	Unauthenticated   AuthKind = "unauthenticated"
	VerifiedChecksum  AuthKind = "verified checksum"
	SignedByHashiCorp AuthKind = "signed by HashiCorp"
	SelfSigned        AuthKind = "self-signed"
)

// String returns, for instance, `self-signed, key ID 34365D9472D7468F`.
func (a Authentication) String() string {
	if a.KeyID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ", key ID " + a.KeyID
}

// NotFoundError is the error for a provider, or a version of a provider, that no source has.
type NotFoundError struct {
	Provider addrs.Provider
	Version  *constraint.Version // nil if there is no version at all
	Platform *Platform           // set if the version exists, but not for this platform
	Places   []string            // as people know them
}

// Error names the provider, and the sources that do not have it.
func (e *NotFoundError) Error() string {
	missing := "provider " + e.Provider.String()
	if e.Version != nil {
		missing += " " + e.Version.String()
	}
	if e.Platform != nil {
		missing += " for the platform " + e.Platform.String()
	}
	return fmt.Sprintf("%s was not found in %s", missing, strings.Join(e.Places, ", nor in "))
}

// A Choice is one of several sources, limited to the providers that it serves.
type Choice struct {
	Source Source
	Serves func(addrs.Provider) bool // nil for all
}

// Choices are sources in order of preference. A provider's versions are the versions of all sources that
// serve it. A package comes from the first source that has it.
type Choices []Choice

var _ Source = Choices(nil)

// Versions merges the versions of all sources that serve p.
func (cs Choices) Versions(ctx context.Context, p addrs.Provider) (all []constraint.Version, warnings []string, err error) {
	missing := &NotFoundError{Provider: p}
	for _, c := range cs.serving(p) {
		versions, more, err := c.Source.Versions(ctx, p)
		if !missing.add(err) && err != nil {
			return nil, nil, err
		}
		all, warnings = append(all, versions...), append(warnings, more...)
	}
	if len(all) == 0 {
		return nil, warnings, missing.orNoSource()
	}
	seen := map[constraint.Version]bool{}
	all = slices.DeleteFunc(all, func(v constraint.Version) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
	return all, warnings, nil
}

// Package returns the package of the first source that serves p and has the package.
func (cs Choices) Package(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error) {
	missing := &NotFoundError{Provider: p, Version: &v}
	for _, c := range cs.serving(p) {
		found, err := c.Source.Package(ctx, p, v, platform)
		if err == nil {
			return found, nil
		}
		if !missing.add(err) {
			return Package{}, err
		}
	}
	return Package{}, missing.orNoSource()
}

func (cs Choices) serving(p addrs.Provider) (serving Choices) {
	for _, c := range cs {
		if c.Serves == nil || c.Serves(p) {
			serving = append(serving, c)
		}
	}
	return serving
}

// add reports whether err is a *NotFoundError. If it is, add also adds its places to e.
func (e *NotFoundError) add(err error) bool {
	var other *NotFoundError
	if !errors.As(err, &other) {
		return false
	}
	e.Places = append(e.Places, other.Places...)
	if other.Platform != nil {
		e.Platform = other.Platform
	}
	return true
}

// orNoSource returns e if at least one source was asked. Otherwise it returns the error that no installation
// method serves the provider.
func (e *NotFoundError) orNoSource() error {
	if len(e.Places) == 0 {
		return fmt.Errorf("no installation method of the CLI configuration serves provider %s", e.Provider)
	}
	return e
}
