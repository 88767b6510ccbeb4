// Package assembly puts the pipeline of an App together from its parts: those in AWS for the Lambda functions, and those of a data
// directory for `lockstep serve` and `lockstep demo`. What differs between them is a part; what is the same stands here.
//
// It refuses to know where the parts are from. It does not link the engine, which no janitor needs: who makes plans and applies
// sets it, from package subprocess or package executor. Start at [PlanParts.Pipeline].
package assembly

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
)

// Parts are the parts of the pipeline of an App.
type Parts struct {
	App *github.App
	// Intake has the records, the queue and the repositories to serve.
	Intake    *intake.Intake
	Artifacts pipeline.Artifacts
	// Where names the location of an artifact for people; nil if they cannot read artifacts.
	Where func(pipeline.Artifact) string
	// Secrets must be in nothing that is written on a pull request.
	Secrets []github.Secret
	// Deployment is the name of this one, "" for none.
	Deployment string
}

// Pipeline returns the pipeline without an engine.
func (p Parts) Pipeline() *dispatch.Pipeline {
	return &dispatch.Pipeline{
		Bases: &gatefacts.Bases{Repositories: p.App}, Inventory: p.App,
		Connect: func(of pipeline.Pull) (dispatch.GitHub, error) { return p.App.Repository(of.Installation, of.Repo) },
		Records: p.Intake.Records, Queue: p.Intake.Queue, Serves: p.Intake.Serves, Log: p.Intake.Log,
		Artifacts: p.Artifacts, Where: p.Where, Secrets: p.Secrets, Deployment: p.Deployment,
	}
}

// Janitor returns the janitor of a pipeline of the App.
func (p Parts) Janitor(x *dispatch.Pipeline) *reconcile.Janitor {
	return &reconcile.Janitor{Pipeline: x, App: p.App, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return p.App.Repository(installation, r)
	}}
}
