package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// WorkspaceNew returns the command `workspace new`. family is the first word: "workspace", or Terraform's old
// name "env".
func WorkspaceNew(family string) cli.Command {
	return cli.Command{Name: family + " new", Synopsis: "Create a workspace and select it", Run: func(a *cli.App, args []string) int {
		var locks cli.LockFlags
		var from string
		f := a.NewFlags(family+" new", family+" new [OPTIONS] NAME")
		f.Vars(&cli.VarFlags{}) // the backend may need them
		f.Locking(&locks)
		f.StringVar(&from, "state", "", "copy this state file into the new workspace")
		name, code, ok := workspaceName(f, args, "create")
		if !ok {
			return code
		}
		op, ds := openWorkspaces(a)
		if ds.HasErrors() {
			return a.Show(ds)
		}
		if op.has(name) {
			a.Show(ds)
			return a.Usage(fmt.Sprintf("run `lockstep workspace select %s`", name), "Workspace %q already exists", name)
		}
		var first *states.State
		if from != "" {
			var err error
			var more diags.Diagnostics
			first, more, err = readState(a, from)
			if ds = append(ds, more...); err != nil || ds.HasErrors() {
				code := a.Show(ds)
				if err != nil {
					code = a.Usage("", "%s", err)
				}
				return code
			}
		}
		return a.Show(append(ds, op.create(name, locks, first)...))
	}}
}
