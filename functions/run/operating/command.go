package operating

import (
	"context"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
)

// command runs the command of a provisioner that the base branch allows, with the
// environment of plugins.
func (o *operation) command(ctx context.Context, c provisioning.Command, output func(line string)) error {
	dir := c.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.dir(), dir)
	}
	return workdir.RunCommand(ctx, dir, o.env, c, output)
}
