package surveying

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// ConfigCheck checks lockstep.hcl, and the projects that it describes.
var ConfigCheck = cli.Command{Name: "config check", Synopsis: "Check lockstep.hcl and the projects that it describes", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("config check", "config check")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	s := look(a)
	code := a.Tell(s.diags)
	if code != 0 {
		return code
	}
	about := project.FileName + " is valid"
	if !s.settings {
		about = "There is no " + project.FileName + ", so the directories decide"
	}
	count := fmt.Sprintf("%d projects", len(s.projects))
	if len(s.projects) == 1 {
		count = "1 project"
	}
	fmt.Fprintf(a.Out, "%s: %s.\n", about, count)
	return 0
}}
