// Package assembly builds the pipeline of an App from its parts. The Lambda functions have parts in AWS;
// `lockstep serve` and `lockstep demo` have parts in a data directory. Everything that is the same for all of
// them is in this package.
//
// It does not know where the parts come from. It does not link the engine, because a janitor needs none. A
// caller that plans and applies sets the engine, from package subprocess or package executor. Start reading at
// [Parts.Pipeline].
package assembly

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Parts has the parts of an App's pipeline.
type Parts struct {
	App *github.App
	// Intake has the records, the queue and the repositories to serve.
	Intake    *intake.Intake
	Artifacts pipeline.Artifacts
	// Where returns, for people, where an artifact is: an address, or a command that fetches it. It is nil if
	// people cannot read artifacts.
	Where func(pipeline.Artifact) string
	// PageURL is the address of the pages, without a slash at the end. They show the artifacts, so Where is not needed
	// then. It is "" if there are no pages.
	PageURL string
	// Secrets are removed from every text that Lockstep writes on a pull request.
	Secrets []github.Secret
	// Deployment is the name of this deployment; "" for none.
	Deployment string
}

// Pipeline returns the App's pipeline. Its engine is not set.
func (p Parts) Pipeline() *dispatch.Pipeline {
	where := p.Where
	if p.PageURL != "" {
		where = func(a pipeline.Artifact) string { return p.PageURL + runs.PagePath(a) }
	}
	return &dispatch.Pipeline{
		Bases: &gatefacts.Bases{Repositories: p.App}, Inventory: p.App,
		Connect: func(of pipeline.Pull) (dispatch.GitHub, error) { return p.App.Repository(of.Installation, of.Repo) },
		Records: p.Intake.Records, Queue: p.Intake.Queue, Serves: p.Intake.Serves, Log: p.Intake.Log,
		Artifacts: p.Artifacts, Where: where, Secrets: p.Secrets, Deployment: p.Deployment,
	}
}

// Janitor returns the janitor for the pipeline x of the App.
func (p Parts) Janitor(x *dispatch.Pipeline) *reconcile.Janitor {
	return &reconcile.Janitor{Pipeline: x, App: p.App, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return p.App.Repository(installation, r)
	}}
}
