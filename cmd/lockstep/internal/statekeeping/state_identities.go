package statekeeping

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var StateIdentities = cli.Command{Name: "state identities", Synopsis: "List the identities of the objects in the state", Run: func(a *cli.App, args []string) int {
	x := opening.Access{File: true}
	var id string
	var asJSON bool
	f := a.NewFlags("state identities", "state identities [OPTIONS] -json [ADDRESS...]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.StringVar(&x.Paths.State, "state", "", "the state file to read")
	f.StringVar(&id, "id", "", "only instances whose attribute \"id\" has this value")
	f.BoolVar(&asJSON, "json", false, "print JSON; required")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if !asJSON {
		return a.Usage("add the option -json", "state identities prints JSON only")
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	if !op.State.Exists() {
		return op.NoState(ds)
	}
	found, more := chosen(op.State.Current, f.Args(), id)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	data, err := formats.Identities(op.State.Current, found)
	return max(a.WriteJSON(data, err), a.Show(ds))
}}
