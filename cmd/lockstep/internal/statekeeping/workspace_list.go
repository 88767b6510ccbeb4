package statekeeping

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// WorkspaceList returns the command `workspace list`. family is the first word: "workspace", or Terraform's old
// name "env".
func WorkspaceList(family string) cli.Command {
	return cli.Command{Name: family + " list", Synopsis: "List the workspaces", Run: func(a *cli.App, args []string) int {
		f := a.NewFlags(family+" list", family+" list")
		f.Vars(&cli.VarFlags{}) // the backend may need them
		asJSON := f.Bool("json", false, "print JSON")
		if code, ok := parseWorkspace(f, args); !ok {
			return code
		}
		if code, ok := f.NoArguments(); !ok {
			return code
		}
		op, ds := openWorkspaces(a)
		if *asJSON {
			data, err := formats.Workspaces(op.names, op.Workspace, ds, a.SourcesOf(ds))
			if code := a.WriteJSON(data, err); code != 0 || !ds.HasErrors() {
				return code
			}
			return 1
		}
		if ds.HasErrors() {
			return a.Show(ds)
		}
		for _, n := range op.names {
			mark := " "
			if n == op.Workspace {
				mark = "*"
			}
			fmt.Fprintf(a.Out, "%s %s\n", mark, n)
		}
		fmt.Fprintln(a.Out)
		if a.Getenv(workspaceVariable) != "" {
			fmt.Fprintf(a.Out, "\nThe selected workspace is given by the environment variable %s.\n", workspaceVariable)
		}
		return a.Show(ds)
	}}
}
