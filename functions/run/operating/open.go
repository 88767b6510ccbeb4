package operating

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// operation is a project with everything open that planning and applying need.
type operation struct {
	engine    *Engine
	job       run.Job
	root      *os.Root // the checkout
	cfg       *config.Config
	variables map[string]cty.Value
	settings  *workdir.Settings
	state     *workdir.State
	pool      *workdir.Providers
	closers   []func()
}

func (o *operation) close() {
	for _, f := range slices.Backward(o.closers) {
		f()
	}
}

// open opens the checkout and reads the configuration through it: whatever path a
// module source or a symbolic link names, nothing outside is read.
func (e *Engine) open(j run.Job) (*operation, diags.Diagnostics, error) {
	o := &operation{engine: e, job: j}
	var err error
	// The window of file functions goes by absolute names.
	if o.job.Checkout, err = filepath.Abs(j.Checkout); err != nil {
		return o, nil, err
	}
	if o.root, err = os.OpenRoot(o.job.Checkout); err != nil {
		return o, nil, err
	}
	o.closers = append(o.closers, func() { o.root.Close() })
	cfg, ds := config.Load(config.Input{Tree: source.FS(o.root.FS(), j.Dir)})
	o.cfg = cfg
	if ds.HasErrors() {
		return o, ds, nil
	}
	ds = append(ds, o.tame()...)
	vars, more := o.collect()
	o.variables = vars
	return o, append(ds, more...), nil
}

// tame refuses what would run other people's programs.
func (o *operation) tame() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range o.cfg.Order {
		for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), func(a, b addrs.Resource) int { return cmpString(a.String(), b.String()) }) {
			for _, p := range m.Resources[addr].Provisioners {
				ds = append(ds, diags.Errorf(m.Resources[addr].Range.Ptr(), "Provisioners are not allowed",
					"The resource %s has the provisioner %q. Provisioners run commands, and a pull request must not.", addr, p.Type)...)
			}
		}
	}
	return ds
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// collect gathers the root variables from the files in the project's directory that
// have values. Our own environment has none for it.
func (o *operation) collect() (map[string]cty.Value, diags.Diagnostics) {
	entries, err := fs.ReadDir(o.root.FS(), o.job.Dir)
	if err != nil {
		return nil, diags.FromError("The project cannot be read", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	var sources []config.VariableSource
	var ds diags.Diagnostics
	for _, name := range config.AutoVariableFiles(names) {
		src, err := fs.ReadFile(o.root.FS(), path.Join(o.job.Dir, name))
		if err != nil {
			return nil, append(ds, diags.FromError("Failed to read variables file", fmt.Errorf("%s: %w", name, err))...)
		}
		s, more := config.FileVariables(config.FromAutoFile, name, src)
		ds = append(ds, more...)
		sources = append(sources, s)
		if s.File != nil {
			o.cfg.Files[name] = s.File
		}
	}
	vars, more := config.CollectVariables(o.cfg.Root.Content, sources)
	return vars, append(ds, more...)
}

// lock opens the project's state, takes its lock and reads it. operation is
// Terraform's word for what it is for. Closing the operation releases the lock.
func (o *operation) lock(ctx context.Context, operation string) diags.Diagnostics {
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return ds
	}
	st, more := workdir.OpenState(b, o.stateWorkspace())
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.state = st
	info := statebackend.NewLockInfo(operation, engine.LanguageVersion)
	info.Info = o.job.Owner
	if ds = append(ds, st.Lock(ctx, info, 0)...); ds.HasErrors() {
		return ds
	}
	// An interrupted operation must release it, too.
	o.closers = append(o.closers, func() { st.Unlock(context.WithoutCancel(ctx)) })
	return append(ds, st.Read(ctx)...)
}

func (o *operation) backend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	settings, ds := workdir.Configured(o.cfg.Root.Backend, nil)
	if ds.HasErrors() {
		return nil, ds
	}
	o.settings = settings
	b, more := o.engine.Backend(ctx, o.job, settings)
	return b, append(ds, more...)
}

// stateWorkspace is the workspace to open in the backend. A local state has a
// directory of its own for each workspace already.
func (o *operation) stateWorkspace() string {
	if o.backendType() == "local" {
		return statebackend.DefaultWorkspace
	}
	return o.job.Workspace
}

func (o *operation) backendType() string {
	if o.settings == nil {
		return "local"
	}
	return o.settings.Type
}

// stateID says which state was read.
func (o *operation) stateID() run.StateID {
	if !o.state.Exists() {
		return run.StateID{}
	}
	return run.StateID{Lineage: o.state.Current.Lineage, Serial: o.state.Current.Serial, Version: string(o.state.Version())}
}

// providers makes the providers available that configuration and state need, if all
// of them are allowed. Closing the operation ends them.
func (o *operation) providers(ctx context.Context, state *states.State) diags.Diagnostics {
	reqs, ds := workdir.Requirements(o.cfg, state)
	if ds.HasErrors() {
		return ds
	}
	for _, p := range slices.SortedFunc(maps.Keys(reqs), addrs.Provider.Compare) {
		if !p.IsBuiltin() && (o.engine.Allowed == nil || !o.engine.Allowed(p)) {
			ds = append(ds, diags.Errorf(nil, "Provider is not allowed",
				"The configuration or its state needs the provider %s. Providers are programs, and this one is not among those that may be run for a pull request.", p)...)
		}
	}
	if ds.HasErrors() {
		return ds
	}
	dataDir := o.engine.DataDir
	if dataDir == "" {
		dataDir = filepath.Join(os.DevNull, "none") // where nothing can be
	}
	d, more := workdir.Open(o.dir(), []string{"TF_DATA_DIR=" + dataDir, "TF_CLI_CONFIG_FILE=" + os.DevNull})
	d.Scratch = ""
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	pool, more := d.Providers(reqs, workdir.PoolOptions{})
	if pool != nil {
		o.closers = append(o.closers, func() { pool.Close() })
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	o.pool = pool
	o.closers = append(o.closers, pool.Guard(ctx, 0))
	return ds
}

// dir is the project's directory on this machine.
func (o *operation) dir() string {
	return filepath.Join(o.job.Checkout, filepath.FromSlash(o.job.Dir))
}

// run returns what the engine needs to know.
func (o *operation) run() engine.Run {
	return engine.Run{
		Config: o.cfg, Providers: o.pool, Variables: o.variables, WorkingDir: o.dir(), Workspace: o.job.Workspace,
		Files: funcs.Confined(o.root),
	}
}

// schemas returns a provider's schema for rendering and saved plans, or nil.
func (o *operation) schemas(p addrs.Provider) *schema.Provider {
	if o.pool == nil {
		return nil
	}
	s, ds := o.pool.Schema(context.Background(), p)
	if ds.HasErrors() {
		return nil
	}
	return s
}

// lockFile returns the dependency lock file, nil if there is none.
func (o *operation) lockFile() []byte {
	data, err := fs.ReadFile(o.root.FS(), path.Join(o.job.Dir, ".terraform.lock.hcl"))
	if err != nil {
		return nil
	}
	return data
}

// Unlock implements run.Engine.
func (e *Engine) Unlock(ctx context.Context, j run.Job) (int, error) {
	o, ds, err := e.open(j)
	defer o.close()
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", describe(j), err)
	}
	if ds.HasErrors() {
		return 0, nil // a configuration that does not load has locked nothing
	}
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return 0, nil
	}
	w, err := b.Open(o.stateWorkspace())
	if err != nil {
		return 0, fmt.Errorf("open the state of %s: %w", describe(j), err)
	}
	locks, err := w.Locks(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for locks of %s: %w", describe(j), err)
	}
	n := 0
	for _, l := range locks {
		if l.Info.Info != j.Owner {
			continue
		}
		if err := w.Unlock(ctx, l.Info.ID); err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
			return n, fmt.Errorf("unlock %s: %w", describe(j), err)
		}
		n++
	}
	return n, nil
}
