package workdir

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// ChecksumOptions are those of `providers lock`.
type ChecksumOptions struct {
	Platforms []install.Platform
	// FilesystemMirror is a directory, NetworkMirror a base URL, to ask instead of the
	// registries; one of them at most is set.
	FilesystemMirror, NetworkMirror string
	PluginCache                     bool // use that of the CLI configuration
	Events                          func(install.Event)
}

// LockChecksums records in the lock file by which checksums the packages of providers are
// known on some platforms, whatever methods of installation the CLI configuration has. It
// reports whether there was anything to add. With errors, the lock file stays as it is.
func (d *Dir) LockChecksums(ctx context.Context, reqs install.Requirements, o ChecksumOptions) (changed bool, ds diags.Diagnostics) {
	lock, ds := d.readLock()
	if ds.HasErrors() {
		return false, ds
	}
	in := d.originInstaller(o.Events)
	if !o.PluginCache {
		in.CacheDir = ""
	}
	switch {
	case o.FilesystemMirror != "":
		in.Source = install.FilesystemMirror{Dir: o.FilesystemMirror}
	case o.NetworkMirror != "":
		mirror, err := install.NewNetworkMirror(in.Client, o.NetworkMirror)
		if err != nil {
			return false, diags.FromError("Invalid network mirror URL", err)
		}
		in.Source = mirror
	}
	next, changed, more := in.Checksums(ctx, install.ChecksumsRequest{Requirements: reqs, Lock: lock, Platforms: o.Platforms})
	if ds = append(ds, more...); ds.HasErrors() || d.Lock != nil {
		return changed, ds
	}
	return changed, append(ds, diags.FromError("Dependency lock file cannot be written", next.Replace(d.LockFile()))...)
}

// MirrorOptions are those of `providers mirror`.
type MirrorOptions struct {
	Platforms []install.Platform
	Dir       string
	// Lock selects the versions that the lock file has, if there is one.
	Lock   bool
	Events func(install.Event)
}

// Mirror puts the packages of providers into a directory, from their registries, whatever
// methods of installation the CLI configuration has.
func (d *Dir) Mirror(ctx context.Context, reqs install.Requirements, o MirrorOptions) diags.Diagnostics {
	lock, ds := &lockfile.File{}, diags.Diagnostics(nil)
	if o.Lock {
		if lock, ds = d.readLock(); ds.HasErrors() {
			return ds
		}
	}
	if len(lock.Providers()) > 0 {
		u, more := d.unmanaged()
		if ds = append(append(ds, more...), install.CheckLock(reqs, lock, u.set())...); ds.HasErrors() {
			return ds
		}
	}
	in := d.originInstaller(o.Events)
	return append(ds, in.Mirror(ctx, install.MirrorRequest{Requirements: reqs, Lock: lock, Platforms: o.Platforms, Dir: o.Dir})...)
}

// originInstaller returns an installer that asks the registries.
func (d *Dir) originInstaller(events func(install.Event)) *install.Installer {
	in := install.New(d.CLI, d.Getenv)
	in.Source = install.NewRegistries(in.Client, d.CLI)
	in.Memo = install.OpenMemo(d.Scratch)
	in.Events = events
	return in
}
