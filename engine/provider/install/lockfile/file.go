// Package lockfile reads and writes `.terraform.lock.hcl`, the dependency lock file, with
// the selected version of each provider and the checksums of its packages.
//
// Its files are byte for byte Terraform 1.11's (tried), so that both tools can share one
// in version control without a diff. The package refuses to know where providers come
// from and whether a checksum is right.
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

// Name is the lock file's name. It lies in the directory of the root module.
const Name = ".terraform.lock.hcl"

// A Lock is a lock file's entry for one provider.
type Lock struct {
	Version constraint.Version
	// Constraints are those of the configuration when the version was selected, for
	// readers of the file; nothing is decided by them.
	Constraints constraint.Set
	// Hashes are the checksums by which packages of this version may be known,
	// `h1:` and `zh:`, and perhaps schemes of other tools.
	Hashes []string
}

// H1 returns the hashes of scheme `h1:`, which is over the files of a package.
func (l Lock) H1() []string { return l.scheme("h1:") }

// ZH returns the hashes of scheme `zh:`, which is over a package's zip archive.
func (l Lock) ZH() []string { return l.scheme("zh:") }

func (l Lock) scheme(prefix string) (hashes []string) {
	for _, h := range l.Hashes {
		if strings.HasPrefix(h, prefix) {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// File is the content of a lock file. The zero value is an empty one. A File may be
// read by several goroutines, as long as nobody changes it.
type File struct {
	locks map[addrs.Provider]Lock
}

// Clone returns a copy that can be changed independently.
func (f *File) Clone() *File { return &File{maps.Clone(f.locks)} }

// Lock returns a provider's entry, if there is one. The caller must not change the hashes.
func (f *File) Lock(p addrs.Provider) (Lock, bool) {
	l, ok := f.locks[p]
	return l, ok
}

// Set makes l the provider's entry, with its hashes sorted and free of repetitions.
func (f *File) Set(p addrs.Provider, l Lock) {
	if f.locks == nil {
		f.locks = map[addrs.Provider]Lock{}
	}
	l.Hashes = slices.Compact(slices.Sorted(slices.Values(l.Hashes)))
	f.locks[p] = l
}

// Remove makes f record nothing about a provider.
func (f *File) Remove(p addrs.Provider) { delete(f.locks, p) }

// Providers returns the providers that f records, sorted.
func (f *File) Providers() []addrs.Provider {
	return slices.SortedFunc(maps.Keys(f.locks), addrs.Provider.Compare)
}

// Equal reports whether f and x select the same versions and know the same hashes.
// Constraints do not count: when only they changed, Terraform leaves the file as it is.
func (f *File) Equal(x *File) bool {
	return maps.EqualFunc(f.locks, x.locks, func(a, b Lock) bool {
		return a.Version == b.Version && slices.Equal(a.Hashes, b.Hashes)
	})
}

// SameProviders reports whether f and x have entries for the same providers, regardless of
// versions.
func (f *File) SameProviders(x *File) bool {
	return maps.EqualFunc(f.locks, x.locks, func(Lock, Lock) bool { return true })
}
