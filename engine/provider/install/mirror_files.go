package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// A FilesystemMirror is a directory with packages. HOST/NAMESPACE/TYPE has directories VERSION/PLATFORM
// (unpacked) and files terraform-provider-TYPE_VERSION_PLATFORM.zip (packed); see
// https://developer.hashicorp.com/terraform/cli/config/config-file#filesystem_mirror.
type FilesystemMirror struct {
	Dir string
}

var _ Source = FilesystemMirror{}

// Versions returns the versions for which there is a package for any platform. There are no warnings.
func (m FilesystemMirror) Versions(_ context.Context, p addrs.Provider) ([]constraint.Version, []string, error) {
	found, err := m.scan(p)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, m.notFound(p)
	}
	var versions []constraint.Version
	for key := range found {
		versions = append(versions, key.version)
	}
	return versions, nil, nil
}

// Package returns the package of a version. It prefers an unpacked package to an archive.
func (m FilesystemMirror) Package(_ context.Context, p addrs.Provider, v constraint.Version, platform Platform) (Package, error) {
	found, err := m.scan(p)
	if err != nil {
		return Package{}, err
	}
	if pkg, ok := found[packageKey{v, platform}]; ok {
		return pkg, nil
	}
	missing := m.notFound(p)
	missing.Version = &v
	for key := range found {
		if key.version == v {
			missing.Platform = &platform
		}
	}
	return Package{}, missing
}

func (m FilesystemMirror) notFound(p addrs.Provider) *NotFoundError {
	return &NotFoundError{Provider: p, Places: []string{"the directory " + m.Dir}}
}

type packageKey struct {
	version  constraint.Version
	platform Platform
}

// scan finds the packages of a provider. It ignores files with other names.
func (m FilesystemMirror) scan(p addrs.Provider) (map[packageKey]Package, error) {
	found := map[packageKey]Package{}
	dir := providerDir(m.Dir, p)
	entries, err := readDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if v, err := constraint.ParseVersion(e.Name()); err == nil && isPackageDir(path) {
			if err := m.scanVersion(found, p, v, path); err != nil {
				return nil, err
			}
			continue
		}
		key, ok := parseArchiveName(e.Name(), p)
		if _, unpacked := found[key]; ok && !unpacked {
			found[key] = Package{Provider: p, Version: key.version, Archive: path, Auth: Authentication{Kind: Unauthenticated}}
		}
	}
	return found, err
}

func (m FilesystemMirror) scanVersion(found map[packageKey]Package, p addrs.Provider, v constraint.Version, dir string) error {
	entries, err := readDir(dir)
	for _, e := range entries {
		platform, err := ParsePlatform(e.Name())
		path := filepath.Join(dir, e.Name())
		if err != nil || !isPackageDir(path) {
			continue
		}
		found[packageKey{v, platform}] = Package{Provider: p, Version: v, Dir: path, Auth: Authentication{Kind: Unauthenticated}}
	}
	return err
}

// archiveName returns the name of an archive, such as `terraform-provider-time_0.14.2_linux_amd64.zip`.
func archiveName(key packageKey, p addrs.Provider) string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.Type, key.version, key.platform)
}

// parseArchiveName returns the version and the platform in the name of an archive of p, such as
// `terraform-provider-time_0.14.2_linux_amd64.zip`. ok is false for any other name.
func parseArchiveName(name string, p addrs.Provider) (key packageKey, ok bool) {
	rest, ok := strings.CutPrefix(name, "terraform-provider-"+p.Type+"_")
	if !ok {
		return key, false
	}
	if rest, ok = strings.CutSuffix(rest, ".zip"); !ok {
		return key, false
	}
	version, platform, _ := strings.Cut(rest, "_")
	var errVersion, errPlatform error
	key.version, errVersion = constraint.ParseVersion(version)
	key.platform, errPlatform = ParsePlatform(platform)
	return key, errVersion == nil && errPlatform == nil
}

// has reports whether there is any package of p.
func (m FilesystemMirror) has(p addrs.Provider) bool {
	found, err := m.scan(p)
	return err != nil || len(found) > 0 // if the directory cannot be read, the mirror is asked, so that the error is reported
}

// readDir lists a directory. A missing directory counts as empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory) {
		return nil, nil
	}
	return entries, err
}
