package githubtest

import (
	"net/http"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/deployments"
)

// deploys are the deployments of a repository.
type deploys struct {
	*repo
	made *deployments.List
}

// A Deployment is one as people see it.
type Deployment = deployments.Deployment

func newDeploys(r *repo) *deploys {
	return &deploys{r, &deployments.List{Repo: r, Log: r.world.log, Creator: r.world.ours}}
}

// Deployments returns the deployments of the repository, oldest first.
func (d *deploys) Deployments() []Deployment {
	defer d.world.lock()()
	return d.made.All()
}

func (d *deploys) listDeployments(r *http.Request) (int, any)        { return d.made.Find(r) }
func (d *deploys) createDeployment(r *http.Request) (int, any)       { return d.made.Create(r) }
func (d *deploys) createDeploymentStatus(r *http.Request) (int, any) { return d.made.CreateStatus(r) }
