package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP implements http.Handler: it is the API.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := h.options.Fault; f != nil && f(w, r) || h.failed(w) {
		return
	}
	h.mux.ServeHTTP(w, r)
}

func (h *Hub) routes() *http.ServeMux {
	mux := http.NewServeMux()
	whole := func(pattern string, f func(*http.Request) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			status, body := f(r)
			h.mu.Unlock()
			reply(w, status, body)
		})
	}
	in := func(pattern string, f func(*Repository, *http.Request) (int, any)) {
		whole(pattern, func(r *http.Request) (int, any) {
			x, p := h.repo(r)
			if p != nil {
				return fail(p)
			}
			return f(x, r)
		})
	}
	whole("GET /app", h.getApp)
	whole("GET /app/installations", h.listInstallations)
	whole("GET /app/hook/deliveries", h.listDeliveries)
	whole("GET /app/hook/deliveries/{id}", h.getDelivery)
	whole("POST /app/hook/deliveries/{id}/attempts", h.attemptDelivery)
	whole("GET /installation/repositories", h.listRepositories)
	whole("POST /app/installations/{installation}/access_tokens", h.createToken)
	in("GET /repos/{owner}/{repo}/pulls", h.listPulls)
	in("GET /repos/{owner}/{repo}/pulls/{number}", h.getPull)
	in("GET /repos/{owner}/{repo}/pulls/{number}/files", h.listFiles)
	in("GET /repos/{owner}/{repo}/pulls/{number}/reviews", h.listReviews)
	whole("GET /repos/{owner}/{repo}/tarball/{ref...}", h.getArchive)
	in("GET /repos/{owner}/{repo}/contents/{path...}", h.getContents)
	in("GET /repos/{owner}/{repo}/git/ref/{ref...}", h.getRef)
	in("GET /repos/{owner}/{repo}/git/commits/{sha}", h.getCommit)
	in("GET /repos/{owner}/{repo}/issues/comments", h.listAllComments)
	in("GET /repos/{owner}/{repo}/issues/{number}/comments", h.listComments)
	in("POST /repos/{owner}/{repo}/issues/{number}/comments", h.createComment)
	in("PATCH /repos/{owner}/{repo}/issues/comments/{id}", h.updateComment)
	in("DELETE /repos/{owner}/{repo}/issues/comments/{id}", h.deleteComment)
	in("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", h.createReaction)
	in("GET /repos/{owner}/{repo}/collaborators/{login}/permission", h.getPermission)
	in("POST /repos/{owner}/{repo}/check-runs", h.createCheck)
	in("PATCH /repos/{owner}/{repo}/check-runs/{id}", h.updateCheck)
	in("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", h.listChecks)
	mux.HandleFunc("GET /archive/{link}", h.sendArchive)
	whole("/", func(*http.Request) (int, any) { return fail(notFound) })
	return mux
}

// A problem is an answer that is none.
type problem struct {
	status  int
	message string
}

var notFound = &problem{http.StatusNotFound, "Not Found"}

func fail(p *problem) (int, any) {
	return p.status, map[string]any{"message": p.message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(p.status)}
}

// redirect is the body of an answer that is somewhere else.
type redirect string

// page is a list's answer, with the number of the page after it.
type page struct {
	items any
	next  string
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("X-RateLimit-Limit", "5000")
	w.Header().Set("X-RateLimit-Remaining", "4999")
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	switch b := body.(type) {
	case nil:
		w.WriteHeader(status)
		return
	case redirect:
		w.Header().Set("Location", string(b))
		w.WriteHeader(status)
		return
	case page:
		if b.next != "" {
			w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, b.next))
		}
		body = b.items
	}
	send(w, status, body)
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

// paged cuts a list to the page that a request asks for.
func paged[T any](r *http.Request, all []T) page {
	q := r.URL.Query()
	per, _ := strconv.Atoi(q.Get("per_page"))
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	n, _ := strconv.Atoi(q.Get("page"))
	n = max(n, 1)
	from := min((n-1)*per, len(all))
	to := min(from+per, len(all))
	p := page{items: append([]T{}, all[from:to]...)}
	if to < len(all) {
		q.Set("page", strconv.Itoa(n+1))
		p.next = (&url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawQuery: q.Encode()}).String()
	}
	return p
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.PathValue(name))
	return n
}

func number64(n int64) string { return strconv.FormatInt(n, 10) }

func (h *Hub) getPermission(x *Repository, r *http.Request) (int, any) {
	login := r.PathValue("login")
	u := h.users[login]
	if u == nil || strings.Contains(login, "[bot]") {
		return fail(notFound)
	}
	p := x.permissions[login]
	if p == "" {
		p = "read" // of a public repository
	}
	user := h.userJSON(u)
	user["role_name"] = p
	return http.StatusOK, map[string]any{"permission": p, "role_name": p, "user": user}
}
