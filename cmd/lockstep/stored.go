package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// access says how a command that plans nothing opens the state.
type access struct {
	paths workdir.LocalPaths
	// file means that -state names a file, whatever backend is configured.
	file bool
	// lock names the operation for which the state is locked; "" locks nothing.
	lock  string
	locks lockFlags
	// backup keeps what the first write replaces under a name of its own, as the
	// `state` commands do; only files on this machine are kept that way.
	backup bool
}

// stored opens the state of the selected workspace. Modules and providers need not
// be there; the root module's own files must be free of errors, because they say
// where the state is.
func (a *app) stored(x access) (*operation, diags.Diagnostics) {
	op := &operation{a: a}
	b, ds := op.openBackend(x)
	if ds.HasErrors() {
		return op, ds
	}
	st, more := workdir.OpenState(b, op.workspace)
	if ds = append(ds, more...); ds.HasErrors() {
		return op, ds
	}
	op.state = st
	if x.lock != "" && x.locks.lock {
		info := statebackend.NewLockInfo(x.lock, engine.LanguageVersion)
		if ds = append(ds, st.Lock(a.ctx, info, x.locks.timeout)...); ds.HasErrors() {
			return op, ds
		}
	}
	if more := st.Read(a.ctx); more.HasErrors() {
		ds = append(append(ds, more...), op.unlock()...)
	}
	return op, ds
}

// openBackend opens the backend without any of its states.
func (o *operation) openBackend(x access) (statebackend.Backend, diags.Diagnostics) {
	var ds, more diags.Diagnostics
	if o.dir, ds = o.a.dir(); ds.HasErrors() {
		return nil, ds
	}
	o.workspace = o.dir.Workspace()
	if x.file && x.paths.State != "" {
		o.settings = &workdir.Settings{Type: "local"}
		b, more := o.dir.OpenBackend(o.a.ctx, nil, o.keep(x))
		return b, append(ds, more...)
	}
	cfg, more := o.dir.Load()
	if cfg == nil || cfg.Root.Broken() {
		return nil, append(ds, more...)
	}
	for name, f := range cfg.Files {
		o.a.files[name] = f
	}
	b, settings, more := o.dir.Backend(o.a.ctx, cfg, workdir.LocalPaths{})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	o.settings = settings
	if settings.Type == "local" {
		b, more = o.dir.OpenBackend(o.a.ctx, settings, o.keep(x))
		ds = append(ds, more...)
	}
	return b, ds
}

// keep returns the paths for the local backend, with a name for a backup that no
// other command takes, if one is wanted: Terraform's, which has the time in it.
func (o *operation) keep(x access) workdir.LocalPaths {
	p := x.paths
	if !x.backup || p.Backup != "" && p.Backup != "-" {
		return p
	}
	path := p.StateOut
	if path == "" {
		path = p.State
	}
	if path == "" {
		path = o.localPath()
	}
	path = fmt.Sprintf("%s.%d", path, time.Now().Unix())
	p.Backup = path + ".backup"
	for i := 1; o.exists(p.Backup); i++ {
		p.Backup = fmt.Sprintf("%s.%d.backup", path, i)
	}
	return p
}

func (o *operation) exists(path string) bool {
	_, err := os.Lstat(o.a.path(path))
	return err == nil
}

// localPath returns where the local backend keeps the workspace's state.
func (o *operation) localPath() string {
	name, dir := "terraform.tfstate", "terraform.tfstate.d"
	if s, ok := o.settings.Attributes["path"].(string); ok {
		name = s
	}
	if s, ok := o.settings.Attributes["workspace_dir"].(string); ok {
		dir = s
	}
	if o.workspace == statebackend.DefaultWorkspace {
		return name
	}
	return filepath.Join(dir, o.workspace, "terraform.tfstate")
}

// write stores the next state, if it says anything else than the stored one.
func (o *operation) write(next *states.State) diags.Diagnostics {
	err := o.state.Write(context.WithoutCancel(o.a.ctx), next)
	return diags.FromError("Error saving the state", err)
}

// finish releases the state's lock, shows what there is to say, and returns the
// exit code.
func (o *operation) finish(ds diags.Diagnostics) int {
	return o.a.show(append(ds, o.unlock()...))
}

// leaveState stores an empty state if there is none: what has succeeded leaves a state
// behind, also if there was nothing to do.
func (o *operation) leaveState() diags.Diagnostics {
	if o.state.Exists() {
		return nil
	}
	err := o.state.Replace(context.WithoutCancel(o.a.ctx), o.state.Next(states.Empty()))
	return diags.FromError("Error saving the state", err)
}

// noState reports that there is no state to look at or to edit, and ends.
func (o *operation) noState(ds diags.Diagnostics) int {
	o.finish(ds)
	return o.a.usage("No state file was found: apply something first, or use -state to name a state file")
}

// editing are the options that commands share which edit the state.
func (f *flags) editing(x *access) {
	f.locking(&x.locks)
	f.StringVar(&x.paths.State, "state", "", "the state file of the local backend")
	f.StringVar(&x.paths.Backup, "backup", "", "where to keep the old state")
	f.Bool("ignore-remote-version", false, "")
}
