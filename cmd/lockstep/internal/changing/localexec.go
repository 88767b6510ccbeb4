package changing

import (
	"context"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// localExecOf returns the runner for commands of local-exec provisioners.
func localExecOf(a *cli.App) provisioning.Runner {
	return func(ctx context.Context, c provisioning.Command, output func(line string)) error {
		return workdir.RunCommand(ctx, a.Path(c.Dir), a.Environ, c, output)
	}
}
