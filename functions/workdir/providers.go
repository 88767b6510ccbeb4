package workdir

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	goversion "github.com/hashicorp/go-version"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/process"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Requirements returns the providers that a configuration and a state need. Either may be nil. The addresses in
// the state count as the configuration adopts them; see [config.Config.Adopt].
func Requirements(cfg *config.Config, state *states.State) (install.Requirements, diags.Diagnostics) {
	out := install.Requirements{}
	var ds diags.Diagnostics
	if cfg != nil {
		for p, list := range cfg.ProviderRequirements() {
			var all goversion.Constraints
			for _, c := range list {
				set, err := goversion.NewConstraint(c.Text)
				if err == nil {
					_, err = constraint.From(set) // providers have more rules for constraints
				}
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
		for _, r := range cfg.Adopt(state).Resources() {
			if _, ok := out[r.Provider.Provider]; !ok {
				out[r.Provider.Provider] = nil
			}
		}
	}
	return out, ds
}

// LockFile returns the path of the dependency lock file.
func (d *Dir) LockFile() string { return filepath.Join(d.Path, lockfile.Name) }

func (d *Dir) readLock() (*lockfile.File, diags.Diagnostics) {
	if d.Lock != nil {
		return d.Lock, nil
	}
	return lockfile.Read(d.LockFile())
}

// unmanaged are the providers that init does not install. The field overrides has those that are in
// development (dev_overrides); reattach has those that are already running.
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

// set returns the addresses of all unmanaged providers.
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

// DevelopmentWarning returns a warning that names the providers in development; nil if there are none. effect
// is the end of its text.
func (d *Dir) DevelopmentWarning(effect string) diags.Diagnostics {
	if len(d.CLI.Overrides) == 0 {
		return nil
	}
	var b strings.Builder
	for _, p := range slices.SortedFunc(maps.Keys(d.CLI.Overrides), addrs.Provider.Compare) {
		if twin := (addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: p.Namespace, Type: p.Type}); p.Host == addrs.OpenTofuRegistryHost && d.CLI.Overrides[twin] == d.CLI.Overrides[p] {
			continue // The user has written this provider without a host. The list has it under the other registry.
		}
		fmt.Fprintf(&b, " - %s in %s\n", p.ForDisplay(), d.CLI.Overrides[p])
	}
	return diags.Warningf(nil, "Provider development overrides are in effect",
		"The CLI configuration has dev_overrides for these providers:\n%s\n%s", b.String(), effect)
}

// PoolOptions are settings for the processes of providers.
type PoolOptions struct {
	// Log receives the standard error output of plugins. LogLevel is their log level, a value of TF_LOG.
	Log      io.Writer
	LogLevel string
	// Stderr returns a writer for a copy of the standard error output of one process of a plugin; it may be nil.
	Stderr func() io.Writer
	// Called gets each call of a plugin: see [process.Launch].
	Called func(method string, took time.Duration)
	// Begin starts the process of a plugin; nil means its Start method.
	Begin func(*exec.Cmd) error
	// RemoteState reads the states for data sources terraform_remote_state. nil makes them fail.
	RemoteState builtin.RemoteState
	// Builtin returns the client in place of the built-in provider's; nil leaves it.
	Builtin func(provider.Client) provider.Client
	// Language is the version of the language. The providers get its release as that of Terraform.
	Language language.Version
}

// Providers are the providers of a working directory, with a pool of their processes. The caller must close it.
type Providers struct {
	*provider.Pool
	dir       *Dir
	lock      *lockfile.File
	unmanaged unmanaged
	found     map[addrs.Provider]install.Selection
	memo      *install.Memo
}

// OpenProviders returns the providers that init installed, in the versions of the lock file, and those of
// dev_overrides and TF_REATTACH_PROVIDERS. It starts no process. A missing provider is not an error here; see
// [Providers.Require].
func (d *Dir) OpenProviders(o PoolOptions) (*Providers, diags.Diagnostics) {
	u, ds := d.unmanaged()
	if ds.HasErrors() {
		return nil, ds
	}
	lock, more := d.readLock()
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	p := &Providers{dir: d, lock: lock, unmanaged: u, memo: d.memo()}
	unmanaged := u.set()
	locked := slices.DeleteFunc(lock.Providers(), func(a addrs.Provider) bool { return unmanaged[a] })
	p.found, _ = install.Installed(string(d.DataDir), lock, locked, p.memo)
	factories := map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) {
			c := builtin.In(o.Language, o.RemoteState)
			if o.Builtin != nil {
				c = o.Builtin(c)
			}
			return c, nil
		},
	}
	for a, s := range p.found {
		l := d.launch(a, s.Executable, o)
		l.Memory = d.schemas().Of(process.CachedPlugin{Source: a.String(), Version: s.Version.String(), Checksum: s.Hash, Environ: l.Env})
		factories[a] = l.Start
	}
	for a, dir := range u.overrides {
		if path, err := install.FindExecutable(dir, a); err == nil {
			factories[a] = d.launch(a, path, o).Start
		}
	}
	for a, r := range u.reattach {
		factories[a] = process.Reattach{
			Terraform: o.Language.Release(), Name: a.ForDisplay(), Protocol: r.Protocol, ProtocolVersion: r.ProtocolVersion, Pid: r.Pid, Test: r.Test,
			Network: r.Addr.Network(), Address: r.Addr.String(),
		}.Start
	}
	p.Pool = provider.NewPool(factories)
	return p, ds
}

// Providers is OpenProviders followed by Require. The result must be closed, unless it is nil.
func (d *Dir) Providers(reqs install.Requirements, o PoolOptions) (*Providers, diags.Diagnostics) {
	p, ds := d.OpenProviders(o)
	if ds.HasErrors() {
		return nil, ds
	}
	return p, append(ds, p.Require(reqs)...)
}

// Prestart starts the installed providers in the background, because the next operation probably needs them.
func (p *Providers) Prestart() {
	p.Pool.Prestart(slices.Collect(maps.Keys(p.found))...)
}

// Require returns an error for each required provider that is missing or has a version that is not allowed.
func (p *Providers) Require(reqs install.Requirements) diags.Diagnostics {
	ds := install.CheckLock(reqs, p.lock, p.unmanaged.set())
	if ds.HasErrors() {
		return ds
	}
	return append(ds, p.present(reqs)...)
}

// RequireAny returns an error for each required provider that is missing. Any version is accepted, so it is
// only for callers that read schemas and apply nothing.
func (p *Providers) RequireAny(reqs install.Requirements) diags.Diagnostics {
	var ds diags.Diagnostics
	unmanaged := p.unmanaged.set()
	for _, a := range slices.SortedFunc(maps.Keys(reqs), addrs.Provider.Compare) {
		if _, locked := p.lock.Lock(a); !locked && !a.IsBuiltin() && !unmanaged[a] {
			ds = append(ds, diags.Errorf(nil, "Missing required provider",
				"This configuration requires provider %s, but that provider isn't available. You may be able to install it automatically by running:\n  lockstep init", a)...)
		}
	}
	return append(ds, p.present(reqs)...)
}

// present returns an error for each required provider that is in the lock file but not installed.
func (p *Providers) present(reqs install.Requirements) (ds diags.Diagnostics) {
	var missing []addrs.Provider
	for _, a := range slices.SortedFunc(maps.Keys(reqs), addrs.Provider.Compare) {
		_, attached := p.unmanaged.reattach[a]
		dir, overridden := p.unmanaged.overrides[a]
		_, found := p.found[a]
		switch {
		case a.IsBuiltin() && a != addrs.BuiltinTerraform:
			ds = append(ds, diags.Errorf(nil, "Invalid required provider", "There is no built-in provider %s.", a)...)
		case attached, a.IsBuiltin(), found:
		case overridden:
			if _, err := install.FindExecutable(dir, a); err != nil {
				ds = append(ds, diags.FromError("Provider in development is missing", fmt.Errorf("the provider %s in development is not in the directory of dev_overrides: %w", a.ForDisplay(), err))...)
			}
		default:
			missing = append(missing, a)
		}
	}
	if len(missing) > 0 {
		_, more := install.Installed(string(p.dir.DataDir), p.lock, missing, p.memo)
		ds = append(ds, more...)
	}
	return ds
}

// Selections returns the installed providers with version and checksums, to record them in a saved plan.
func (p *Providers) Selections() map[addrs.Provider]planfile.Selection {
	out := map[addrs.Provider]planfile.Selection{}
	for a, s := range p.found {
		out[a] = planfile.Selection{Version: s.Version.String(), Hashes: p.hashes(a)}
	}
	return out
}

// Versions returns the version and the checksum of each installed provider, as one text. Digests of an earlier apply
// count only if these texts are the same now: see package digests. A provider in development is left out, because its
// program may differ in each run.
func (p *Providers) Versions() map[addrs.Provider]string {
	unmanaged := p.unmanaged.set()
	out := map[addrs.Provider]string{addrs.BuiltinTerraform: "builtin"} // part of the digests' format
	for a, s := range p.found {
		if !unmanaged[a] && s.Hash != "" {
			out[a] = s.Version.String() + " " + s.Hash
		}
	}
	return out
}

// hashes returns the known checksums of a provider's package, for this and other platforms.
func (p *Providers) hashes(a addrs.Provider) []string {
	out := []string{p.found[a].Hash}
	if locked, ok := p.lock.Lock(a); ok {
		out = append(out, locked.Hashes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SameAs returns an error if these providers differ from those that a saved plan was made with. Another version
// or another program might do something that nobody approved.
func (p *Providers) SameAs(planned map[addrs.Provider]planfile.Selection) error {
	unmanaged := p.unmanaged.set()
	for _, a := range slices.SortedFunc(maps.Keys(planned), addrs.Provider.Compare) {
		was, is := planned[a], p.found[a]
		switch {
		case unmanaged[a]:
			return fmt.Errorf("the plan was made with version %s of provider %s, and dev_overrides now replaces it", was.Version, a.ForDisplay())
		case is.Hash == "":
			return fmt.Errorf("the plan was made with provider %s %s, which is not installed; run \"lockstep init\"", a.ForDisplay(), was.Version)
		case is.Version.String() != was.Version:
			return fmt.Errorf("the plan was made with version %s of provider %s, and now version %s is selected", was.Version, a.ForDisplay(), is.Version)
		case len(was.Hashes) > 0 && !slices.ContainsFunc(p.hashes(a), func(h string) bool { return slices.Contains(was.Hashes, h) }):
			return fmt.Errorf("the package of provider %s %s differs from the one with which the plan was made", a.ForDisplay(), was.Version)
		}
	}
	return nil
}

// memo returns the cache of checksums of packages.
func (d *Dir) memo() *install.Memo {
	if d.Memo != nil {
		return d.Memo
	}
	return install.OpenMemo(d.Scratch)
}

// schemas returns the cache of provider schemas.
func (d *Dir) schemas() process.SchemaCache {
	if d.Scratch == "" {
		return process.OpenSchemaCache("")
	}
	return process.OpenSchemaCache(filepath.Join(d.Scratch, "schemas"))
}

// launch returns how to start a plugin. The plugin's environment is d.PluginEnv. The default is d.Environ,
// which contains the provider's credentials.
func (d *Dir) launch(p addrs.Provider, path string, o PoolOptions) process.Launch {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	env := d.Environ
	if d.PluginEnv != nil {
		env = d.PluginEnv
	}
	return process.Launch{
		Terraform: o.Language.Release(), Name: p.ForDisplay(), Path: abs, Env: env, Dir: d.Path,
		DisableTLS: d.Getenv("TF_DISABLE_PLUGIN_TLS") != "", Log: o.Log, LogLevel: o.LogLevel, Stderr: o.Stderr, Begin: o.Begin, Called: o.Called,
	}
}
