package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/internal/deploying"
	"github.com/lockstep-iac/lockstep/github/internal/protecting"
)

// A Deployment is that of a commit to an environment.
type Deployment = deploying.Deployment

// A DeploymentState is GitHub's word for how far a deployment is.
type DeploymentState = deploying.State

// The states that are reported.
const (
	DeploymentRuns   = deploying.Runs
	DeploymentDone   = deploying.Done
	DeploymentFailed = deploying.Failed
	DeploymentNone   = deploying.None
)

// deployRemedy is the remedy where the App may not record deployments.
// Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const deployRemedy = "The GitHub App needs the permission to write deployments: give it in the App's settings, and accept it in those of the installation."

// maxDescription is GitHub's limit of a description, in bytes to be safe.
// Source: https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
const maxDescription = 140

// PutDeployment records a deployment and its state. It is made if there is none with its task, so that it can be repeated. The
// error is a *FinalError if GitHub refuses.
func (c *Client) PutDeployment(ctx context.Context, d Deployment) error {
	d.Description = utf8Only(d.Description)
	if len(d.Description) > maxDescription {
		d.Description = strings.ToValidUTF8(d.Description[:maxDescription-len("…")], "") + "…"
	}
	what := fmt.Sprintf("record a deployment of %s to %s", c.repo, d.Environment)
	err := failed(what, deploying.Put(ctx, c.client.Repositories, c.repo.Owner, c.repo.Name, d))
	if e := (*FinalError)(nil); errors.As(err, &e) && e.Remedy == forbiddenRemedy {
		e.Remedy = deployRemedy
	}
	return err
}

// An Environment has the protection rules of one.
type Environment = protecting.Environment

// Environment returns the protection rules of an environment, for deployments of a branch. It needs the permission "Actions: read".
func (c *Client) Environment(ctx context.Context, name, branch string) (Environment, error) {
	what := fmt.Sprintf("read the protection rules of the environment %s of %s", name, c.repo)
	out, err := protecting.Reader{Client: c.client, Owner: c.repo.Owner, Name: c.repo.Name}.Environment(ctx, name, branch)
	if errors.Is(err, protecting.ErrNone) {
		return out, &FinalError{What: what, Why: err.Error(), Remedy: "Add it in the repository's settings, or correct the name in lockstep.hcl on the base branch."}
	}
	err = failed(what, err)
	if e := (*FinalError)(nil); errors.As(err, &e) && e.Remedy == forbiddenRemedy {
		e.Remedy = `The GitHub App needs the permission "Actions: read" for it: give it in the App's settings, and accept it in those of the installation.`
	}
	return out, err
}
