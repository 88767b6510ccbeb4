package worker

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// toolsIn returns a function that finds the tools of steps in a toolbox. It is for the field Tool of a
// [subprocess.Engine]. All Apps share the toolbox: each repository names the checksums that it trusts.
func toolsIn(t awsstore.Tools) func(context.Context, jobs.Job, string) (string, error) {
	return func(ctx context.Context, _ jobs.Job, digest string) (string, error) {
		path, ok, err := t.Path(ctx, digest)
		if err == nil && !ok {
			err = subprocess.ErrNoTool
		}
		return path, err
	}
}
