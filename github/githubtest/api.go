package githubtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// ServeHTTP implements http.Handler: it is the API.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	underPresentNames(h.find, http.HandlerFunc(h.serve)).ServeHTTP(w, r)
}

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	if f := h.options.Fault; f != nil && f(w, r) {
		return
	}
	h.mu.Lock()
	fail := h.faults.Take()
	h.mu.Unlock()
	if fail != nil {
		fail(w)
		return
	}
	rest.Conditional(h.mux).ServeHTTP(w, r)
}

// An operation is a request about a repository: the permission that its token needs, and the handler.
type operation struct {
	needs  apps.Need
	answer reply
}

type reply = func(*Repository, *http.Request) (int, any)

// parts returns the handler for addresses such as issues/{number}/{part}. It passes a request to the handler
// that all has for the part. The address issues/comments/{id} has the same form: its requests go to the handler
// `one`.
func parts(all map[string]reply, one reply) reply {
	return func(x *Repository, r *http.Request) (int, any) {
		part := r.PathValue("part")
		if r.PathValue("number") == "comments" {
			r.SetPathValue("id", part)
			return one(x, r)
		}
		if answer := all[part]; answer != nil {
			return answer(x, r)
		}
		return rest.Fail(rest.NotFound)
	}
}

// Requests about comments on pull requests need the permission for issues or the one for pull requests.
const (
	talkRead  apps.Need = "issues:read or pull_requests:read"
	talkWrite apps.Need = "issues:write or pull_requests:write"
)

// operations are the handlers of all requests about a repository, except for archives, each with the permission
// that GitHub documents.
//
// Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
var operations = map[string]operation{
	"GET pulls":                       {"pull_requests:read", (*Repository).listPulls},
	"POST pulls":                      {"pull_requests:write", (*Repository).createPull},
	"POST git/refs":                   {"contents:write", (*Repository).createRef},
	"PUT contents/{path...}":          {"contents:write", (*Repository).putContents},
	"GET pulls/{number}":              {"pull_requests:read", (*Repository).getPull},
	"PUT pulls/{number}/merge":        {"contents:write", (*Repository).landPull},
	"DELETE git/refs/{ref...}":        {"contents:write", (*Repository).deleteRef},
	"GET pulls/{number}/reviews/{id}": {"pull_requests:read", (*Repository).getReview},
	"GET pulls/{number}/{part}": {"pull_requests:read", parts(map[string]reply{
		"files": (*Repository).listFiles, "reviews": (*Repository).listReviews, "commits": (*Repository).listCommits,
	}, (*Repository).getLine)},
	"GET issues/{number}/{part}": {talkRead, parts(map[string]reply{
		"events": (*Repository).listEvents, "comments": (*Repository).listComments,
	}, (*Repository).getComment)},
	"GET activity":                                        {"contents:read", (*Repository).listActivities},
	"GET commits/{ref}/status":                            {"statuses:read", (*Repository).getStatus},
	"GET compare/{span}":                                  {"contents:read", (*Repository).compare},
	"GET branches/{branch}":                               {"contents:read", (*Repository).getBranch},
	"GET rules/branches/{branch}":                         {"metadata:read", (*Repository).listRules},
	"GET codeowners/errors":                               {"contents:read", listOwnerErrors},
	"GET contents/{path...}":                              {"contents:read", (*Repository).getContents},
	"GET git/ref/{ref...}":                                {"contents:read", (*Repository).getRef},
	"GET git/commits/{sha}":                               {"contents:read", (*Repository).getCommit},
	"GET issues":                                          {"issues:read", (*Repository).listIssues},
	"POST issues":                                         {"issues:write", (*Repository).createIssue},
	"GET issues/{number}":                                 {"issues:read", (*Repository).getIssue},
	"PATCH issues/{number}":                               {"issues:write", (*Repository).updateIssue},
	"GET issues/comments":                                 {talkRead, (*Repository).listAllComments},
	"POST issues/{number}/comments":                       {talkWrite, (*Repository).createComment},
	"PATCH issues/comments/{id}":                          {talkWrite, (*Repository).updateComment},
	"DELETE issues/comments/{id}":                         {talkWrite, (*Repository).deleteComment},
	"POST issues/comments/{id}/reactions":                 {"issues:write", (*Repository).createReaction},
	"GET collaborators/{login}/permission":                {"metadata:read", (*Repository).getPermission},
	"POST check-runs":                                     {"checks:write", (*Repository).createCheck},
	"PATCH check-runs/{id}":                               {"checks:write", (*Repository).updateCheck},
	"GET environments/{name}":                             {"actions:read", (*Repository).getEnvironment},
	"GET environments/{name}/deployment-branch-policies":  {"actions:read", (*Repository).listBranchPolicies},
	"GET environments/{name}/deployment_protection_rules": {"actions:read", (*Repository).listProtectionRules},
	"GET deployments":                                     {"deployments:read", (*Repository).listDeployments},
	"POST deployments":                                    {"deployments:write", (*Repository).createDeployment},
	"POST deployments/{id}/statuses":                      {"deployments:write", (*Repository).createDeploymentStatus},
	"GET check-runs/{id}/annotations":                     {"checks:read", (*Repository).listAnnotations},
	"GET commits/{ref}/check-runs":                        {"checks:read", (*Repository).listChecks},
}

// routes returns the handler for all addresses of the API.
func (h *Hub) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]rest.Handler{
		"GET /app":                                             h.app.ByApp(h.getApp),
		"GET /app/installations":                               h.app.ByApp(h.listInstallations),
		"POST /app-manifests/{code}/conversions":               h.convert,
		"GET /app/hook/config":                                 h.app.ByApp(h.outbox.Config),
		"PATCH /app/hook/config":                               h.app.ByApp(h.outbox.SetConfig),
		"GET /app/hook/deliveries":                             h.app.ByApp(h.outbox.List),
		"GET /app/hook/deliveries/{id}":                        h.app.ByApp(h.outbox.Get),
		"POST /app/hook/deliveries/{id}/attempts":              h.app.ByApp(h.outbox.Attempt),
		"POST /app/installations/{installation}/access_tokens": h.app.ByApp(h.createToken),
		"GET /installation/repositories":                       h.listRepositories,
		"DELETE /applications/{id}/token":                      h.revokeToken,
		"GET /user":                                            h.byUser(h.getUser),
		"GET /user/installations":                              h.byUser(h.listUserInstallations),
		"GET /user/installations/{installation}/repositories":  h.byUser(h.listUserRepositories),
		"GET /repos/{owner}/{repo}":                            h.getRepository,
		"GET /repos/{owner}/{repo}/tarball/{ref...}":           h.getArchive,
		"GET /orgs/{org}/teams/{team}":                         h.teams.getTeam,
		"GET /orgs/{org}/teams/{team}/memberships/{login}":     h.teams.getMembership,
		"POST /graphql":                                        h.query,
		"/":                                                    func(*http.Request) (int, any) { return rest.Fail(rest.NotFound) },
	} {
		mux.HandleFunc(pattern, h.alone(answer))
	}
	for pattern, o := range operations {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /repos/{owner}/{repo}/"+path, h.alone(func(r *http.Request) (int, any) {
			x, p := h.opened(r, o.needs)
			if p != nil {
				return rest.Fail(p)
			}
			return o.answer(x, r)
		}))
	}
	mux.HandleFunc("GET /archive/{link}", h.sendArchive)
	mux.HandleFunc("GET /login/oauth/authorize", h.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", h.exchange)
	mux.HandleFunc("POST /settings/apps/new", h.register)
	mux.HandleFunc("POST /organizations/{org}/settings/apps/new", h.register)
	return mux
}

// alone returns a handler that answers one request at a time.
func (h *Hub) alone(answer rest.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		back := h.app.Act(r)
		status, body := answer(r)
		back()
		h.mu.Unlock()
		rest.Send(w, status, rest.Lean(h.options.Lean, body))
	}
}

// opened returns the repository of a request. If the request's token has no access to it with the permission n,
// opened returns the problem to answer.
func (h *Hub) opened(r *http.Request, n apps.Need) (*Repository, *rest.Problem) {
	t, p := h.app.Token(r)
	if p != nil {
		return nil, p
	}
	x := h.repos.named(r)
	if x == nil || !t.Opens(x.installation, x.id) {
		return nil, rest.NotFound
	}
	if !t.Allows(n) {
		return nil, apps.Forbidden
	}
	return x, nil
}

// getRepository answers with the data of a repository.
func (h *Hub) getRepository(r *http.Request) (int, any) {
	x, p := h.opened(r, "metadata:read")
	if login := h.reader(r); login != "" {
		if x, p = h.repos.named(r), nil; x == nil || !x.readable(login) {
			p = rest.NotFound
		}
	}
	if p != nil {
		return rest.Fail(p)
	}
	o := x.repo.json()
	o["has_discussions"], o["network_count"], o["subscribers_count"] = false, 0, 0
	return http.StatusOK, o
}

// repositories are all repositories of a Hub.
type repositories []*Repository

// named returns the repository in the path of a request; nil if there is none.
func (l repositories) named(r *http.Request) *Repository {
	return l.called(r.PathValue("owner") + "/" + r.PathValue("repo"))
}

// openedIn reports whether a token has access to any repository of an account.
func (l repositories) openedIn(account string, t *apps.Token) bool {
	return slices.ContainsFunc(l, func(x *Repository) bool {
		return strings.EqualFold(x.owner.login, account) && t.Opens(x.installation, x.id)
	})
}
