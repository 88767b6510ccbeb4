package githubtest

import (
	"net/http"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/environments"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// protected are the environments of a repository.
type protected struct {
	*repo
	envs *environments.List
}

// An Environment has the protection rules of one.
type Environment = environments.Environment

func newProtected(r *repo) *protected {
	return &protected{r, &environments.List{Repo: r, Log: r.world.log, User: func(login string) rest.Object { return r.world.person(login).json() }}}
}

// SetEnvironment makes an environment of the repository, or changes its protection rules.
func (p *protected) SetEnvironment(name string, e Environment) {
	defer p.world.lock()()
	p.envs.Set(name, e)
}

func (p *protected) getEnvironment(r *http.Request) (int, any)      { return p.envs.Get(r) }
func (p *protected) listBranchPolicies(r *http.Request) (int, any)  { return p.envs.Policies(r) }
func (p *protected) listProtectionRules(r *http.Request) (int, any) { return p.envs.Rules(r) }
