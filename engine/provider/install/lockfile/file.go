// Package lockfile reads and writes `.terraform.lock.hcl`, the dependency lock file. It has the selected
// version of each provider and the checksums of its packages.
//
// The written files are byte for byte those of Terraform 1.11 (tried), so that both tools can share a file in
// version control without a diff. The package does not know where providers come from, nor whether a checksum
// is right.
//
// Start at [Read], [File.Lock] and [File.Save]. The format is described at
// https://developer.hashicorp.com/terraform/language/files/dependency-lock.
package lockfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// Name is the lock file's name. The file is in the directory of the root module.
const Name = ".terraform.lock.hcl"

// A Lock is a lock file's entry for one provider.
type Lock struct {
	Version constraint.Version
	// Constraints are the version constraints of the configuration when the version was selected. They are
	// only for people who read the file: nothing depends on them.
	Constraints constraint.Set
	// Hashes are the accepted checksums of packages of this version: `h1:` and `zh:`, and perhaps schemes of
	// other tools.
	Hashes []string
}

// H1 returns the hashes of the scheme `h1:`, a checksum over the files of a package.
func (l Lock) H1() []string { return l.scheme("h1:") }

// ZH returns the hashes of the scheme `zh:`, a checksum over a package's zip archive.
func (l Lock) ZH() []string { return l.scheme("zh:") }

func (l Lock) scheme(prefix string) (hashes []string) {
	for _, h := range l.Hashes {
		if strings.HasPrefix(h, prefix) {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// File is the content of a lock file. The zero value is an empty file. Several goroutines may read a File if
// nobody changes it.
type File struct {
	locks map[addrs.Provider]Lock
}

// Clone returns a copy that can be changed independently.
func (f *File) Clone() *File { return &File{maps.Clone(f.locks)} }

// Lock returns a provider's entry. The second result is false if there is no entry. The caller must not change
// the hashes.
func (f *File) Lock(p addrs.Provider) (Lock, bool) {
	l, ok := f.locks[p]
	return l, ok
}

// Set replaces the provider's entry with l. It sorts the hashes and removes repetitions.
func (f *File) Set(p addrs.Provider, l Lock) {
	if f.locks == nil {
		f.locks = map[addrs.Provider]Lock{}
	}
	l.Hashes = slices.Compact(slices.Sorted(slices.Values(l.Hashes)))
	f.locks[p] = l
}

// Remove removes a provider's entry.
func (f *File) Remove(p addrs.Provider) { delete(f.locks, p) }

// Providers returns the providers with an entry, sorted.
func (f *File) Providers() []addrs.Provider {
	return slices.SortedFunc(maps.Keys(f.locks), addrs.Provider.Compare)
}

// Equal reports whether f and x have the same versions and hashes. It ignores constraints: if only they have
// changed, Terraform does not write the file.
func (f *File) Equal(x *File) bool {
	return maps.EqualFunc(f.locks, x.locks, func(a, b Lock) bool {
		return a.Version == b.Version && slices.Equal(a.Hashes, b.Hashes)
	})
}

// SameProviders reports whether f and x have entries for the same providers. It ignores versions.
func (f *File) SameProviders(x *File) bool {
	return maps.EqualFunc(f.locks, x.locks, func(Lock, Lock) bool { return true })
}
