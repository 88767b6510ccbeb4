package executor

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/remotestates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// providers makes available those providers that the configuration and the present state need, if the base branch
// grants all of them. The state adopts the addresses of the configuration first. Nothing is installed before the
// grants are checked. No provider is started if its checksum is not the granted one. Closing the operation stops the
// providers.
func (o *checkout) providers(ctx context.Context) diags.Diagnostics {
	o.Adopt()
	reqs, ds := workdir.Requirements(o.Config, o.State.Current)
	if ds.HasErrors() {
		return ds
	}
	return append(ds, o.require(ctx, reqs)...)
}

// require is like [checkout.providers], for the given requirements.
func (o *checkout) require(ctx context.Context, reqs install.Requirements) (ds diags.Diagnostics) {
	lock, plugins, more := o.granted(reqs)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	d, more := o.workdir()
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	d.Scratch, d.Lock, d.PluginEnv = "", lock, []string{}
	d.Memo = install.NewMemo() // In this run, each package is read once, not twice.
	if plugins {
		if ds = append(ds, o.install(ctx, d, reqs)...); ds.HasErrors() {
			return ds
		}
	}
	remote := remotestates.Uses(o.Config)
	if ds = append(ds, checkOffline(o, plugins)...); ds.HasErrors() {
		return ds
	}
	if plugins || remote || o.job.Grants.Provisioners {
		if o.env, more = o.environment(ctx); more.HasErrors() {
			return append(ds, more...)
		}
		d.PluginEnv = slices.Concat(o.env, o.vault.env())
	}
	options := workdir.PoolOptions{Begin: o.engine.Begin, Called: o.calls.add, Builtin: o.engine.Builtin}
	if o.job.Progress != nil {
		d.PluginEnv = append([]string{logLevel}, d.PluginEnv...) // another level in the environment wins
		options.Stderr = o.log.process
	}
	if !rights(o) {
		options.RemoteState = noRemoteState
	} else if remote {
		options.RemoteState = readerOf(o).Read
	}
	calls, end, grace := jobs.CallingContext(ctx, o.job)
	o.OnClose(end)
	ds = append(ds, o.OpenProviders(calls, d, options, grace)...)
	if ds.HasErrors() {
		return ds
	}
	more = o.Providers.Require(reqs)
	if more.HasErrors() {
		o.Providers = nil // No provider may be started for its schema.
	}
	return append(ds, more...)
}

// workdir opens the project's directory with the settings of the engine, but without Lockstep's environment
// variables.
func (o *checkout) workdir() (*workdir.Dir, diags.Diagnostics) {
	env := machineEnv(o.engine.DataDir)
	if o.engine.CLIConfig != "" {
		env = append(env, "TF_CLI_CONFIG_FILE="+o.engine.CLIConfig)
	}
	env = append(env, o.vault.tokens()...)
	d, ds := workdir.Open(o.dir(), env)
	if ds.HasErrors() {
		return nil, ds
	}
	if len(d.CLI.Overrides) > 0 {
		return nil, append(ds, diags.Errorf(nil, "Providers in development are not used here", "The CLI configuration of this Lockstep installation has dev_overrides. Such providers cannot be verified by checksums: its operator has to remove them.")...)
	}
	return d, ds
}

// machineEnv returns the environment variables for opening a working directory. It contains only settings of
// the engine, and nothing from the environment of this process.
func machineEnv(dataDir string) []string {
	if dataDir == "" {
		dataDir = os.DevNull + "/none" // nothing can exist there
	}
	return []string{"TF_DATA_DIR=" + dataDir, "TF_CLI_CONFIG_FILE=" + os.DevNull}
}

// granted returns those entries of the checkout's dependency lock file that the base branch grants. plugins is
// false if nothing must be installed.
func (o *checkout) granted(reqs install.Requirements) (lock *lockfile.File, plugins bool, ds diags.Diagnostics) {
	own, ds := lockfile.Parse(o.lockFile(), path.Join(o.job.Dir, lockfile.Name))
	if ds.HasErrors() {
		return nil, false, ds
	}
	lock = &lockfile.File{}
	o.engine.recall()
	for _, p := range slices.SortedFunc(maps.Keys(reqs), addrs.Provider.Compare) {
		if p.IsBuiltin() {
			continue
		}
		plugins = true
		wanted, _ := own.Lock(p)
		l, err := o.job.Grants.Provider(p, wanted)
		if err != nil {
			ds = append(ds, diags.Errorf(o.user(p), "Provider is not allowed", "%s.", capital(err.Error()))...)
			continue
		}
		if l.Version != (constraint.Version{}) {
			lock.Set(p, o.engine.verified.add(p, l))
		}
	}
	return lock, plugins, ds
}

// user returns the place of a resource in the configuration that needs the provider p. It returns nil if only
// the state has such a resource.
func (o *checkout) user(p addrs.Provider) *hcl.Range {
	for _, m := range o.Config.Order {
		var first *config.Resource
		for _, r := range m.Resources {
			if m.ResourceProvider(r).Provider == p && (first == nil || cmp.Or(cmp.Compare(r.Range.Filename, first.Range.Filename), r.Range.Start.Byte-first.Range.Start.Byte) < 0) {
				first = r
			}
		}
		if first != nil {
			return &first.Range
		}
	}
	return nil
}

// install installs the granted providers in the data directory. It replaces the lock file of d by the granted
// entries.
func (o *checkout) install(ctx context.Context, d *workdir.Dir, reqs install.Requirements) diags.Diagnostics {
	if o.engine.DataDir == "" {
		return diags.Errorf(nil, "Providers cannot be installed", "This Lockstep installation has no directory for providers: its operator has to set one.")
	}
	limit := cmp.Or(o.engine.InstallTimeout, installTimeout)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	options := workdir.InstallOptions{Store: o.engine.Store, Keep: o.engine.Keep, Room: o.engine.Room, Remedy: jobs.TokenRemedy, Transport: o.engine.Registries}
	if o.engine.Mirror != "" {
		options.PluginDirs = []string{o.engine.Mirror}
	}
	res, ds := d.Install(ctx, reqs, options)
	if ctx.Err() != nil {
		return diags.Errorf(nil, "Installing providers took too long", "The installation was stopped after %s. Plan again: the providers installed so far are kept.", limit)
	}
	if ds.HasErrors() {
		return ds
	}
	o.engine.recall()
	for p := range res.Selections {
		granted, _ := d.Lock.Lock(p)
		now, _ := res.Lock.Lock(p)
		o.engine.verified.remember(p, granted, now)
	}
	o.engine.handOn()
	d.Lock = res.Lock
	return ds
}

// environment returns the environment variables of plugins. It stores them in the checkout, because loading
// modules from a bucket may need them before any plugin does.
func (o *checkout) environment(ctx context.Context) ([]string, diags.Diagnostics) {
	if o.env != nil {
		return o.env, nil
	}
	if o.engine.PluginEnv == nil {
		return []string{}, nil
	}
	env, err := o.engine.PluginEnv(ctx, o.job)
	if err != nil {
		return nil, diags.FromError("No credentials for the project", err)
	}
	if !rights(o) {
		env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return !strings.HasPrefix(kv, "TMPDIR=") })
	}
	return slices.Concat([]string{}, env), nil
}

// lockFile returns the checkout's dependency lock file; nil if there is none.
func (o *checkout) lockFile() []byte {
	data, err := fs.ReadFile(o.root.FS(), path.Join(o.job.Dir, lockfile.Name))
	if err != nil {
		return nil
	}
	return data
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(s[n:], ".")
}
