package main

import (
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var validateCommand = command{name: "validate", synopsis: "Check the configuration, whatever its inputs are", main: true, run: func(a *app, args []string) int {
	var asJSON bool
	f := a.newFlags("validate", "validate [OPTIONS] [DIR]")
	f.BoolVar(&asJSON, "json", false, "in JSON, for programs")
	f.Bool("no-tests", false, "")
	f.String("test-directory", "tests", "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() > 1 {
		return f.refuse(tooMany, "validate takes one directory at most")
	}
	ds := a.validate(f.Arg(0))
	if asJSON {
		data, err := formats.Validate(ds, a.sourcesOf(ds))
		if code := a.writeJSON(data, err); code != 0 {
			return code
		}
		if ds.HasErrors() {
			return 1
		}
		return 0
	}
	code := a.tell(ds)
	switch {
	case code == 0 && len(ds) > 0:
		a.out.Write([]byte("Success! The configuration is valid, but there were some validation warnings as shown above.\n\n"))
	case code == 0:
		a.out.Write([]byte("Success! The configuration is valid.\n\n"))
	}
	return code
}}

// validate checks the configuration without any state. root is the directory of the root
// module; "" is the one that the command works in, whose modules and providers are used.
func (a *app) validate(root string) diags.Diagnostics {
	op := &operation{a: a}
	defer op.close()
	var ds diags.Diagnostics
	if op.dir, ds = a.dir(); ds.HasErrors() {
		return ds
	}
	op.prestart(a.ctx)
	if rel, err := filepath.Rel(op.dir.WorkingDir(), root); err == nil {
		root = rel // how places in it are told
	}
	cfg, more := a.loadRoot(op.dir, filepath.ToSlash(root))
	op.cfg = cfg
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	ds = append(ds, op.dir.DevelopmentWarning("So what is valid here may not be valid with any released version.")...)
	if ds = append(ds, op.providersToValidate(a.ctx)...); ds.HasErrors() {
		return ds
	}
	run := engine.Run{
		Config: op.cfg, Providers: op.pool, WorkingDir: a.startDir(), BaseDir: op.dir.WorkingDir(), Workspace: op.dir.Workspace(),
		Budget: a.budget,
	}
	return append(ds, engine.Validate(a.ctx, run)...)
}
