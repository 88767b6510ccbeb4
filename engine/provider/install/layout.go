package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// ProvidersDir is the directory of packages in a data directory (`.terraform`).
const ProvidersDir = "providers"

// packageDir returns the directory of a package below root, a directory of unpacked packages: the data
// directory's, a plugin cache, or a filesystem mirror. For instance
// `registry.terraform.io/hashicorp/time/0.14.2/linux_amd64`.
func packageDir(root string, p addrs.Provider, v constraint.Version, platform Platform) string {
	return filepath.Join(providerDir(root, p), v.String(), platform.String())
}

// providerDir returns the directory of all packages of a provider below root.
func providerDir(root string, p addrs.Provider) string {
	return filepath.Join(root, p.Host, p.Namespace, p.Type)
}

// FindExecutable returns the path of a provider's program in a directory: an installed package, or the
// directory of a development override. The file has the name `terraform-provider-TYPE`, perhaps followed by
// an underscore and anything, as in `terraform-provider-time_v0.14.2_x5`.
func FindExecutable(dir string, p addrs.Provider) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	want := "terraform-provider-" + p.Type
	for _, e := range entries {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".exe"), want)
		if !ok || rest != "" && rest[0] != '_' || e.IsDir() {
			continue
		}
		return filepath.Join(dir, e.Name()), nil
	}
	return "", fmt.Errorf("%s has no executable file of the provider: it must be named %s, perhaps with _v and the version after it", dir, want)
}

// link makes path a symbolic link to the directory dir. It replaces an existing file or directory. The link
// is absolute, so that it does not depend on the current directory. If both are already the same directory,
// link does nothing: the data directory may be configured as a mirror.
func link(dir, path string) error {
	target, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	there, err := os.Stat(target)
	if err != nil {
		return err
	}
	if here, err := os.Stat(path); err == nil && os.SameFile(here, there) {
		return nil
	}
	tmp, err := tempName(path)
	if err != nil {
		return err
	}
	if err := os.Symlink(target, tmp); err != nil {
		os.RemoveAll(filepath.Dir(tmp))
		return err
	}
	return moveInto(tmp, path, nil)
}

// tempPrefix is the prefix of the names of directories with incomplete packages.
const tempPrefix = ".new-"

// tempName returns an unused path for something that will be renamed to path, on the same file system. It
// also creates the directory of path.
func tempName(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return "", err
	}
	return filepath.Join(tmp, filepath.Base(path)), nil
}

// moveInto moves a directory or link from a path of tempName to its final path, and removes the previous one.
// Another process may do the same at the same time (in a plugin cache). The function same, if not nil,
// reports whether the package at path is as good as the new one. The final path never has half a package. A
// crash leaves the old package, the new one, or none; the next init repairs that.
func moveInto(tmp, path string, same func() bool) (err error) {
	defer os.RemoveAll(filepath.Dir(tmp))
	const attempts = 5 // In each attempt, another process may move its package first.
	for i := range attempts {
		// This rename succeeds if path is free, or if both are links. A directory at path must be moved away
		// first.
		if err = os.Rename(tmp, path); err == nil || same != nil && same() {
			return nil
		}
		old := filepath.Join(filepath.Dir(tmp), fmt.Sprintf("old%d", i))
		if err := os.Rename(path, old); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return err
}

// isPackageDir reports whether dir is a directory or a link to one.
func isPackageDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
