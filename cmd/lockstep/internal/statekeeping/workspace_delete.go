package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// WorkspaceDelete returns the command `workspace delete`. family is the first word: "workspace", or Terraform's
// old name "env".
func WorkspaceDelete(family string) cli.Command {
	return cli.Command{Name: family + " delete", Synopsis: "Delete a workspace", Run: func(a *cli.App, args []string) int {
		var locks cli.LockFlags
		var force bool
		f := a.NewFlags(family+" delete", family+" delete [OPTIONS] NAME")
		f.Vars(&cli.VarFlags{}) // the backend may need them
		f.Locking(&locks)
		f.BoolVar(&force, "force", false, "delete even a workspace that manages resources, which are then forgotten")
		if code, ok := parseWorkspace(f, args); !ok {
			return code
		}
		if f.NArg() != 1 {
			return f.WrongArguments(fmt.Sprintf("write one name: lockstep %s NAME", f.Name()), "%s takes exactly one name", f.Name())
		}
		op, ds := openWorkspaces(a)
		if ds.HasErrors() {
			return a.Show(ds)
		}
		name := f.Arg(0)
		switch {
		case !op.has(name):
			a.Show(ds)
			return a.Usage("run `lockstep workspace list` for all workspaces", "Workspace %q doesn't exist", name)
		case name == statebackend.DefaultWorkspace:
			a.Show(ds)
			return a.Usage("to remove its objects, run `lockstep destroy` in it", "Workspace %q can never be deleted", name)
		case name == op.Workspace:
			a.Show(ds)
			return a.Usage("select another workspace first: lockstep workspace select NAME", "Workspace %q is selected, so it cannot be deleted", name)
		}
		return a.Show(append(ds, op.delete(name, locks, force)...))
	}}
}
