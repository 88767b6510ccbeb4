// Package preparing has the commands that prepare a working directory, and that show its modules and providers:
// init, get, modules, providers. Each has its own file, and a row in the table of the main package.
//
// It does not know plans. Start at [Init].
package preparing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/decoding"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// initFlags are the options of the command init.
type initFlags struct {
	backend       bool
	cloud         bool
	backendConfig cli.ListFlag
	reconfigure   bool
	migrate       bool
	forceCopy     bool
	get           bool
	upgrade       bool
	input         bool
	json          bool
	lockfileMode  string
	pluginDirs    cli.ListFlag
	locks         cli.LockFlags
	fromModule    string
	testDir       string
}

var Init = cli.Command{Name: "init", Synopsis: "Prepare the directory: backend, modules, providers", Run: func(a *cli.App, args []string) int {
	var o initFlags
	f := a.NewFlags("init", "init [OPTIONS]")
	f.BoolVar(&o.backend, "backend", true, "configure the backend")
	f.BoolVar(&o.cloud, "cloud", true, "")
	f.Var(&o.backendConfig, "backend-config", "add to the backend block: 'name=value', or a file of such lines")
	f.BoolVar(&o.reconfigure, "reconfigure", false, "configure the backend anew, without copying states")
	f.BoolVar(&o.migrate, "migrate-state", false, "copy states from the former backend")
	f.BoolVar(&o.forceCopy, "force-copy", false, "copy states without asking")
	f.Vars(&cli.VarFlags{})
	f.BoolVar(&o.get, "get", true, "install modules")
	f.BoolVar(&o.upgrade, "upgrade", false, "select the newest allowed versions")
	f.Input(&o.input)
	f.JsonStream(&o.json)
	f.StringVar(&o.lockfileMode, "lockfile", "", "\"readonly\": do not change the dependency lock file")
	f.Var(&o.pluginDirs, "plugin-dir", "use providers from this directory only")
	f.StringVar(&o.fromModule, "from-module", "", "first copy the module at this address into the empty directory")
	f.StringVar(&o.testDir, "test-directory", testfiles.DefaultDirectory, "the directory with test files")
	f.Bool("ignore-remote-version", false, "")
	f.Locking(&o.locks)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	const invalid = "Invalid init options"
	switch {
	case o.lockfileMode != "" && o.lockfileMode != "readonly":
		return f.Refuse(invalid, "The option -lockfile=%s is not valid. Write -lockfile=readonly, or remove the option.", o.lockfileMode)
	case f.Given("backend") && f.Given("cloud"):
		return f.Refuse(invalid, "The options -backend and -cloud are the same. Remove one of them.")
	case o.migrate && o.reconfigure:
		return f.Refuse(invalid, "The options -migrate-state and -reconfigure cannot be used together. Remove one of them.")
	case o.migrate && o.json:
		return f.Refuse("The -migrate-state and -json options are mutually-exclusive", "With -json, Lockstep cannot ask. Use -force-copy to copy states without a question.")
	case o.upgrade && o.lockfileMode == "readonly":
		return f.Refuse("The -upgrade flag conflicts with -lockfile=readonly.", "With -upgrade, Lockstep must change the lock file. Remove one of the two options.")
	}
	v := a.View(o.json)
	d, suite, ds := initialConfig(a, &o, v)
	if !ds.HasErrors() {
		ds = append(ds, diags.FromError("Error saving -plugin-dir values", d.RecordPluginDirs(o.pluginDirs))...)
	}
	empty := !ds.HasErrors() && suite.Empty()
	if !ds.HasErrors() && !empty {
		ds = initDir(a, d, suite, ds, &o, v)
	}
	if !ds.HasErrors() {
		ds = append(ds, diags.FromError("Variables cannot be recorded", d.RecordPrepared())...)
	}
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	if empty {
		v.Step(render.InitEmpty, "Lockstep initialized in an empty directory!\n\nThe directory has no configuration files. You may begin working by creating some.\n")
		return 0
	}
	v.Step(render.InitSuccess, "\n%s\n", a.Print().Bold("Lockstep has been successfully initialized!"))
	if !a.InAutomation() {
		v.Step(render.InitSuccessAdvice, "\nYou may now begin working: \"lockstep plan\" shows what would change.\nIf you change modules or the backend, run \"lockstep init\" again.\n")
	}
	return 0
}}

// initialConfig opens the working directory, copies a module into it if -from-module is given, and
// reads the configuration.
func initialConfig(a *cli.App, o *initFlags, v cli.View) (*workdir.Dir, *testfiles.Suite, diags.Diagnostics) {
	d, ds := a.Dir()
	d.Preparing = true
	if o.fromModule != "" && !ds.HasErrors() {
		ds = append(ds, copyModule(a, d, o.fromModule, v)...)
	}
	if ds.HasErrors() {
		return d, nil, ds
	}
	suite, more := survey(a, d, o.testDir, o.get)
	if suite != nil && suite.Empty() {
		more = nil // there may be none
	}
	return d, suite, append(ds, more...)
}

// initDir prepares the working directory d. suite is its configuration. ds are the diagnostics from reading
// that configuration.
func initDir(a *cli.App, d *workdir.Dir, suite *testfiles.Suite, ds diags.Diagnostics, o *initFlags, v cli.View) diags.Diagnostics {
	var more diags.Diagnostics
	var state *states.State
	if o.backend && o.cloud {
		v.Step(render.InitBackend, "\n%s\n", a.Print().Bold("Initializing the backend..."))
		more = initBackend(a, d, suite.Config, o, v)
		if ds = append(ds, more...); more.HasErrors() {
			return ds
		}
	}
	if o.get && suite.Calls() {
		if o.upgrade {
			v.Step(render.InitUpgrade, "%s\n", a.Print().Bold("Upgrading modules..."))
		} else {
			v.Step(render.InitModules, "%s\n", a.Print().Bold("Initializing modules..."))
		}
		// ds is not kept: installModules reads the configuration once more and returns the same diagnostics.
		events := func(e installing.Event) { v.Say("%s\n", e) }
		if suite, ds = installModules(a, d, o.testDir, moduleOptions{Upgrade: o.upgrade, Events: events}); ds.HasErrors() {
			return ds
		}
	}
	// presentState reads the backend that the last init recorded, even with -backend=false.
	if state, more = presentState(a, d, suite.Config); more.HasErrors() {
		return append(ds, more...)
	}
	ds = append(ds, d.DevelopmentWarning("Skip init when using provider development overrides: it is not necessary, and may fail since it installs a release of the provider, which is then not used.")...)
	reqs, more := requirements(suite, state)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	v.Step(render.InitProviders, "\n%s\n", a.Print().Bold("Initializing provider plugins..."))
	res, more := d.Install(a.Ctx, reqs, workdir.InstallOptions{
		Upgrade: o.upgrade, ReadOnly: o.lockfileMode == "readonly", PluginDirs: a.Paths(o.pluginDirs),
		Events: v.Installs,
	})
	ds = append(ds, more...)
	if ds.HasErrors() || !res.Changed || o.lockfileMode == "readonly" {
		return ds
	}
	ds = append(ds, localChecksums(res.LocalChecksums)...)
	if res.First {
		v.Step(render.InitLockCreated, "\nLockstep has recorded the provider selections in the lock file\n.terraform.lock.hcl. Include this file in your version control repository,\nso that the same selections are made from then on.\n")
	} else {
		v.Step(render.InitLockChanged, "\nLockstep has changed the provider selections in the lock file\n.terraform.lock.hcl. Look through the changes, and commit them to your version\ncontrol repository if they are as intended.\n")
	}
	return ds
}

// survey reads the configuration as far as its modules are installed. If install is set, missing modules are no
// errors, because init will install them.
func survey(a *cli.App, d *workdir.Dir, testDir string, install bool) (*testfiles.Suite, diags.Diagnostics) {
	if !install {
		suite, ds := d.LoadTests("", testDir)
		a.Remember(suite)
		return suite, beforeInit(ds)
	}
	suite, ds := testfiles.Load(loading.Input{Tree: source.Dir(d.Path), Early: d.Early(), Language: d.Language(), Budget: a.Budget, Install: func(loading.Wanted) (source.Installed, diags.Diagnostics) {
		return source.Installed{}, diags.Reported()
	}}, testDir)
	a.Remember(suite)
	return suite, beforeInit(ds.Unreported())
}

// requirements returns the providers that the configuration, the modules run by its tests, and the state need.
func requirements(suite *testfiles.Suite, state *states.State) (install.Requirements, diags.Diagnostics) {
	out, ds := workdir.Requirements(suite.Config, state)
	for _, r := range suite.Called() {
		own, more := workdir.Requirements(r.Config, nil)
		ds = append(ds, more...)
		for p, versions := range own {
			out[p] = append(out[p], versions...)
		}
	}
	return out, ds
}

// beforeInit returns the diagnostics that stop init. It leaves out the errors that Terraform reports only in
// `validate`, not in `init`.
func beforeInit(ds diags.Diagnostics) diags.Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool {
		return d.Late && d.Summary != decoding.OtherVersion
	})
}

// installModules installs the modules that the configuration and its tests call, and records them.
func installModules(a *cli.App, d *workdir.Dir, testDir string, o moduleOptions) (*testfiles.Suite, diags.Diagnostics) {
	suite, ds := moduleInstaller(d, o).InstallWithTests(a.Ctx, testDir)
	a.Remember(suite)
	return suite, append(beforeInit(ds), diags.FromError("Modules cannot be recorded", d.WriteModules(suite.Manifest()))...)
}

// localChecksums returns a warning about providers whose packages are not signed. On a machine of another
// platform, init will refuse these providers, because the lock file has no checksum of the package for that
// platform.
func localChecksums(list []addrs.Provider) diags.Diagnostics {
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "\n  - %s", p.ForDisplay())
	}
	return diags.Warningf(nil, "Incomplete lock file information for providers",
		"Lockstep installed these providers from a mirror, without signed checksums:%s\n\nThe lock file has only the checksums of their packages for %s. To use these providers on other platforms, run \"lockstep providers lock -platform=OS_ARCH\" for each platform.", b.String(), install.CurrentPlatform())
}

// presentState returns the state that is stored now. init also installs the providers that this state needs.
func presentState(a *cli.App, d *workdir.Dir, cfg *config.Config) (*states.State, diags.Diagnostics) {
	recorded, err := d.Recorded()
	if err != nil {
		return nil, diags.FromError("Backend initialization required", err)
	}
	b, ds := d.OpenBackend(a.Ctx, cfg, recorded, workdir.LocalPaths{})
	if ds.HasErrors() {
		return nil, ds
	}
	return stateIn(a.Ctx, b, d.Workspace())
}

// stateIn reads the state of a workspace in a backend.
func stateIn(ctx context.Context, b statebackend.Backend, workspace string) (*states.State, diags.Diagnostics) {
	st, ds := workdir.OpenState(b, workspace)
	if ds.HasErrors() {
		return nil, ds
	}
	ds = st.Read(ctx)
	return st.Current, ds
}
