package program

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/gcs"
	"github.com/lockstep-iac/lockstep/statebackend/pg"
)

// The backends of the command line alone. The functions of the pipeline keep states in S3, and do not link the
// clients of these.
func init() {
	workdir.AddBackendType("gcs", workdir.BackendType{Attributes: gcs.Attributes,
		Open: func(ctx context.Context, attributes map[string]any, _ *workdir.Dir, _ workdir.LocalPaths) (statebackend.Backend, error) {
			return gcs.Open(ctx, attributes)
		}})
	workdir.AddBackendType("pg", workdir.BackendType{Attributes: pg.Attributes,
		Open: func(ctx context.Context, attributes map[string]any, _ *workdir.Dir, _ workdir.LocalPaths) (statebackend.Backend, error) {
			return pg.Open(ctx, attributes)
		}})
}
