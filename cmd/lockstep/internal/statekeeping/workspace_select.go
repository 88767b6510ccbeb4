package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// WorkspaceSelect returns the command `workspace select`. family is the first word: "workspace", or Terraform's
// old name "env".
func WorkspaceSelect(family string) cli.Command {
	return cli.Command{Name: family + " select", Synopsis: "Select another workspace", Run: func(a *cli.App, args []string) int {
		var create bool
		f := a.NewFlags(family+" select", family+" select [OPTIONS] NAME")
		f.Vars(&cli.VarFlags{}) // the backend may need them
		f.BoolVar(&create, "or-create", false, "create the workspace if it does not exist")
		name, code, ok := workspaceName(f, args, "select")
		if !ok {
			return code
		}
		op, ds := openWorkspaces(a)
		if ds.HasErrors() {
			return a.Show(ds)
		}
		switch {
		case name == op.Workspace && op.has(name):
			return a.Show(ds)
		case !op.has(name) && !create:
			a.Show(ds)
			return a.Usage(fmt.Sprintf("run `lockstep workspace new %s`, or add -or-create", name), "Workspace %q doesn't exist", name)
		case !op.has(name):
			return a.Show(append(ds, op.create(name, cli.LockFlags{Lock: true}, nil)...))
		}
		if err := op.Dir.SelectWorkspace(name); err != nil {
			return a.Show(append(ds, diags.FromError("The selection cannot be recorded", err)...))
		}
		fmt.Fprintf(a.Out, "Switched to workspace %q.\n", name)
		return a.Show(ds)
	}}
}
