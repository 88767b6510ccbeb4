// Package authoring has the commands for authors of configurations, which change no state: fmt, validate,
// console, graph, metadata. Each has its own file, and a row in the table of the main package. Start at
// [Validate].
package authoring

import (
	"maps"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var Validate = cli.Command{Name: "validate", Synopsis: "Check whether the configuration is valid", Run: func(a *cli.App, args []string) int {
	var asJSON, noTests, query bool
	var testDir string
	f := a.NewFlags("validate", "validate [OPTIONS] [DIR]")
	f.Vars(&cli.VarFlags{}) // the sources of modules may refer to variables
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&noTests, "no-tests", false, "leave test files out")
	f.StringVar(&testDir, "test-directory", testfiles.DefaultDirectory, "the directory with test files")
	f.BoolVar(&query, "query", false, "check the list blocks of query files, too")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.Refuse(cli.TooMany, "Give the command validate one directory, or none for this one.")
	}
	ds := check(a, f.Arg(0), testDir, !noTests)
	if query && !ds.HasErrors() {
		ds = append(ds, checkQueries(a)...)
	}
	if asJSON {
		data, err := formats.Validate(ds, a.SourcesOf(ds))
		if code := a.WriteJSON(data, err); code != 0 {
			return code
		}
		if ds.HasErrors() {
			return 1
		}
		return 0
	}
	code := a.Tell(ds)
	switch {
	case code == 0 && len(ds) > 0:
		a.Out.Write([]byte("Success! The configuration is valid, but there were some validation warnings as shown above.\n\n"))
	case code == 0:
		a.Out.Write([]byte("Success! The configuration is valid.\n\n"))
	}
	return code
}}

// check validates the configuration in the directory root, without reading a state. "" is the command's working
// directory. If withTests is set, check also validates the test files in testDir. Whatever root is, the
// installed modules and providers are those of the command's working directory.
func check(a *cli.App, root, testDir string, withTests bool) diags.Diagnostics {
	op := opening.New(a)
	defer op.Close()
	var ds diags.Diagnostics
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return ds
	}
	op.Prestart()
	if rel, err := filepath.Rel(op.Dir.WorkingDir(), root); err == nil {
		root = rel // so that ranges in diagnostics are relative
	}
	load := op.Dir.LoadTests
	if !withTests {
		load = op.Dir.LoadUntested
	}
	suite, more := load(filepath.ToSlash(root), testDir)
	a.Remember(suite)
	if ds = append(ds, more...); ds.WithoutLate().HasErrors() {
		return ds
	}
	ds = append(ds, op.Dir.DevelopmentWarning("A configuration that is valid here may not be valid with any released version.")...)
	op.Workspace = op.Dir.Workspace()
	ds = append(ds, op.Dir.ValidateEncryption(suite.Config)...)
	ds = append(ds, validate(op, suite.Config)...)
	for _, cfg := range localModules(suite) {
		ds = append(ds, validate(op, cfg)...)
	}
	return append(ds, suite.Validate()...)
}

// checkQueries validates the configuration with its query files.
func checkQueries(a *cli.App) diags.Diagnostics {
	op := opening.New(a)
	defer op.Close()
	var ds diags.Diagnostics
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return ds
	}
	cfg, more := op.Dir.LoadQueries()
	if cfg != nil {
		maps.Copy(a.Files, cfg.Files)
	}
	if ds = append(ds, more...); ds.WithoutLate().HasErrors() {
		return ds
	}
	op.Config, op.Workspace = cfg, op.Dir.Workspace()
	if ds = append(ds, op.RequireSchemas()...); ds.HasErrors() {
		return ds
	}
	run := op.Run()
	run.WorkingDir, run.BaseDir = a.StartDir(), op.Dir.WorkingDir()
	return append(ds, engine.ValidateQuery(a.Ctx, run)...)
}

func validate(op *opening.Operation, cfg *config.Config) diags.Diagnostics {
	op.Config = cfg
	ds := op.RequireSchemas()
	if ds.HasErrors() {
		return ds
	}
	run := op.Run()
	run.WorkingDir, run.BaseDir = op.App.StartDir(), op.Dir.WorkingDir()
	return append(ds, engine.Validate(op.App.Ctx, run)...)
}

// localModules returns the local modules that test files run, each once. Modules from registries and other
// remote sources are left out, because validating them is up to their authors.
func localModules(s *testfiles.Suite) []*config.Config {
	var out []*config.Config
	seen := map[string]bool{}
	for _, r := range s.Called() {
		address := r.Module.Address
		if address.Kind == source.Local && !seen[address.String()] {
			seen[address.String()] = true
			out = append(out, r.Config)
		}
	}
	return out
}
