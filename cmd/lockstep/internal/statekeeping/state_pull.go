package statekeeping

import (
	"io"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var StatePull = cli.Command{Name: "state pull", Synopsis: "Write the stored state to standard output", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("state pull", "state pull [OPTIONS]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	op, ds := opening.Stored(a, opening.Access{})
	if ds.HasErrors() {
		return a.Show(ds)
	}
	data, err := op.Known()
	if err != nil {
		return a.Show(diags.FromError("Error reading the state", err))
	}
	a.Out.Write(data)
	io.WriteString(a.Out, "\n") // after the file's last line, as in Terraform
	return a.Show(ds)
}}
