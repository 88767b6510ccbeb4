package changing

import (
	"context"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// localExec runs the command of a local-exec provisioner: a [provisioning.Runner].
func localExec(a *cli.App, ctx context.Context, c provisioning.Command, output func(line string)) error {
	return workdir.RunCommand(ctx, a.Path(c.Dir), a.Environ, c, output)
}
