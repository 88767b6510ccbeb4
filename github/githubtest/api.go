package githubtest

import (
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// ServeHTTP implements http.Handler: it is the API.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := h.options.Fault; f != nil && f(w, r) {
		return
	}
	h.mu.Lock()
	fail := h.faults.next()
	h.mu.Unlock()
	if fail != nil {
		fail(w)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// operations are the requests about a repository that a token must open.
var operations = map[string]func(*Repository, *http.Request) (int, any){
	"GET pulls":                            (*Repository).listPulls,
	"GET pulls/{number}":                   (*Repository).getPull,
	"GET pulls/{number}/files":             (*Repository).listFiles,
	"GET pulls/{number}/reviews":           (*Repository).listReviews,
	"GET pulls/{number}/commits":           (*Repository).listCommits,
	"GET issues/{number}/events":           (*Repository).listEvents,
	"GET commits/{ref}/status":             (*Repository).getStatus,
	"GET compare/{span}":                   (*Repository).compare,
	"GET branches/{branch}":                (*Repository).getBranch,
	"GET rules/branches/{branch}":          (*Repository).listRules,
	"GET contents/{path...}":               (*Repository).getContents,
	"GET git/ref/{ref...}":                 (*Repository).getRef,
	"GET git/commits/{sha}":                (*Repository).getCommit,
	"GET issues/comments":                  (*Repository).listAllComments,
	"GET issues/{number}/comments":         (*Repository).listComments,
	"POST issues/{number}/comments":        (*Repository).createComment,
	"PATCH issues/comments/{id}":           (*Repository).updateComment,
	"DELETE issues/comments/{id}":          (*Repository).deleteComment,
	"POST issues/comments/{id}/reactions":  (*Repository).createReaction,
	"GET collaborators/{login}/permission": (*Repository).getPermission,
	"POST check-runs":                      (*Repository).createCheck,
	"PATCH check-runs/{id}":                (*Repository).updateCheck,
	"GET commits/{ref}/check-runs":         (*Repository).listChecks,
}

// routes returns the whole API.
func (h *Hub) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]rest.Handler{
		"GET /app":                                             h.app.ByApp(h.getApp),
		"GET /app/installations":                               h.app.ByApp(h.listInstallations),
		"GET /app/hook/deliveries":                             h.app.ByApp(h.outbox.List),
		"GET /app/hook/deliveries/{id}":                        h.app.ByApp(h.outbox.Get),
		"POST /app/hook/deliveries/{id}/attempts":              h.app.ByApp(h.outbox.Attempt),
		"POST /app/installations/{installation}/access_tokens": h.app.ByApp(h.createToken),
		"GET /installation/repositories":                       h.listRepositories,
		"GET /repos/{owner}/{repo}/tarball/{ref...}":           h.getArchive,
		"GET /orgs/{org}/teams/{team}":                         h.getTeam,
		"GET /orgs/{org}/teams/{team}/memberships/{login}":     h.getMembership,
		"POST /graphql":                                        h.query,
		"/":                                                    func(*http.Request) (int, any) { return rest.Fail(rest.NotFound) },
	} {
		mux.HandleFunc(pattern, h.alone(answer))
	}
	for pattern, answer := range operations {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /repos/{owner}/{repo}/"+path, h.alone(func(r *http.Request) (int, any) {
			x, p := h.opened(r)
			if p != nil {
				return rest.Fail(p)
			}
			return answer(x, r)
		}))
	}
	mux.HandleFunc("GET /archive/{link}", h.sendArchive)
	return mux
}

// alone answers one request at a time.
func (h *Hub) alone(answer rest.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		status, body := answer(r)
		h.mu.Unlock()
		rest.Send(w, status, body)
	}
}

// opened finds the repository of a request, if its token opens it.
func (h *Hub) opened(r *http.Request) (*Repository, *rest.Problem) {
	t, p := h.app.Token(r)
	if p != nil {
		return nil, p
	}
	x := h.named(r)
	if x == nil || !t.Opens(x.installation, x.id) {
		return nil, rest.NotFound
	}
	if !t.Allows(r) {
		return nil, &rest.Problem{Status: http.StatusForbidden, Message: "Resource not accessible by integration"}
	}
	return x, nil
}

// named finds the repository in the path of a request, nil if there is none.
func (h *Hub) named(r *http.Request) *Repository {
	for _, x := range h.repos {
		if strings.EqualFold(x.owner.login, r.PathValue("owner")) && strings.EqualFold(x.name, r.PathValue("repo")) {
			return x
		}
	}
	return nil
}
