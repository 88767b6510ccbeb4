package workdir

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// Install installs the required providers and records them in the lock file. The result contains the new lock
// file, even if d.Lock is set and no file is written.
func (d *Dir) Install(ctx context.Context, reqs install.Requirements, o InstallOptions) (install.Result, diags.Diagnostics) {
	// Like Terraform, Lockstep installs a release even if a development version of the provider is used.
	u, ds := d.unmanaged()
	if ds.HasErrors() {
		return install.Result{}, ds
	}
	u.overrides = nil
	lock, more := d.readLock()
	if ds = append(ds, more...); ds.HasErrors() {
		return install.Result{}, ds
	}
	in := install.New(d.CLI, d.Getenv)
	in.DataDir = string(d.DataDir)
	in.Memo = d.memo()
	in.Events, in.Store, in.Keep, in.Room = o.Events, o.Store, o.Keep, o.Room
	in.Client.Remedy, in.Client.Transport = o.Remedy, o.Transport
	if len(o.PluginDirs) > 0 {
		in.Source = install.DirsSource(o.PluginDirs)
	}
	res, more := in.Ensure(ctx, install.Request{
		Requirements: reqs, Lock: lock, Unmanaged: u.set(), Upgrade: o.Upgrade, ReadOnly: o.ReadOnly,
	})
	if ds = append(ds, more...); ds.HasErrors() || o.ReadOnly || !res.Changed || d.Lock != nil {
		return res, ds
	}
	if _, err := res.Lock.Save(d.LockFile()); err != nil {
		ds = append(ds, diags.FromError("Dependency lock file cannot be written", err)...)
	}
	return res, ds
}

// InstallOptions are the options of init.
type InstallOptions struct {
	Upgrade    bool
	ReadOnly   bool     // -lockfile=readonly
	PluginDirs []string // -plugin-dir
	Events     func(install.Event)
	// Store, Keep and Room are passed on to [install.Installer].
	Store func(context.Context, install.Kept) (install.Package, error)
	Keep  func(context.Context, install.Kept)
	Room  *install.Room
	// Remedy and Transport are passed on to [hosts.Client].
	Remedy    func(variable string) string
	Transport http.RoundTripper
}

// WriteFile replaces a file atomically: after a crash, the file has either the old or the new content.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(mode)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
