package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// WorkspaceShow returns the command `workspace show`. family is the first word: "workspace", or Terraform's old
// name "env".
func WorkspaceShow(family string) cli.Command {
	return cli.Command{Name: family + " show", Synopsis: "Show the name of the selected workspace", Run: func(a *cli.App, args []string) int {
		f := a.NewFlags(family+" show", family+" show")
		f.Vars(&cli.VarFlags{}) // the backend may need them
		if code, ok := parseWorkspace(f, args); !ok {
			return code
		}
		d, ds := a.Dir()
		name := d.Workspace()
		if err := statebackend.CheckWorkspaceName(name); err != nil {
			ds = append(ds, diags.FromError("Invalid workspace name", err)...)
		}
		if ds.HasErrors() {
			return a.Show(ds)
		}
		fmt.Fprintln(a.Out, name)
		return a.Show(ds)
	}}
}
