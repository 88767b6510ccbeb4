package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend/kms"
)

// Dir opens the working directory. An error in the CLI configuration (the file .terraformrc) does not make it
// fail, as in Terraform. Dir writes the error to standard error, only once, and uses the rest of the CLI
// configuration.
func (a *App) Dir() (*workdir.Dir, diags.Diagnostics) {
	d, wrong := workdir.Open(a.Chdir, a.Environ)
	if !a.warned && a.Show(wrong) != 0 {
		fmt.Fprint(a.Err, "\nAs a result of the above problems, Lockstep may not behave as intended.\n")
	}
	a.warned = true
	d.Budget, d.KMS, d.KeyProgram = a.Budget, kms.Open, d.RunKeyProgram
	d.Sources = func() []inputs.Source {
		var given VarFlags
		if a.Vars != nil {
			given = *a.Vars
		}
		sources, _ := a.Sources(d, given) // their errors are reported when the variables are collected
		return sources
	}
	d.Note = func(s string) { fmt.Fprintf(a.Err, "lockstep: note: %s\n", s) }
	return d, nil
}

// StartDir returns the directory in which the program was started: path.cwd. The option -chdir does not change
// it.
func (a *App) StartDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return a.Chdir
	}
	return dir
}

// Paths applies Path to each path of a list.
func (a *App) Paths(list []string) []string {
	var out []string
	for _, p := range list {
		out = append(out, a.Path(p))
	}
	return out
}

// Path returns a path from the command line relative to the process' working directory.
func (a *App) Path(p string) string {
	if filepath.IsAbs(p) || a.Chdir == "." {
		return p
	}
	return filepath.Join(a.Chdir, p)
}

// Load opens the working directory and reads the configuration.
func (a *App) Load() (*workdir.Dir, *config.Config, diags.Diagnostics) {
	d, ds := a.Dir()
	cfg, more := a.LoadIfAny(d)
	if cfg != nil && !more.HasErrors() && cfg.Empty() {
		more = append(more, NoConfiguration(d)...)
	}
	return d, cfg, append(ds, more...)
}

// NoConfiguration returns the error that a directory has no configuration files.
func NoConfiguration(d *workdir.Dir) diags.Diagnostics {
	return diags.Errorf(nil, "No configuration files",
		"The directory %s contains no configuration files (.tf). Lockstep needs a configuration to work with.", d.WorkingDir())
}

// LoadIfAny reads the configuration in a directory; without an error if there is none.
func (a *App) LoadIfAny(d *workdir.Dir) (*config.Config, diags.Diagnostics) {
	cfg, ds := d.Load()
	if cfg != nil {
		maps.Copy(a.Files, cfg.Files)
	}
	return cfg, ds
}

// Remember keeps the files of a test suite, which may be nil, so that diagnostics can quote them.
func (a *App) Remember(s *testfiles.Suite) {
	if s != nil {
		maps.Copy(a.Files, s.Config.Files)
		maps.Copy(a.Files, s.Sources)
	}
}
