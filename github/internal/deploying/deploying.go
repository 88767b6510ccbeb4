// Package deploying finds and writes the deployments of an App. It refuses to know why they are made, and GitHub's errors, which
// it returns as they are. Start at [Put].
package deploying

import (
	"context"

	gh "github.com/google/go-github/v60/github"
)

// A State is GitHub's word for how far a deployment is.
// Source: https://docs.github.com/en/rest/deployments/statuses#create-a-deployment-status
type State string

// The states that are reported. An older successful deployment to the environment becomes inactive by itself.
const (
	Runs   State = "in_progress"
	Done   State = "success"
	Failed State = "failure"
	None   State = "inactive" // it did not begin
)

// A Deployment is that of a commit to an environment.
type Deployment struct {
	// Task distinguishes it from all others of the repository.
	Task        string
	SHA         string
	Environment string // GitHub makes it if it is not there
	// Description is for people, at most 140 bytes are kept; URL is where they read more.
	Description, URL string
	State            State
}

// Put records a deployment of the repository of owner and name, and its state. It is made if there is none with its task.
//
// Source: https://docs.github.com/en/rest/deployments/deployments
func Put(ctx context.Context, s *gh.RepositoriesService, owner, name string, d Deployment) error {
	list, _, err := s.ListDeployments(ctx, owner, name, &gh.DeploymentsListOptions{SHA: d.SHA, Task: d.Task, Environment: d.Environment})
	if err != nil {
		return err
	}
	var id int64
	if len(list) > 0 {
		id = list[len(list)-1].GetID() // the first one, if two processes made it at once
	} else {
		// The conditions of the apply are decided by then: GitHub must neither merge the base branch nor wait for checks.
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
