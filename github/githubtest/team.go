package githubtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A team is a team of an organization.
type team struct {
	id      int64
	members []string // logins
}

// teams has the teams of organizations, with their part of the API.
type teams struct {
	*world
	// sees reports whether a token gives access to any repository of an organization.
	sees func(t *apps.Token, org string) bool
	all  map[string]*team // by "org/slug"
}

// SetTeam sets the members of an organization's team, by login. It creates the team if needed.
func (x *teams) SetTeam(org, slug string, members ...string) {
	defer x.lock()()
	for _, login := range members {
		x.person(login)
	}
	x.all[org+"/"+slug] = &team{x.log.nextID(), members}
}

// teamOf returns the team that a request names, if the token may see it: the App must be installed in the
// team's organization.
func (x *teams) teamOf(r *http.Request) (*team, *rest.Problem) {
	t, p := x.app.Token(r)
	if p != nil {
		return nil, p
	}
	org := r.PathValue("org")
	found := x.all[org+"/"+r.PathValue("team")]
	switch {
	case !x.sees(t, org):
		return nil, rest.NotFound
	case !t.Allows("members:read"):
		return nil, apps.Forbidden
	case found == nil:
		return nil, rest.NotFound
	}
	return found, nil
}

// getTeam answers GET /orgs/{org}/teams/{team_slug}.
func (x *teams) getTeam(r *http.Request) (int, any) {
	t, p := x.teamOf(r)
	if p != nil {
		return rest.Fail(p)
	}
	org, slug := r.PathValue("org"), r.PathValue("team")
	api, web := rest.APIURL+"orgs/"+org+"/teams/"+slug, rest.WebURL+"orgs/"+org
	return http.StatusOK, rest.Object{
		"id": t.id, "node_id": rest.NodeID("Team", t.id), "name": slug, "slug": slug, "description": nil, "privacy": "closed",
		"permission": "pull", "url": api, "html_url": web + "/teams/" + slug, "members_url": api + "/members{/member}", "repositories_url": api + "/repos",
		"parent": nil, "members_count": len(t.members), "repos_count": 1, "created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z",
		"type": "organization", "organization": rest.Object{
			"login": org, "id": 1, "node_id": "O_1", "url": rest.APIURL + "orgs/" + org, "repos_url": rest.APIURL + "orgs/" + org + "/repos", "events_url": rest.APIURL + "orgs/" + org + "/events",
			"hooks_url": rest.APIURL + "orgs/" + org + "/hooks", "issues_url": rest.APIURL + "orgs/" + org + "/issues", "members_url": rest.APIURL + "orgs/" + org + "/members{/member}",
			"public_members_url": rest.APIURL + "orgs/" + org + "/public_members{/member}", "avatar_url": web + ".png", "description": nil,
			"has_organization_projects": true, "has_repository_projects": true, "public_repos": 1, "public_gists": 0, "followers": 0, "following": 0,
			"html_url": web, "type": "Organization", "created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z", "archived_at": nil,
		},
	}
}

// getMembership answers GET /orgs/{org}/teams/{team_slug}/memberships/{username}.
func (x *teams) getMembership(r *http.Request) (int, any) {
	t, p := x.teamOf(r)
	if p != nil {
		return rest.Fail(p)
	}
	login := r.PathValue("login")
	if !slices.ContainsFunc(t.members, func(m string) bool { return strings.EqualFold(m, login) }) {
		return rest.Fail(rest.NotFound)
	}
	return http.StatusOK, rest.Object{
		"url": rest.APIURL + "orgs/" + r.PathValue("org") + "/teams/" + r.PathValue("team") + "/memberships/" + login, "role": "member", "state": "active",
	}
}
