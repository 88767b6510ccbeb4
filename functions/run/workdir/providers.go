package workdir

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	goversion "github.com/hashicorp/go-version"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/process"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Requirements returns the providers that a configuration and a state need.
// Either may be nil.
func Requirements(cfg *config.Config, state *states.State) (install.Requirements, diags.Diagnostics) {
	out := install.Requirements{}
	var ds diags.Diagnostics
	if cfg != nil {
		for p, list := range cfg.ProviderRequirements() {
			var all goversion.Constraints
			for _, c := range list {
				set, err := goversion.NewConstraint(c.Text)
				if err != nil {
					ds = append(ds, diags.Errorf(&c.Range, "Invalid version constraint",
						"The version constraint %q for provider %s is not valid: %s.", c.Text, p.ForDisplay(), err)...)
					continue
				}
				all = append(all, set...)
			}
			out[p] = all
		}
	}
	if state != nil {
		for _, r := range state.Resources() {
			if _, ok := out[r.Provider.Provider]; !ok {
				out[r.Provider.Provider] = nil
			}
		}
	}
	return out, ds
}

// LockFile returns the path of the dependency lock file.
func (d *Dir) LockFile() string { return filepath.Join(d.Path, lockfile.Name) }

// unmanaged are the providers that come from elsewhere than from an installation.
type unmanaged struct {
	overrides map[addrs.Provider]string
	reattach  map[addrs.Provider]cliconfig.Reattach
}

func (d *Dir) unmanaged() (unmanaged, diags.Diagnostics) {
	re, err := cliconfig.ParseReattach(d.Getenv(cliconfig.ReattachVariable))
	if err != nil {
		return unmanaged{}, diags.FromError("Invalid "+cliconfig.ReattachVariable, err)
	}
	return unmanaged{d.CLI.Overrides, re}, nil
}

// set returns the addresses.
func (u unmanaged) set() map[addrs.Provider]bool {
	out := map[addrs.Provider]bool{}
	for p := range u.overrides {
		out[p] = true
	}
	for p := range u.reattach {
		out[p] = true
	}
	return out
}

// Unmanaged returns the providers that are neither installed nor locked here.
func (d *Dir) Unmanaged() (map[addrs.Provider]bool, diags.Diagnostics) {
	u, ds := d.unmanaged()
	return u.set(), ds
}

// PoolOptions say how provider processes are run.
type PoolOptions struct {
	// Log takes what plugins write to standard error, at LogLevel (TF_LOG's values).
	Log      io.Writer
	LogLevel string
	// RemoteState answers terraform_remote_state; nil refuses it.
	RemoteState builtin.RemoteState
}

// Providers returns a pool of the providers required, as init installed them. The
// pool must be closed.
func (d *Dir) Providers(reqs install.Requirements, o PoolOptions) (*provider.Pool, diags.Diagnostics) {
	u, ds := d.unmanaged()
	if ds.HasErrors() {
		return nil, ds
	}
	factories := map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) {
			return builtin.New(o.RemoteState), nil
		},
	}
	lock, more := lockfile.Read(d.LockFile())
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	unmanaged := u.set()
	if ds = append(ds, install.CheckLock(reqs, lock, unmanaged)...); ds.HasErrors() {
		return nil, ds
	}
	var wanted []addrs.Provider
	for _, p := range slices.SortedFunc(maps.Keys(reqs), addrs.Provider.Compare) {
		switch {
		case p.IsBuiltin():
			if p != addrs.BuiltinTerraform {
				ds = append(ds, diags.Errorf(nil, "Invalid required provider", "There is no built-in provider %s.", p)...)
			}
		case hasReattach(u, p):
			r, _ := lookupReattach(u, p)
			factories[p] = process.Reattach{
				Name: p.ForDisplay(), Protocol: r.Protocol, ProtocolVersion: r.ProtocolVersion, Pid: r.Pid, Test: r.Test,
				Network: r.Addr.Network(), Address: r.Addr.String(),
			}.Start
		case u.overrides[p] != "":
			path, err := install.FindExecutable(u.overrides[p], p)
			if err != nil {
				ds = append(ds, diags.FromError("Provider in development is missing", fmt.Errorf("dev_overrides for %s: %w", p, err))...)
				continue
			}
			factories[p] = d.launch(p, path, o).Start
		default:
			wanted = append(wanted, p)
		}
	}
	memo := install.OpenMemo(d.Scratch)
	found, more := install.Installed(d.DataDir, lock, wanted, memo)
	ds = append(ds, more...)
	for p, s := range found {
		factories[p] = d.launch(p, s.Executable, o).Start
	}
	return provider.NewPool(factories), ds
}

func hasReattach(u unmanaged, p addrs.Provider) bool { _, ok := lookupReattach(u, p); return ok }

// lookupReattach finds a provider that somebody else runs. Tests of providers name
// theirs in the legacy namespace, too.
func lookupReattach(u unmanaged, p addrs.Provider) (cliconfig.Reattach, bool) {
	if r, ok := u.reattach[p]; ok {
		return r, true
	}
	return cliconfig.Reattach{}, false
}

// launch says how to start a plugin: with the environment of the person who runs
// us, who has the provider's credentials in it.
func (d *Dir) launch(p addrs.Provider, path string, o PoolOptions) process.Launch {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	return process.Launch{
		Name: p.ForDisplay(), Path: abs, Env: d.Environ, Dir: d.Path,
		DisableTLS: d.Getenv("TF_DISABLE_PLUGIN_TLS") != "", Log: o.Log, LogLevel: o.LogLevel,
	}
}

// Install brings the providers required to disk and records them in the lock file.
func (d *Dir) Install(ctx context.Context, reqs install.Requirements, o InstallOptions) (install.Result, diags.Diagnostics) {
	unmanaged, ds := d.Unmanaged()
	if ds.HasErrors() {
		return install.Result{}, ds
	}
	lock, more := lockfile.Read(d.LockFile())
	if ds = append(ds, more...); ds.HasErrors() {
		return install.Result{}, ds
	}
	in := install.New(d.CLI, d.Getenv)
	in.DataDir = d.DataDir
	in.Memo = install.OpenMemo(d.Scratch)
	in.Events = o.Events
	if len(o.PluginDirs) > 0 {
		in.Source = install.DirsSource(o.PluginDirs)
	}
	res, more := in.Ensure(ctx, install.Request{
		Requirements: reqs, Lock: lock, Unmanaged: unmanaged, Upgrade: o.Upgrade, ReadOnly: o.ReadOnly,
	})
	if ds = append(ds, more...); ds.HasErrors() || o.ReadOnly || !res.Changed {
		return res, ds
	}
	if _, err := res.Lock.Save(d.LockFile()); err != nil {
		ds = append(ds, diags.FromError("Dependency lock file cannot be written", err)...)
	}
	return res, ds
}

// InstallOptions are init's.
type InstallOptions struct {
	Upgrade    bool
	ReadOnly   bool     // -lockfile=readonly
	PluginDirs []string // -plugin-dir
	Events     func(install.Event)
}

// WriteModules records the modules of a configuration as the stock tools do.
func (d *Dir) WriteModules(cfg *config.Config) error {
	if len(cfg.Modules) < 2 {
		return nil
	}
	dir := filepath.Join(d.DataDir, "modules")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("record modules: %w", err)
	}
	data, err := cfg.Manifest().Encode()
	if err != nil {
		return fmt.Errorf("record modules: %w", err)
	}
	return writeFile(filepath.Join(dir, "modules.json"), data, 0o644)
}

// writeFile replaces a file in one step.
func writeFile(path string, data []byte, mode os.FileMode) error {
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
