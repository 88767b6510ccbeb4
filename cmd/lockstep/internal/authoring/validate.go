// Package authoring has the commands for authors of configurations, which change no state: fmt,
// validate, console, graph, metadata. Each has a file named after it, and a row in the table of the
// main package.
//
// Start at [Validate].
package authoring

import (
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var Validate = cli.Command{Name: "validate", Synopsis: "Check whether the configuration is valid", Main: true, Run: func(a *cli.App, args []string) int {
	var asJSON bool
	f := a.NewFlags("validate", "validate [OPTIONS] [DIR]")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.Bool("no-tests", false, "")
	f.String("test-directory", "tests", "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.Refuse(cli.TooMany, "validate takes one directory at most")
	}
	ds := check(a, f.Arg(0))
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

// check validates the configuration without any state. root is the directory of the root module,
// "" the one that the command works in, whose modules and providers are used.
func check(a *cli.App, root string) diags.Diagnostics {
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
	cfg, more := a.LoadRoot(op.Dir, filepath.ToSlash(root))
	op.Config = cfg
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	ds = append(ds, op.Dir.DevelopmentWarning("A configuration that is valid here may not be valid with any released version.")...)
	if ds = append(ds, op.RequireSchemas()...); ds.HasErrors() {
		return ds
	}
	op.Workspace = op.Dir.Workspace()
	run := op.Run()
	run.WorkingDir, run.BaseDir = a.StartDir(), op.Dir.WorkingDir()
	return append(ds, engine.Validate(a.Ctx, run)...)
}
