// Package statekeeping has the commands that show and edit states: show, output, state, taint, workspace,
// force-unlock. Each command has its own file, and a row in the table of the main package.
//
// The commands use providers only for their schemas. Start at [StateMv], the command with the most code.
package statekeeping

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

var Show = cli.Command{Name: "show", Synopsis: "Show the state, or a saved plan or state file", Run: func(a *cli.App, args []string) int {
	var asJSON, configuration, state bool
	var plan, module string
	f := a.NewFlags("show", "show [OPTIONS] [FILE]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&state, "state", false, "show the stored state, as without a file")
	f.StringVar(&plan, "plan", "", "show the saved plan in this file")
	f.BoolVar(&configuration, "config", false, "with -json: show the configuration instead of a state")
	f.StringVar(&module, "module", "", "with -json: show the module in this directory, without the providers and modules that it needs")
	f.ShowSensitive()
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	var asked []string
	for option, given := range map[string]bool{"-state": state, "-plan": plan != "", "-config": configuration, "-module": module != ""} {
		if given {
			asked = append(asked, option)
		}
	}
	slices.Sort(asked)
	switch {
	case len(asked) > 1:
		return f.Refuse(cli.TooMany, "The options %s contradict each other: the command show shows one thing. Give it one of them.", strings.Join(asked, " and "))
	case len(asked) == 1 && f.NArg() > 0:
		return f.Refuse(cli.TooMany, "With %s, the command show takes no further file. Remove %q.", asked[0], f.Arg(0))
	case f.NArg() > 1:
		return f.Refuse(cli.TooMany, "Give the command show one file, or no file for the stored state.")
	case module != "" && !asJSON:
		return f.Refuse("Option -json is required", "A module is shown as JSON only. Add -json")
	case module != "":
		return showModule(a, module)
	case configuration && !asJSON:
		return f.Refuse("Option -json is required", "The configuration is shown as JSON only. Add -json")
	case configuration:
		return showConfiguration(a)
	case plan != "":
		return showFile(a, plan, asJSON, true)
	case f.NArg() == 1:
		return showFile(a, f.Arg(0), asJSON, false)
	}
	return showState(a, asJSON, func(d *workdir.Dir, cfg *config.Config) (*states.State, diags.Diagnostics) {
		b, _, ds := d.Backend(a.Ctx, cfg, workdir.LocalPaths{})
		if ds.HasErrors() {
			return nil, ds
		}
		op := opening.New(a)
		if ds = op.OpenState(a.Ctx, b, d.Workspace(), nil); ds.HasErrors() || !op.State.Exists() {
			return nil, ds
		}
		return op.State.Current, ds
	})
}}

// showFile shows the saved plan or the state in a file. With planOnly, a state is an error.
func showFile(a *cli.App, name string, asJSON, planOnly bool) int {
	path := a.Path(name)
	src, err := os.ReadFile(path)
	if err != nil {
		return a.Show(diags.Errorf(nil, "Failed to read the given file as a state or plan file", "%s cannot be read as a state or plan: %s.", name, cli.Reason(err)))
	}
	if planfile.IsPlan(src) || encryption.IsEncryptedPlan(src) {
		return showPlan(a, path, asJSON)
	}
	if planOnly {
		return a.Show(diags.Errorf(nil, "Not a saved plan", "%s is not a saved plan. Name a file that \"plan -out=FILE\" has written. To show a state file, leave out -plan: show %s.", name, name))
	}
	return showState(a, asJSON, func(d *workdir.Dir, cfg *config.Config) (*states.State, diags.Diagnostics) {
		plain, ds := d.DecryptState(a.Ctx, cfg, src)
		if ds.HasErrors() {
			return nil, ds
		}
		s, err := statefile.Read(plain)
		return s, append(ds, diags.FromError("Failed to read the given file as a state or plan file", err)...)
	})
}

// showConfiguration prints the configuration as JSON, in the form that it has in the JSON of a plan. It needs
// the schemas of the providers, but no state.
func showConfiguration(a *cli.App) int {
	op := opening.New(a)
	defer op.Close()
	var ds, more diags.Diagnostics
	if op.Dir, op.Config, ds = a.Load(); ds.HasErrors() {
		return a.Show(ds)
	}
	if more = op.RequireSchemas(); more.HasErrors() {
		return a.Show(append(ds, more...))
	}
	data, err := formats.Configuration(op.Config, op.Schemas)
	return a.WriteJSON(data, err)
}

// showModule prints the module in a directory as JSON. It needs neither init nor a state.
func showModule(a *cli.App, dir string) int {
	cfg, ds := loading.Load(loading.Input{Tree: source.Dir(a.Path(dir)), RootOnly: true, Language: a.Language(), Budget: a.Budget})
	maps.Copy(a.Files, cfg.Files)
	if ds = ds.WithoutLate(); ds.HasErrors() {
		return a.Show(ds)
	}
	if cfg.Empty() {
		return a.Show(diags.Errorf(nil, "No configuration files", "The directory %s contains no configuration files (.tf). Name the directory of a module.", dir))
	}
	data, err := formats.Module(cfg.Root)
	return a.WriteJSON(data, err)
}

// showPlan shows a saved plan.
func showPlan(a *cli.App, path string, asJSON bool) int {
	plan, op, ds := opening.OpenPlan(a, path, cli.LockFlags{}, workdir.LocalPaths{}, "")
	defer op.Close()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !asJSON {
		a.Print().Plan(a.Out, plan, op.Config, op.Schemas)
		return 0
	}
	data, err := formats.Plan(plan, op.Config, op.Schemas)
	return a.WriteJSON(data, err)
}

// showState prints a state, with the schemas of the installed providers. find returns the state; nil if there
// is none.
//
// showState ignores errors in the configuration that only a validation finds. Other errors stop it, because the
// configuration says which providers are used. If there is no state, only the root module must be readable.
func showState(a *cli.App, asJSON bool, find func(*workdir.Dir, *config.Config) (*states.State, diags.Diagnostics)) int {
	op := opening.New(a)
	defer op.Close()
	var ds diags.Diagnostics
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return a.Show(ds)
	}
	cfg, loaded := a.LoadIfAny(op.Dir)
	broken := loaded.WithoutLate().HasErrors()
	if broken && (cfg == nil || cfg.Root.Broken) {
		return a.Show(loaded)
	}
	s, ds := find(op.Dir, cfg)
	if s == nil && !ds.HasErrors() {
		return showNothing(a, asJSON)
	}
	if broken {
		return a.Show(loaded)
	}
	s = cfg.Adopt(s)
	if !ds.HasErrors() {
		ds = append(ds, op.RequireProvidersOf(s)...)
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if asJSON {
		data, err := formats.State(s, op.Schemas)
		return a.WriteJSON(data, err)
	}
	if err := formats.Readable(s, op.Schemas); err != nil {
		return a.WriteJSON(nil, err)
	}
	a.Print().State(a.Out, s, op.Schemas)
	return 0
}

// showNothing prints that there is no state: with asJSON, as an empty state in JSON.
func showNothing(a *cli.App, asJSON bool) int {
	if asJSON {
		data, err := formats.State(states.Empty(), nil)
		return a.WriteJSON(data, err)
	}
	fmt.Fprintln(a.Out, "No state.")
	return 0
}
