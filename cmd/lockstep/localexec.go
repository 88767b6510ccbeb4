package main

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// localExec runs the command of a local-exec provisioner: a [provisioning.Runner].
func (a *app) localExec(ctx context.Context, c provisioning.Command, output func(line string)) error {
	return workdir.RunCommand(ctx, a.path(c.Dir), a.environ, c, output)
}
