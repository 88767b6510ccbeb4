// Package handling makes the pipeline from the clients that package wiring has opened, for the functions
// that handle messages. It stands apart from package wiring so that the webhook's function,
// which handles none, links neither the rules nor the reading of configurations.
//
// The pipeline has no engine: package worker, beside this one, adds it.
package handling

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
)

// Pipeline returns a pipeline without an engine.
func Pipeline(w *wiring.World) *dispatch.Pipeline {
	return &dispatch.Pipeline{
		Bases: &evidence.Bases{Repositories: w.App}, Inventory: w.App,
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return w.App.Repository(p.Installation, p.Repo) },
		Records: w.Intake.Records, Queue: w.Intake.Queue, Serves: w.Intake.Serves, Log: w.Intake.Log,
		Deployment: w.Deployment, Share: w.MaxPlans,
		Artifacts: w.Artifacts, Secrets: w.Secrets,
		// A plan that is too long for GitHub is fetched by people, with their own rights.
		Where: func(a pipeline.Artifact) string {
			return fmt.Sprintf("aws s3 cp s3://%s/%s -", w.Bucket, w.Space.Artifact(a).Key)
		},
	}
}
