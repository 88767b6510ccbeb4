package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// deployRemedy is the advice to users if the App may not record deployments.
// Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const deployRemedy = "The GitHub App needs the permission to write deployments: give it in the App's settings, and accept it in those of the installation."

// maxDescription is GitHub's limit for a description. GitHub counts characters; Lockstep counts bytes.
// Source: https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
const maxDescription = 140

// PutDeployment records a deployment and its state. It creates the deployment only if none with the same Task
// exists, so the call can be repeated. The error is a *FinalError if GitHub refuses.
func (c *Client) PutDeployment(ctx context.Context, d Deployment) error {
	d.Description = utf8Only(d.Description)
	if len(d.Description) > maxDescription {
		d.Description = strings.ToValidUTF8(d.Description[:maxDescription-len("…")], "") + "…"
	}
	what := fmt.Sprintf("record a deployment of %s to %s", c.repo, d.Environment)
	err := failed(what, putDeployment(ctx, c.client.Repositories, c.repo.Owner, c.repo.Name, d))
	if e := (*FinalError)(nil); errors.As(err, &e) && e.Remedy == forbiddenRemedy {
		e.Remedy = deployRemedy
	}
	return err
}

// Environment returns the protection rules of an environment, for deployments of a branch. It needs the
// permission "Actions: read".
func (c *Client) Environment(ctx context.Context, name, branch string) (Environment, error) {
	what := fmt.Sprintf("read the protection rules of the environment %s of %s", name, c.repo)
	out, err := c.environment(ctx, name, branch)
	if errors.Is(err, errNoEnvironment) {
		return out, &FinalError{What: what, Why: err.Error(), Remedy: "Add it in the repository's settings, or correct the name in lockstep.hcl on the base branch."}
	}
	err = failed(what, err)
	if e := (*FinalError)(nil); errors.As(err, &e) && e.Remedy == forbiddenRemedy {
		e.Remedy = `The GitHub App needs the permission "Actions: read" for it: give it in the App's settings, and accept it in those of the installation.`
	}
	return out, err
}

// A DeploymentState is GitHub's word for the progress of a deployment. Source:
// https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
type DeploymentState string

// The states that Lockstep reports. GitHub sets an older successful deployment to the same environment to
// inactive.
const (
	DeploymentRuns   DeploymentState = "in_progress"
	DeploymentDone   DeploymentState = "success"
	DeploymentFailed DeploymentState = "failure"
	DeploymentNone   DeploymentState = "inactive" // the apply did not begin
)

// A Deployment is the deployment of a commit to an environment.
type Deployment struct {
	// Task distinguishes the deployment from all others of the repository.
	Task        string
	SHA         string
	Environment string // GitHub creates it if it does not exist
	// Description is a text for people; it is cut to 140 bytes. URL is a page with more details.
	Description, URL string
	State            DeploymentState
}

// putDeployment records a deployment of the repository owner/name, and its state. It creates the deployment if
// none with the same Task exists.
//
// Source: https://docs.github.com/en/rest/deployments/deployments
func putDeployment(ctx context.Context, s *gh.RepositoriesService, owner, name string, d Deployment) error {
	list, _, err := s.ListDeployments(ctx, owner, name, &gh.DeploymentsListOptions{SHA: d.SHA, Task: d.Task, Environment: d.Environment})
	if err != nil {
		return err
	}
	var id int64
	if len(list) > 0 {
		id = list[len(list)-1].GetID() // the oldest, if two processes created one at the same time
	} else {
		// Lockstep has already checked the conditions of the apply. GitHub must neither merge the base branch
		// into the commit nor wait for checks.
		x, _, err := s.CreateDeployment(ctx, owner, name, &gh.DeploymentRequest{
			Ref: &d.SHA, Task: &d.Task, Environment: &d.Environment, Description: &d.Description, AutoMerge: gh.Bool(false), RequiredContexts: &[]string{},
		})
		if err != nil {
			return err
		}
		id = x.GetID()
	}
	state := string(d.State)
	_, _, err = s.CreateDeploymentStatus(ctx, owner, name, id, &gh.DeploymentStatusRequest{
		State: &state, Description: &d.Description, LogURL: &d.URL, AutoInactive: gh.Bool(true),
	})
	return err
}
