package program

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/gcs"
	"github.com/lockstep-iac/lockstep/statebackend/pg"
)

// Backends that only the command line has. The pipeline's functions keep states in S3, and are smaller without
// the clients of these backends.
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
