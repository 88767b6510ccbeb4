package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/remotestates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// A checkout is a job's project in a checkout of the repository, with the operation on the project's state.
type checkout struct {
	operation.Operation
	engine *Engine
	job    jobs.Job
	root   *os.Root             // the whole repository
	window *window              // the part of root that file functions see
	values map[string]*hcl.File // variable files, by name
	env    []string             // the environment of plugins, without secrets
	vault  secretVariables
	remote *remotestates.Reader // reads states of other configurations; nil for none
	moved  []string             // modules that differ from those of the plan to apply
	unread bool                 // the state could not be read at the last attempt
	edited *editing             // the changed lines of the pull request; nil until they are needed
	unit   *unit                // the prepared unit of Terragrunt; nil if the directory is none
	// schemas is set if providers are needed only for their schemas.
	schemas bool

	teller  *teller // reports the plan's progress; nil if nobody wants to know
	log     providerLog
	calls   calls
	options options          // of the plan
	suite   *testfiles.Suite // with the tests; nil for any other job

	ciphers ciphers

	merged  merged
	present jobs.BeforeApply // parts of the plan to apply that have changed, without the state
}

// open opens the checkout and reads the configuration in it. Files outside of the checkout are never read, even
// if a module source or a symbolic link leads to one.
func (e *Engine) open(ctx context.Context, j jobs.Job, modules bool) (*checkout, diags.Diagnostics, error) {
	o := &checkout{engine: e, job: j, values: map[string]*hcl.File{}}
	o.Workspace, o.Language, o.Journaled = j.Workspace, j.Language, true
	if o.Budget = budget.From(ctx); o.Budget == nil {
		o.Budget = budget.Pipeline(usualMemory)
	}
	o.OnClose(o.Budget.Watch(ctx, engine.StepsToEnd))
	var err error
	// The path must be absolute, because the window for file functions uses absolute names.
	if o.job.Checkout, err = filepath.Abs(j.Checkout); err != nil {
		return o, nil, err
	}
	if o.root, err = os.OpenRoot(o.job.Checkout); err != nil {
		return o, nil, err
	}
	o.OnClose(func() { o.root.Close() })
	o.window = openWindow(o.root)
	var ds diags.Diagnostics
	if o.vault, ds = e.vault(ctx, j); ds.HasErrors() {
		return o, ds, nil
	}
	if ds, err = o.prepareUnit(ctx); err != nil || ds.HasErrors() {
		return o, ds, err
	}
	cfg, ds, err := o.load(ctx, modules)
	o.Config = cfg
	if j.Access == jobs.Reads && j.Snapshot == nil {
		ds = append(ds, o.ciphers.proposed(o, cfg)...)
	}
	if err != nil || ds.HasErrors() || j.Access == jobs.Tests {
		return o, ds, err
	}
	ds = append(ds, o.refuseProvisioners()...)
	vars, more := o.collect(ctx)
	o.Variables = vars
	ds = append(ds, more...)
	o.options, more = optionsOf(j.Options)
	return o, append(ds, more...), nil
}

// usualMemory is the default limit of the memory for evaluating expressions in a run, in bytes.
const usualMemory = 1 << 30

// load reads the configuration. If modules is set, it first installs the remote modules that the configuration
// calls.
func (o *checkout) load(ctx context.Context, modules bool) (*config.Config, diags.Diagnostics, error) {
	if o.job.Access == jobs.Tests {
		return o.loadTests(ctx)
	}
	cfg, ds, err := o.loadFrom(ctx, commanded(source.FS(o.root.FS(), o.job.Dir), o.job.Options), modules)
	if cfg != nil {
		markTyped(cfg)
	}
	return cfg, ds, err
}

func (o *checkout) loadFrom(ctx context.Context, tree source.Tree, modules bool) (*config.Config, diags.Diagnostics, error) {
	if o.engine.Modules == nil || !modules {
		cfg, ds := loading.Load(loading.Input{Tree: tree, Early: o.early(), Queries: o.job.Queries, Language: o.job.Language, Budget: o.Budget})
		return cfg, ds, nil
	}
	if problem := o.removeModules(); problem.HasErrors() {
		cfg, ds := loading.Load(loading.Input{Tree: tree, Early: o.early(), Queries: o.job.Queries, Language: o.job.Language, Budget: o.Budget})
		return cfg, append(ds, problem...), nil
	}
	return o.engine.Modules(budget.With(ctx, o.Budget), o.job, o.dir(), tree, o.early(), o.vault.token, moduleEnv(o))
}

// removeModules removes the directory for installed modules from the checkout, because a repository may contain
// anything there.
func (o *checkout) removeModules() diags.Diagnostics {
	if err := o.root.RemoveAll(path.Join(o.job.Dir, dataDir)); err != nil {
		return diags.FromError("Modules cannot be installed", err)
	}
	return nil
}

// moduleEnv returns a function with the environment variables of plugins, which is needed to read modules in
// buckets.
func moduleEnv(o *checkout) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		if !rights(o) {
			return nil, errors.New("the plan of a fork's commit and tests have no credentials, and buckets are read with credentials only")
		}
		env, ds := o.environment(ctx)
		o.env = env
		return env, ds.Err()
	}
}

// refuseProvisioners returns errors for provisioners in the configuration, because they run commands. If the
// base branch allows provisioners, it returns none.
func (o *checkout) refuseProvisioners() diags.Diagnostics {
	if o.job.Grants.Provisioners {
		return nil
	}
	var ds diags.Diagnostics
	refuse := func(at hcl.Range, what fmt.Stringer, list []*config.Provisioner) {
		for _, p := range list {
			ds = append(ds, diags.Errorf(&at, "Provisioners are not allowed",
				"%s has the provisioner %q. Provisioners run commands, which a pull request must not. If they are to be allowed here, set provisioners = true in the allow block of lockstep.hcl on the base branch.", what, p.Type)...)
		}
	}
	byAddress := func(a, b addrs.Resource) int { return cmp.Compare(a.String(), b.String()) }
	for _, m := range o.Config.Order {
		for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), byAddress) {
			refuse(m.Resources[addr].Range, addr, m.Resources[addr].Provisioners)
		}
		for _, r := range m.Removed {
			refuse(r.Range, r.From, r.Provisioners)
		}
	}
	return ds
}

// early returns the evaluator for expressions that are needed to load the configuration. In it, path.cwd is
// unknown, because it differs in every run.
func (o *checkout) early() loading.Early { return early.New(o.earlyInput()) }

func (o *checkout) earlyInput() early.Input {
	return early.Input{Workspace: o.job.Workspace, BaseDir: o.dir(), Files: o.window, Budget: o.Budget, Sources: func() []inputs.Source {
		sources, _ := o.sources() // Errors in the variable files are reported when the variables are collected.
		return sources
	}}
}

// collect returns the values of the root variables from all sources.
func (o *checkout) collect(ctx context.Context) (map[string]cty.Value, diags.Diagnostics) {
	outputs, found := linked(ctx, o, o.job.Access == jobs.Reads)
	sources, ds := o.sources(outputs)
	if ds.HasErrors() && sources == nil {
		return nil, ds
	}
	vars, more := inputs.Values(o.Config.Root.Content, sources)
	ds = append(append(ds, found...), more...)
	return vars, append(ds, append(withoutSecrets(o.Config.Root.Content, o.job.Options.Variables), o.vault.uncovered(o.Config.Root.Content)...)...)
}

// sources returns the sources of the root variables' values. Lockstep's own environment variables are no
// source. linked are outputs of other projects.
func (o *checkout) sources(linked ...inputs.Source) ([]inputs.Source, diags.Diagnostics) {
	return o.sourcesWith(nil, linked...)
}

// sourcesWith is like [checkout.sources]. It also uses the automatically loaded variable files in dirs, which
// are relative to the project's directory.
func (o *checkout) sourcesWith(dirs []string, linked ...inputs.Source) ([]inputs.Source, diags.Diagnostics) {
	if o.unit != nil {
		for _, v := range o.unit.given {
			s, more := inputs.Option(v)
			if more.HasErrors() {
				return nil, more
			}
			linked = append(linked, s)
		}
	}
	all, files, ds := variableSources(o.root.FS(), o.job, o.Budget.Limits(), dirs, linked...)
	maps.Copy(o.values, files)
	if all == nil {
		return nil, ds
	}
	if o.unit != nil {
		all = slices.Insert(all, 0, o.unit.source())
	}
	return append(all, o.vault.source()), ds
}

// files returns the files whose lines diagnostics may quote.
func (o *checkout) files() map[string]*hcl.File {
	all := maps.Clone(o.values)
	maps.Copy(all, o.ciphers.Files)
	maps.Copy(all, o.suiteFiles())
	if o.Config != nil {
		maps.Copy(all, o.Config.Files)
	}
	return all
}

// dir returns the project's directory on this machine.
func (o *checkout) dir() string {
	return filepath.Join(o.job.Checkout, filepath.FromSlash(o.job.Dir))
}

// run returns the settings of a run of the engine. ctx limits the commands of provisioners.
func (o *checkout) run(ctx context.Context) engine.Run {
	r := o.Run()
	r.WorkingDir, r.Files, r.Unkept = o.dir(), o.window, o.vault.variables()
	r.ProviderParallelism = o.job.ProviderLimits()
	if o.job.Grants.Provisioners {
		r.LocalExec = o.commands(ctx)
	}
	return r
}
