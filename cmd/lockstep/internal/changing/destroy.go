package changing

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

var Destroy = cli.Command{Name: "destroy", Synopsis: "Destroy all managed objects", Run: func(a *cli.App, args []string) int {
	return applyMain(a, "destroy", args, true)
}}
