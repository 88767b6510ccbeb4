package integrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// DeploymentHub has those requests to GitHub's API that are about deployments.
type DeploymentHub interface {
	// PutDeployment creates a deployment on GitHub, unless one with the same task exists. It then reports the
	// deployment's state.
	PutDeployment(ctx context.Context, d github.Deployment) error
}

// A Recorder reports the applies of one pull request to GitHub, as deployments.
type Recorder struct {
	Facts  *gatefacts.Reader
	Ledger ledger.Ledger
	Hub    DeploymentHub
	// Log is called with an error for each deployment that GitHub has refused. It may be nil.
	Log func(error)
}

// last is the last state of a run's deployment that was reported to GitHub.
type last struct {
	Try   int
	State github.DeploymentState
}

// deploymentDue returns the state of a run's deployment that must be reported to GitHub. It returns "" if this
// state is already reported, or if there is no deployment.
func deploymentDue(r runs.Run, told last) github.DeploymentState {
	state := github.DeploymentState("")
	switch {
	case r.Plan.Deploys == "" || r.Asked.Try == 0:
	case r.Phase == runs.Applying || r.Phase == runs.Continuing:
		state = github.DeploymentRuns
	case r.Phase == runs.Applied:
		state = github.DeploymentDone
	case r.Phase == runs.ApplyFailed || r.Phase == runs.Stopped:
		state = github.DeploymentFailed
	case r.Phase == runs.ApplyQueued || told.Try != r.Asked.Try || told.State != github.DeploymentRuns:
	default: // it was refused in the end
		state = github.DeploymentNone
	}
	if told == (last{r.Asked.Try, state}) {
		return ""
	}
	return state
}

// Record reports to GitHub the applies that have begun or ended since its last call.
func (rec Recorder) Record(ctx context.Context) error {
	pull := rec.Facts.Message.Pull
	all, err := rec.Ledger.Runs(ctx, pull)
	if err != nil {
		return err
	}
	states := reported[last]{rec.Ledger, fmt.Sprintf("deployed/%d/%d", pull.Repo.ID, pull.Number)}
	var told map[string]last // by the run's key; nil before it was read
	for _, r := range all {
		if r.Plan.Deploys == "" {
			continue
		}
		if told == nil {
			if told, err = states.last(ctx); err != nil {
				return err
			}
			if told == nil {
				told = map[string]last{}
			}
		}
		state := deploymentDue(r.Run, told[r.Key()])
		if state == "" {
			continue
		}
		err := rec.Hub.PutDeployment(ctx, deployment(r.Run, state, rec.Facts.Pull))
		var final *github.FinalError
		switch {
		case errors.As(err, &final) && rec.Log != nil:
			rec.Log(fmt.Errorf("%s#%d: %w", pull.Repo, pull.Number, err))
		case err != nil && final == nil:
			return err
		}
		if err := states.keep(ctx, map[string]last{r.Key(): {r.Asked.Try, state}}); err != nil {
			return err
		}
	}
	return nil
}

// deployment returns the deployment on GitHub for a run's last apply. Each apply that somebody has requested is
// a separate deployment.
func deployment(r runs.Run, state github.DeploymentState, p github.PullRequest) github.Deployment {
	sha := r.Spec.Head
	switch {
	case r.Spec.AfterMerge:
		sha = r.Spec.Merge
	case r.ByMerge() && p.Merged && p.MergeSHA != "":
		sha = p.MergeSHA // the base branch may not contain the head
	}
	text := comment.Outcome{Project: r.Project, Standing: r.Standing(), Counts: r.Apply.Done}.Text()
	if state == github.DeploymentNone {
		text = r.Project + ": not applied"
	}
	return github.Deployment{
		Task: fmt.Sprintf("lockstep:%s:%d", r.MessageName(), r.Asked.Try), SHA: sha, Environment: r.Plan.Deploys, Description: text, URL: p.URL, State: state,
	}
}
