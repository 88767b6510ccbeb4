package workdir

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// ChecksumOptions are the options of `providers lock`.
type ChecksumOptions struct {
	Platforms []install.Platform
	// FilesystemMirror is a directory, and NetworkMirror is a base URL. The one that is set is used instead of
	// the registries. At most one is set.
	FilesystemMirror, NetworkMirror string
	PluginCache                     bool // use that of the CLI configuration
	Events                          func(install.Event)
}

// LockChecksums records the checksums of provider packages for some platforms in the lock file. It uses the
// registries, whatever the CLI configuration says. changed is set if it added checksums. After an error, the
// lock file is unchanged.
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

// MirrorOptions are the options of `providers mirror`.
type MirrorOptions struct {
	Platforms []install.Platform
	Dir       string
	// Lock selects the versions in the lock file, if there is one.
	Lock   bool
	Events func(install.Event)
}

// Mirror downloads provider packages into a directory. It uses the registries, whatever the CLI configuration
// says.
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

// originInstaller returns an installer that uses only the registries.
func (d *Dir) originInstaller(events func(install.Event)) *install.Installer {
	in := install.New(d.CLI, d.Getenv)
	in.Source = install.NewRegistries(in.Client, d.CLI)
	in.Memo = install.OpenMemo(d.Scratch)
	in.Events = events
	return in
}
