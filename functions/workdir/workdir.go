// Package workdir opens a working directory as init left it: its configuration,
// its providers, the backend that keeps its states, the workspace that is
// selected. It is where engine and statebackend meet, for the command line and for
// the pipeline alike.
//
// The layout is Terraform's: `.terraform/` holds providers, the backend's record
// and the selected workspace; `.terraform.lock.hcl` lies beside the configuration.
// The package decides nothing about plans and applies, and refuses to know GitHub
// and queues. Start at [Dir].
package workdir

import (
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
)

// A Dir is a working directory with its environment: variables, CLI configuration, credentials.
type Dir struct {
	// Path is the root module's directory; relative to the process' own, or absolute.
	Path string
	// DataDir is TF_DATA_DIR, or `.terraform` in Path.
	DataDir
	// CLI is the CLI configuration.
	CLI *cliconfig.Config
	// Environ is the environment, "NAME=value" each.
	Environ []string
	// Sources returns the sources of variables for expressions in module sources and in the
	// backend block; nil: there are none.
	Sources func() []inputs.Source
	// Note reports facts that are no errors to a person; may be nil.
	Note func(string)
	// Lock stands in the place of the dependency lock file, which is then neither read
	// nor written; may be nil.
	Lock *lockfile.File
	// PluginEnv is the whole environment of plugins; nil: they get Environ.
	PluginEnv []string
	// Scratch is the directory for remembered checksums and schemas, which nobody may write to who is
	// not trusted; "": they are not kept.
	Scratch string
	// Memo has the checksums of packages in the place of Scratch's; nil: those in Scratch.
	Memo *install.Memo
	// Budget bounds the evaluation of the configuration; nil is the generous one.
	Budget *budget.Budget
	// Preparing is set for init and get, which record the values of variables that they use; see [Dir.Prepared].
	Preparing bool
	// Given are the values of variables in a saved plan, which is carried out; nil without one.
	Given map[string]cty.Value
	// KMS connects to AWS KMS, for the encryption of states and plans; nil: it is not available.
	KMS encrypting.KMS

	ciphers *ciphers             // nil: they are not remembered
	used    map[string]cty.Value // by expressions, with Preparing
}

// Open returns the directory at path. The diagnostics are about the CLI configuration.
func Open(path string, environ []string) (*Dir, diags.Diagnostics) {
	d := &Dir{Path: path, Environ: environ, ciphers: &ciphers{sets: map[*config.Module]*encrypting.Set{}}}
	switch data := d.Getenv("TF_DATA_DIR"); {
	case data == "":
		d.DataDir = DataDir(filepath.Join(path, ".terraform"))
	case !filepath.IsAbs(data):
		d.DataDir = DataDir(filepath.Join(path, data))
	default:
		d.DataDir = DataDir(data)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		d.Scratch = filepath.Join(cache, "lockstep")
	}
	var ds diags.Diagnostics
	d.CLI, ds = cliconfig.Load(cliconfig.Surroundings{Environ: environ, Home: d.Getenv("HOME")})
	return d, ds
}

// Load reads the configuration. Modules that are not local are looked up where
// init installed them.
func (d *Dir) Load() (*config.Config, diags.Diagnostics) {
	in, ds := d.input("")
	if ds.HasErrors() {
		return nil, ds
	}
	return loading.Load(in)
}

// LoadQueries is Load with the query files of the root module.
func (d *Dir) LoadQueries() (*config.Config, diags.Diagnostics) {
	in, ds := d.input("")
	if ds.HasErrors() {
		return nil, ds
	}
	in.Queries = true
	return loading.Load(in)
}

// LoadUntested is LoadTests without any tests.
func (d *Dir) LoadUntested(root, _ string) (*testfiles.Suite, diags.Diagnostics) {
	in, ds := d.input(root)
	if ds.HasErrors() {
		return nil, ds
	}
	cfg, ds := loading.Load(in)
	return &testfiles.Suite{Config: cfg}, ds
}

// LoadTests is Load with the test files beside the configuration and in dir. root is the directory of
// the root module, slash-separated and relative to d's, with the installations of d; "" is d's own.
// dir is relative to root. The suite is nil if the manifest of modules cannot be read.
func (d *Dir) LoadTests(root, dir string) (*testfiles.Suite, diags.Diagnostics) {
	in, ds := d.input(root)
	if ds.HasErrors() {
		return nil, ds
	}
	return testfiles.Load(in, dir)
}

func (d *Dir) input(root string) (loading.Input, diags.Diagnostics) {
	installed, err := d.Installed()
	if err != nil {
		return loading.Input{}, diags.FromError("Invalid module manifest", err)
	}
	return loading.Input{Tree: source.Dir(d.Path), Root: root, Installed: installed, Early: d.Early(), Budget: d.Budget}, nil
}

// Early evaluates expressions that are needed to load the configuration.
func (d *Dir) Early() loading.Early { return early.New(d.earlyInput()) }

func (d *Dir) earlyInput() early.Input {
	in := early.Input{
		Sources: d.Sources, Workspace: d.Workspace(), WorkingDir: d.WorkingDir(), BaseDir: d.Path, Files: funcs.OSFiles{}, Budget: d.Budget,
	}
	if d.Preparing {
		in.Used = func(name string, given cty.Value) {
			if d.used == nil {
				d.used = map[string]cty.Value{}
			}
			d.used[name] = given
		}
	} else {
		in.Init = d.Prepared()
	}
	return in
}
