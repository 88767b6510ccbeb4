package opening

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// Access says how a command that makes no plan opens a state.
type Access struct {
	Paths workdir.LocalPaths
	// File is set if the command uses the file that the option -state names, if any, instead of the configured backend.
	File bool
	// Lock is Terraform's name of the operation that locks the state; "" means that the state is not locked.
	Lock  string
	Locks cli.LockFlags
	// Backup stores the state before the first write in a file with a new name, as Terraform's `state` commands
	// do. Only the local backend has backups.
	Backup bool
}

// Stored opens the state of the selected workspace. Modules and providers need not be installed. The root
// module must have no errors, because it contains the backend block.
func Stored(a *cli.App, x Access) (*Operation, diags.Diagnostics) {
	op := New(a)
	b, ds := op.OpenBackend(x)
	if ds.HasErrors() {
		return op, ds
	}
	return op, append(ds, op.OpenState(a.Ctx, b, op.Workspace, Lock(x.Locks, x.Lock))...)
}

// OpenBackend opens the backend, but no state in it.
func (o *Operation) OpenBackend(x Access) (statebackend.Backend, diags.Diagnostics) {
	var ds, more diags.Diagnostics
	if o.Dir, ds = o.App.Dir(); ds.HasErrors() {
		return nil, ds
	}
	o.Workspace = o.Dir.Workspace()
	if x.File && x.Paths.State != "" {
		o.Settings = &workdir.Settings{Type: "local"}
		cfg, _ := o.Dir.Load() // only needed for its encryption block, which says how the file is encrypted
		b, more := o.Dir.OpenBackend(o.App.Ctx, cfg, nil, o.keep(x))
		return b, append(ds, more...)
	}
	cfg, more := o.Dir.Load()
	if cfg == nil || cfg.Root.Broken {
		return nil, append(ds, more...)
	}
	o.stored = cfg
	for name, f := range cfg.Files {
		o.App.Files[name] = f
	}
	b, settings, more := o.Dir.Backend(o.App.Ctx, cfg, workdir.LocalPaths{})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	o.Settings = settings
	if settings.Type == "local" {
		b, more = o.Dir.OpenBackend(o.App.Ctx, cfg, settings, o.keep(x))
		ds = append(ds, more...)
	}
	return b, ds
}

// keep returns the paths for the local backend. If x requests a backup, the name of the backup file is new and
// contains the time, as in Terraform.
func (o *Operation) keep(x Access) workdir.LocalPaths {
	p := x.Paths
	if !x.Backup || p.Backup != "" && p.Backup != "-" {
		return p
	}
	path := p.StateOut
	if path == "" {
		path = p.State
	}
	if path == "" {
		path = o.LocalPath()
	}
	path = fmt.Sprintf("%s.%d", path, time.Now().Unix())
	p.Backup = path + ".backup"
	for i := 1; o.exists(p.Backup); i++ {
		p.Backup = fmt.Sprintf("%s.%d.backup", path, i)
	}
	return p
}

func (o *Operation) exists(path string) bool {
	_, err := os.Lstat(o.App.Path(path))
	return err == nil
}

// LocalPath returns the path at which the local backend stores the workspace's state.
func (o *Operation) LocalPath() string {
	name, dir := "terraform.tfstate", "terraform.tfstate.d"
	if s, ok := o.Settings.Attributes["path"].(string); ok {
		name = s
	}
	if s, ok := o.Settings.Attributes["workspace_dir"].(string); ok {
		dir = s
	}
	if o.Workspace == statebackend.DefaultWorkspace {
		return name
	}
	return filepath.Join(dir, o.Workspace, "terraform.tfstate")
}
