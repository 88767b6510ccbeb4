package install

import (
	"context"
	"errors"
	"os"
	"strings"

	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
)

// The artifact types of a provider's version, and of its package for one platform.
const (
	providerType = "application/vnd.opentofu.provider"
	targetType   = "application/vnd.opentofu.provider-target"
)

// An OCIMirror has packages in the repositories of an OCI registry: each provider has a repository, each version
// is a tag of an index with the packages of all platforms; see
// https://opentofu.org/docs/cli/oci_registries/provider-mirror/.
type OCIMirror struct {
	client     *hosts.Client
	login      oci.Credentials
	repository func(addrs.Provider) (string, error)
	registries *oci.Client // nil before the first use
}

var _ Source = &OCIMirror{}

// Versions returns the versions among the tags of the provider's repository. There are no warnings.
func (m *OCIMirror) Versions(ctx context.Context, p addrs.Provider) ([]constraint.Version, []string, error) {
	repository, name, err := m.open(p)
	if err != nil {
		return nil, nil, err
	}
	tags, err := repository.Tags(ctx)
	if errors.Is(err, oci.ErrNotFound) {
		return nil, nil, notInRepository(p, name)
	}
	if err != nil {
		return nil, nil, err
	}
	var versions []constraint.Version
	for _, tag := range tags {
		// A tag cannot have the plus sign of build metadata.
		if v, err := constraint.ParseVersion(strings.ReplaceAll(tag, "_", "+")); err == nil {
			versions = append(versions, v)
		}
	}
	return versions, nil, nil
}

// Package returns the package of a version. Its checksum is the digest in the registry's manifest.
func (m *OCIMirror) Package(ctx context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error) {
	repository, name, err := m.open(p)
	if err != nil {
		return Package{}, err
	}
	missing := notInRepository(p, name)
	missing.Version = &v
	index, err := repository.Index(ctx, strings.ReplaceAll(v.String(), "+", "_"), providerType)
	if errors.Is(err, oci.ErrNotFound) {
		return Package{}, missing
	}
	if err != nil {
		return Package{}, err
	}
	for _, d := range index.Manifests {
		if !isFor(d, platform) {
			continue
		}
		manifest, err := repository.Manifest(ctx, d.Digest.String(), targetType)
		if err != nil {
			return Package{}, err
		}
		archive, err := oci.Package(manifest)
		if err != nil {
			return Package{}, err
		}
		pkg := Package{Provider: p, Version: v, Auth: Authentication{Kind: VerifiedChecksum}, Fetch: func(ctx context.Context, to *os.File) error {
			return repository.Download(ctx, archive, maxPackage, to)
		}}
		if hex, ok := strings.CutPrefix(archive.Digest.String(), "sha256:"); ok {
			pkg.Hashes = []string{"zh:" + hex}
		}
		return pkg, nil
	}
	missing.Platform = &platform
	return Package{}, missing
}

// maxPackage is the size of the largest package in bytes, as for other downloads.
const maxPackage = 4 << 30

// isFor reports whether a manifest in an index has the package for a platform.
func isFor(d spec.Descriptor, platform Platform) bool {
	return (d.ArtifactType == "" || d.ArtifactType == targetType) && d.Platform != nil &&
		d.Platform.OS == platform.OS && d.Platform.Architecture == platform.Arch
}

// open returns the repository of a provider, and its name.
func (m *OCIMirror) open(p addrs.Provider) (*oci.Repository, string, error) {
	if m.registries == nil {
		m.registries = &oci.Client{Policy: m.client.Policy, Transport: m.client.Transport, Credentials: m.login}
	}
	name, err := m.repository(p)
	if err != nil {
		return nil, "", err
	}
	repository, err := m.registries.Open(name)
	return repository, name, err
}

func notInRepository(p addrs.Provider, name string) *NotFoundError {
	return &NotFoundError{Provider: p, Places: []string{"the OCI repository " + name}}
}
