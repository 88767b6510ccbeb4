// Package workdir opens a working directory that init has prepared: its configuration, its providers, the
// backend with its states, and the selected workspace. It connects the engine with the state backends, for the
// command line and for the pipeline.
//
// The files are Terraform's: `.terraform/` has the providers, the record of the backend and the selected
// workspace. `.terraform.lock.hcl` is beside the configuration. The package decides nothing about plans and
// applies, and knows neither GitHub nor queues. Start reading at [Dir].
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
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// A Dir is a working directory with its environment: variables, CLI configuration, credentials.
type Dir struct {
	// Path is the root module's directory: absolute, or relative to the process' working directory.
	Path string
	// DataDir is the value of TF_DATA_DIR, or `.terraform` in Path.
	DataDir
	// CLI is Terraform's CLI configuration, from the file .terraformrc or TF_CLI_CONFIG_FILE.
	CLI *cliconfig.Config
	// Environ is the environment, with elements "NAME=value".
	Environ []string
	// Sources returns the sources of variables for expressions in module sources and in the backend block. nil
	// means none.
	Sources func() []inputs.Source
	// Note is called with a fact for the user that is not an error; may be nil.
	Note func(string)
	// Lock is used in place of the dependency lock file, which is then neither read nor written; may be nil.
	Lock *lockfile.File
	// PluginEnv is the whole environment of plugins; nil means Environ.
	PluginEnv []string
	// Scratch is the directory of the caches for checksums and schemas. Only trusted processes may have write
	// access to it. "" means no caches.
	Scratch string
	// Memo is the cache of checksums of packages; nil means the one in Scratch.
	Memo *install.Memo
	// Budget limits the evaluation of the configuration; nil means the default limits.
	Budget *budget.Budget
	// Preparing is set for init and get, which record the values of variables that they use; see [Dir.Prepared].
	Preparing bool
	// Given are the values of variables in the saved plan that is being applied; nil if there is none.
	Given map[string]cty.Value
	// KMS is the client of AWS KMS for the encryption of states and plans; nil means that KMS cannot be used.
	KMS encrypting.KMS
	// KeyProgram runs the programs that return keys for the encryption; nil forbids them. See [Dir.RunKeyProgram].
	KeyProgram encryption.RunProgram

	ciphers *ciphers             // nil: they are not remembered
	used    map[string]cty.Value // by expressions, with Preparing
}

// Open returns the working directory at path. The diagnostics are those of the CLI configuration.
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

// Load reads the configuration. It finds remote modules where init installed them.
func (d *Dir) Load() (*config.Config, diags.Diagnostics) {
	in, ds := d.input("")
	if ds.HasErrors() {
		return nil, ds
	}
	return loading.Load(in)
}

// LoadQueries is like Load, and also reads the query files of the root module.
func (d *Dir) LoadQueries() (*config.Config, diags.Diagnostics) {
	in, ds := d.input("")
	if ds.HasErrors() {
		return nil, ds
	}
	in.Queries = true
	return loading.Load(in)
}

// LoadUntested is like LoadTests, but loads no tests.
func (d *Dir) LoadUntested(root, _ string) (*testfiles.Suite, diags.Diagnostics) {
	in, ds := d.input(root)
	if ds.HasErrors() {
		return nil, ds
	}
	cfg, ds := loading.Load(in)
	return &testfiles.Suite{Config: cfg}, ds
}

// LoadTests loads a root module with the test files beside it and in dir. root is the directory of the root
// module, slash-separated and relative to d; "" is d's own. dir is relative to root. Modules are found in d's
// installations. The suite is nil if the manifest of modules cannot be read.
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
	return loading.Input{Tree: source.Dir(d.Path), Root: root, Installed: installed, Early: d.Early(), Language: d.Language(), Budget: d.Budget}, nil
}

// Early returns the evaluator of expressions that loading the configuration needs, such as module sources.
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
