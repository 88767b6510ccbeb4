package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// initFlags are init's options.
type initFlags struct {
	backend       bool
	cloud         bool
	backendConfig listFlag
	reconfigure   bool
	migrate       bool
	forceCopy     bool
	get           bool
	upgrade       bool
	input         bool
	json          bool
	lockfileMode  string
	pluginDirs    listFlag
	locks         lockFlags
	fromModule    string
}

var initCommand = command{name: "init", synopsis: "Prepare the directory: backend, modules, providers", main: true, run: func(a *app, args []string) int {
	var o initFlags
	f := a.newFlags("init", "init [OPTIONS]")
	f.BoolVar(&o.backend, "backend", true, "configure the backend")
	f.BoolVar(&o.cloud, "cloud", true, "")
	f.Var(&o.backendConfig, "backend-config", "add to the backend block: 'name=value', or a file")
	f.BoolVar(&o.reconfigure, "reconfigure", false, "take the backend block as it is, copying no states")
	f.BoolVar(&o.migrate, "migrate-state", false, "copy states from the former backend")
	f.BoolVar(&o.forceCopy, "force-copy", false, "copy states without asking")
	f.vars(&varFlags{})
	f.BoolVar(&o.get, "get", true, "install modules")
	f.BoolVar(&o.upgrade, "upgrade", false, "select the newest versions allowed")
	f.input(&o.input)
	f.jsonStream(&o.json)
	f.StringVar(&o.lockfileMode, "lockfile", "", "\"readonly\": do not change the dependency lock file")
	f.Var(&o.pluginDirs, "plugin-dir", "take providers from this directory only")
	f.StringVar(&o.fromModule, "from-module", "", "first copy the module at this address into the empty directory")
	f.String("test-directory", "tests", "")
	f.Bool("ignore-remote-version", false, "")
	f.locking(&o.locks)
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	const invalid = "Invalid init options"
	switch {
	case o.lockfileMode != "" && o.lockfileMode != "readonly":
		return f.refuse(invalid, "-lockfile=%s: only \"readonly\" is possible", o.lockfileMode)
	case f.given("backend") && f.given("cloud"):
		return f.refuse(invalid, "-backend and -cloud are two names for the same option: use one of them")
	case o.migrate && o.reconfigure:
		return f.refuse(invalid, "-migrate-state and -reconfigure exclude each other")
	case o.migrate && o.json:
		return f.refuse("The -migrate-state and -json options are mutually-exclusive", "nobody can be asked where -json is given: use -force-copy to copy states without asking")
	case o.upgrade && o.lockfileMode == "readonly":
		return f.refuse("The -upgrade flag conflicts with -lockfile=readonly.", "-upgrade selects other versions, which cannot be recorded: use one of the two")
	}
	v := a.view(o.json)
	d, cfg, ds := a.initialConfig(&o, v)
	empty := !ds.HasErrors() && cfg.Empty()
	if !ds.HasErrors() && !empty {
		ds = a.initDir(d, cfg, ds, &o, v)
	}
	v.diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	if empty {
		v.step(render.InitEmpty, "Lockstep initialized in an empty directory!\n\nThe directory has no configuration files. You may begin working by creating some.\n")
		return 0
	}
	v.step(render.InitSuccess, "\n%s\n", a.print().Bold("Lockstep has been successfully initialized!"))
	if !a.inAutomation() {
		v.step(render.InitSuccessAdvice, "\nYou may now begin working: \"lockstep plan\" shows what would change.\nIf you change modules or the backend, run \"lockstep init\" again.\n")
	}
	return 0
}}

// initialConfig opens the working directory, copies a module into it if that is asked for,
// and reads what configuration there is.
func (a *app) initialConfig(o *initFlags, v view) (*workdir.Dir, *config.Config, diags.Diagnostics) {
	d, ds := a.dir()
	if o.fromModule != "" && !ds.HasErrors() {
		ds = append(ds, a.copyModule(d, o.fromModule, v)...)
	}
	if ds.HasErrors() {
		return d, nil, ds
	}
	cfg, more := a.survey(d, o.get)
	if cfg != nil && cfg.Empty() {
		more = nil // there may be none
	}
	return d, cfg, append(ds, more...)
}

// initDir prepares a working directory whose configuration was read, with diagnostics ds.
func (a *app) initDir(d *workdir.Dir, cfg *config.Config, ds diags.Diagnostics, o *initFlags, v view) diags.Diagnostics {
	var more diags.Diagnostics
	var state *states.State
	if o.backend && o.cloud {
		v.step(render.InitBackend, "\n%s\n", a.print().Bold("Initializing the backend..."))
		more = a.initBackend(d, cfg, o, v)
		if ds = append(ds, more...); more.HasErrors() {
			return ds
		}
	}
	if o.get && len(cfg.Root.Calls) > 0 {
		if o.upgrade {
			v.step(render.InitUpgrade, "%s\n", a.print().Bold("Upgrading modules..."))
		} else {
			v.step(render.InitModules, "%s\n", a.print().Bold("Initializing modules..."))
		}
		// What the survey said comes again.
		if cfg, ds = a.installModules(d, o.upgrade, func(e installing.Event) { v.say("%s\n", e) }); ds.HasErrors() {
			return ds
		}
	}
	// Without -backend, what was recorded before counts.
	if state, more = a.presentState(d); more.HasErrors() {
		return append(ds, more...)
	}
	ds = append(ds, d.DevelopmentWarning("They are not installed, and need no init.")...)
	reqs, more := workdir.Requirements(cfg, state)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	v.step(render.InitProviders, "\n%s\n", a.print().Bold("Initializing provider plugins..."))
	res, more := d.Install(a.ctx, reqs, workdir.InstallOptions{
		Upgrade: o.upgrade, ReadOnly: o.lockfileMode == "readonly", PluginDirs: a.paths(o.pluginDirs),
		Events: v.installs,
	})
	ds = append(ds, more...)
	if ds.HasErrors() || !res.Changed || o.lockfileMode == "readonly" {
		return ds
	}
	ds = append(ds, localChecksums(res.LocalChecksums)...)
	if res.First {
		v.step(render.InitLockCreated, "\nLockstep has recorded the provider selections in the lock file\n.terraform.lock.hcl. Include this file in your version control repository,\nso that the same selections are made from then on.\n")
	} else {
		v.step(render.InitLockChanged, "\nLockstep has changed the provider selections in the lock file\n.terraform.lock.hcl. Look through the changes, and commit them to your version\ncontrol repository if they are what you meant.\n")
	}
	return ds
}

// survey reads the configuration as far as it is here; modules that are not installed
// yet are no errors if they are going to be.
func (a *app) survey(d *workdir.Dir, install bool) (*config.Config, diags.Diagnostics) {
	if !install {
		cfg, ds := a.loadFrom(d)
		return cfg, beforeInit(ds)
	}
	cfg, ds := config.Load(config.Input{Tree: source.Dir(d.Path), Early: d.Early(), Budget: a.budget, Install: func(config.Wanted) (source.Installed, diags.Diagnostics) {
		return source.Installed{}, diags.Reported()
	}})
	maps.Copy(a.files, cfg.Files)
	return cfg, beforeInit(ds.Unreported())
}

// beforeInit returns the diagnostics of a configuration that stop init: not those that the stock
// tool finds when it validates, but for that about the version of the language.
func beforeInit(ds diags.Diagnostics) diags.Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool {
		return d.Late && d.Summary != config.OtherVersion
	})
}

// installModules brings the modules that the configuration calls to disk, and records
// them.
func (a *app) installModules(d *workdir.Dir, upgrade bool, events func(installing.Event)) (*config.Config, diags.Diagnostics) {
	in := modules.CommandLine(d, modules.Options{Upgrade: upgrade, Events: events})
	cfg, ds := in.Install(a.ctx)
	maps.Copy(a.files, cfg.Files)
	return cfg, append(beforeInit(ds), diags.FromError("Modules cannot be recorded", d.WriteModules(cfg))...)
}

// localChecksums warns of providers that init on another platform will refuse,
// because nobody has signed for their packages.
func localChecksums(list []addrs.Provider) diags.Diagnostics {
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "\n  - %s", p.ForDisplay())
	}
	return diags.Warningf(nil, "Incomplete lock file information for providers",
		"These providers came without signed checksums, as they do from mirrors:%s\n\nThe lock file has only the checksums of their packages for %s, computed here: on other platforms \"lockstep init\" will not accept them until their checksums are added there, too, as \"lockstep providers lock -platform=OS_ARCH\" does.", b.String(), install.CurrentPlatform())
}

// presentState returns the state as it is, to know which providers it needs.
func (a *app) presentState(d *workdir.Dir) (*states.State, diags.Diagnostics) {
	b, _, ds := d.Backend(a.ctx, nil, workdir.LocalPaths{})
	if ds.HasErrors() {
		return nil, ds
	}
	return stateIn(a.ctx, b, d.Workspace())
}

// stateIn reads the state of a workspace.
func stateIn(ctx context.Context, b statebackend.Backend, workspace string) (*states.State, diags.Diagnostics) {
	st, ds := workdir.OpenState(b, workspace)
	if ds.HasErrors() {
		return nil, ds
	}
	ds = st.Read(ctx)
	return st.Current, ds
}

// initBackend compares the backend block with what is recorded, and records it.
func (a *app) initBackend(d *workdir.Dir, cfg *config.Config, o *initFlags, v view) diags.Diagnostics {
	var overrides map[string]any
	var ds diags.Diagnostics
	if cfg.Root.Backend == nil && len(o.backendConfig) > 0 {
		ds = diags.Warningf(nil, "Missing backend configuration", missingBackend)
	} else if overrides, ds = a.backendOverrides(o.backendConfig); ds.HasErrors() {
		return ds
	}
	want, more := workdir.Configured(cfg.Root.Backend, overrides)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	old, err := d.Recorded()
	if err != nil && !o.reconfigure {
		return append(ds, diags.FromError("Backend record is damaged", err)...)
	}
	if want.Same(old) || !o.reconfigure && len(o.backendConfig) == 0 && want.Follows(old) {
		return ds
	}
	if old != nil && !o.reconfigure && !o.migrate && !o.forceCopy && !a.mayAsk(o.input) {
		return append(ds, diags.Errorf(nil, "Backend configuration changed",
			"The backend (%q) is not the one that the directory was initialized with (%q). Use -migrate-state to copy the states to the new backend (with -force-copy, where nobody can be asked), or -reconfigure to leave them where they are.", want.Name(), old.Name())...)
	}
	if old != nil && !o.reconfigure && !o.migrate && !o.forceCopy {
		return append(ds, diags.Errorf(nil, "Backend configuration changed",
			"The backend is another than the one that this directory was initialized with (%q). Use -migrate-state to copy the states from there (with -force-copy, where nobody can be asked), or -reconfigure to leave them where they are.", old.Name())...)
	}
	// Opening it checks the attributes before anything is recorded.
	to, more := d.OpenBackend(a.ctx, want, workdir.LocalPaths{})
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if more := a.reachable(to, d.Workspace()); more.HasErrors() {
		return append(ds, more...) // what cannot be read is not worth remembering
	}
	if !o.reconfigure {
		from, more := d.OpenBackend(a.ctx, old, workdir.LocalPaths{})
		if ds = append(ds, more...); ds.HasErrors() {
			return ds
		}
		m := migration{a: a, from: from, to: to, old: old, want: want, o: o, v: v}
		if ds = append(ds, m.run()...); ds.HasErrors() {
			return ds
		}
	}
	if err := d.Remember(want); err != nil {
		return append(ds, diags.FromError("Backend cannot be recorded", err)...)
	}
	if want != nil {
		v.say("\nSuccessfully configured the backend %q! Lockstep will automatically\nuse this backend unless the backend configuration changes.\n", want.Type)
	} else if old != nil {
		v.say("\nSuccessfully unset the backend %q. States are kept in this directory from now on.\n", old.Type)
	}
	return ds
}

const missingBackend = "-backend-config was used without a \"backend\" block in the configuration.\n\nIf you intended to override the default local backend configuration, no action is required, but you may add an explicit backend block to your configuration to clear this warning:\n\nterraform {\n  backend \"local\" {}\n}"

// backendOverrides reads -backend-config: assignments and files of them. An empty one
// says that the backend block is meant as it is, without what was given before.
func (a *app) backendOverrides(given []string) (map[string]any, diags.Diagnostics) {
	out := map[string]any{}
	var ds diags.Diagnostics
	for _, g := range given {
		if g == "" {
			continue
		}
		if name, value, ok := strings.Cut(g, "="); ok && !strings.ContainsAny(name, "/\\.") {
			v, more := backendValue(name, value)
			ds = append(ds, more...)
			out[name] = v
			continue
		}
		src, err := os.ReadFile(a.path(g))
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Failed to read file", "The file %s given with -backend-config cannot be read: %s.", g, reason(err))...)
			continue
		}
		values, more := workdir.ParseAttributes(g, src)
		ds = append(ds, more...)
		for k, x := range values {
			out[k] = x
		}
	}
	return out, ds
}

// backendValue reads a value of the command line: an expression for lists and maps,
// else text.
func backendValue(name, s string) (any, diags.Diagnostics) {
	if text := strings.TrimSpace(s); strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		values, ds := workdir.ParseAttributes("<value of -backend-config="+name+">", []byte(name+" = "+text))
		return values[name], ds
	}
	return s, nil
}
