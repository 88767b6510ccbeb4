package githubtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// protected has the environments of a repository.
type protected struct {
	*repo
	envs *environmentList
}

func newProtected(r *repo) *protected {
	return &protected{r, &environmentList{Repo: r, Log: r.world.log, User: func(login string) rest.Object { return r.world.person(login).json() }}}
}

// SetEnvironment creates an environment of the repository, or changes its protection rules.
func (p *protected) SetEnvironment(name string, e Environment) {
	defer p.world.lock()()
	p.envs.Set(name, e)
}

func (p *protected) getEnvironment(r *http.Request) (int, any)      { return p.envs.Get(r) }
func (p *protected) listBranchPolicies(r *http.Request) (int, any)  { return p.envs.Policies(r) }
func (p *protected) listProtectionRules(r *http.Request) (int, any) { return p.envs.Rules(r) }

// An Environment has the protection rules of a GitHub environment.
type Environment struct {
	// Reviewers are logins, and teams of the owner as "owner/slug". PreventSelfReview forbids the user who
	// deploys to approve.
	Reviewers         []string
	PreventSelfReview bool
	Wait              int // minutes
	// Branches are the patterns of the branches that may be deployed; nil allows all. Protected allows only
	// branches with branch protection.
	Branches  []string
	Protected bool
	Apps      []string // slugs of Apps with rules of their own
}

// An environmentList has the environments of a repository. It is not safe for concurrent use.
type environmentList struct {
	Repo fmt.Stringer // owner/name
	Log  *storyLog
	User func(login string) rest.Object

	all map[string]Environment
}

// Set creates an environment, or changes its rules.
func (l *environmentList) Set(name string, e Environment) {
	if l.all == nil {
		l.all = map[string]Environment{}
	}
	l.all[name] = e
}

// Get answers GET /repos/{owner}/{repo}/environments/{environment_name}.
func (l *environmentList) Get(r *http.Request) (int, any) {
	name := r.PathValue("name")
	e, ok := l.all[name]
	if !ok {
		return rest.Fail(rest.NotFound)
	}
	rules := []any{}
	rule := func(kind string, more rest.Object) {
		id := l.Log.nextID()
		o := rest.Object{"id": id, "node_id": rest.NodeID("Gate", id), "type": kind}
		for k, v := range more {
			o[k] = v
		}
		rules = append(rules, o)
	}
	if e.Wait > 0 {
		rule("wait_timer", rest.Object{"wait_timer": e.Wait})
	}
	if e.Reviewers != nil {
		reviewers := []any{}
		for _, who := range e.Reviewers {
			if org, slug, team := strings.Cut(who, "/"); team {
				reviewers = append(reviewers, rest.Object{"type": "Team", "reviewer": l.team(org, slug)})
			} else {
				reviewers = append(reviewers, rest.Object{"type": "User", "reviewer": l.User(who)})
			}
		}
		rule("required_reviewers", rest.Object{"prevent_self_review": e.PreventSelfReview, "reviewers": reviewers})
	}
	policy := any(nil)
	if e.Protected || e.Branches != nil {
		rule("branch_policy", nil)
		policy = rest.Object{"protected_branches": e.Protected, "custom_branch_policies": !e.Protected}
	}
	id := l.Log.nextID()
	return http.StatusOK, rest.Object{
		"id": id, "node_id": rest.NodeID("Environment", id), "name": name, "url": rest.APIURL + "repos/" + l.Repo.String() + "/environments/" + name,
		"html_url":   rest.WebURL + l.Repo.String() + "/deployments/activity_log?environments_filter=" + name,
		"created_at": rest.Stamp(epoch), "updated_at": rest.Stamp(epoch), "protection_rules": rules, "deployment_branch_policy": policy,
	}
}

// Policies answers GET /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies.
func (l *environmentList) Policies(r *http.Request) (int, any) {
	list := []any{}
	for _, pattern := range l.all[r.PathValue("name")].Branches {
		id := l.Log.nextID()
		list = append(list, rest.Object{"id": id, "node_id": rest.NodeID("GateBranchPolicy", id), "name": pattern, "type": "branch"})
	}
	shown := rest.Paged(r, list)
	shown.Items = rest.Object{"total_count": len(list), "branch_policies": shown.Items}
	return http.StatusOK, shown
}

// Rules answers GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules.
func (l *environmentList) Rules(r *http.Request) (int, any) {
	list := []any{}
	for _, slug := range l.all[r.PathValue("name")].Apps {
		id := l.Log.nextID()
		list = append(list, rest.Object{
			"id": id, "node_id": rest.NodeID("Gate", id), "enabled": true,
			"app": rest.Object{"id": id, "node_id": rest.NodeID("App", id), "slug": slug, "integration_url": rest.APIURL + "apps/" + slug},
		})
	}
	return http.StatusOK, rest.Object{"total_count": len(list), "custom_deployment_protection_rules": list}
}

func (l *environmentList) team(org, slug string) rest.Object {
	id := l.Log.nextID()
	api := rest.APIURL + "orgs/" + org + "/teams/" + slug
	return rest.Object{
		"id": id, "node_id": rest.NodeID("Team", id), "name": slug, "slug": slug, "description": nil, "privacy": "closed", "permission": "pull",
		"url": api, "html_url": rest.WebURL + "orgs/" + org + "/teams/" + slug, "members_url": api + "/members{/member}", "repositories_url": api + "/repos",
		"parent": nil, "type": "organization",
	}
}
