package executor

import (
	"context"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// commands runs commands of provisioners, if the base branch allows them. They have the same environment
// variables as plugins. A running command is completed even if no more changes may begin, like a call of a
// plugin. Only the end of ctx kills it.
func (o *checkout) commands(ctx context.Context) provisioning.Runner {
	return func(_ context.Context, c provisioning.Command, output func(line string)) error {
		dir := c.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.dir(), dir)
		}
		return workdir.Commands{Dir: dir, Environ: o.env, Begin: o.engine.Begin}.Run(ctx, c, output)
	}
}
