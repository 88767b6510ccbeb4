package statekeeping

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var Untaint = cli.Command{Name: "untaint", Synopsis: "Remove the mark of a tainted resource instance", Run: func(a *cli.App, args []string) int {
	return markMain(a, "untaint", args, states.Ready, "Resource instance %s has been successfully untainted.\n")
}}
