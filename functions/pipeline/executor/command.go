package executor

import (
	"context"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// commands runs the commands of provisioners that the base branch allows, with the environment of plugins. Like
// a plugin's call, a command that has begun is completed after the time to begin things is over. ctx ends it.
func (o *checkout) commands(ctx context.Context) provisioning.Runner {
	return func(_ context.Context, c provisioning.Command, output func(line string)) error {
		dir := c.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.dir(), dir)
		}
		return workdir.Commands{Dir: dir, Environ: o.env, Begin: o.engine.Begin}.Run(ctx, c, output)
	}
}
