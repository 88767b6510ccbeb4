package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// A token is an installation's. It opens some repositories, or, if blind, lists them
// only, or, if it reads, opens their files only.
type token struct {
	installation int64
	repos        []int64
	blind, reads bool
	expires      time.Time
}

// opens reports whether a token is good for a repository.
func (t *token) opens(x *Repository) bool {
	return x.installation == t.installation && slices.Contains(t.repos, x.id)
}

// What the App may do, and which webhooks it gets.
var (
	permissions = object{"metadata": "read", "contents": "read", "pull_requests": "write", "issues": "write", "checks": "write"}
	events      = []string{"check_run", "check_suite", "issue_comment", "pull_request", "pull_request_review"}
)

var notTheApp = &problem{http.StatusUnauthorized, "A JSON web token could not be decoded"}

// ExpireTokens makes all tokens that were given out worthless.
func (h *Hub) ExpireTokens() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.tokens)
}

// isApp reports whether a request comes from the App itself. GitHub's rules: RS256,
// the App's ID as issuer, issued in the past, valid for ten minutes at most.
func (h *Hub) isApp(r *http.Request) bool {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	var c jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return &h.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(number64(h.options.AppID)),
		jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	return err == nil && c.IssuedAt != nil && c.ExpiresAt.Sub(time.Now()) <= 10*time.Minute
}

// token finds the token of a request.
func (h *Hub) token(r *http.Request) (*token, *problem) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := h.tokens[text]
	if t == nil || time.Now().After(t.expires) {
		return nil, &problem{http.StatusUnauthorized, "Bad credentials"}
	}
	return t, nil
}

// repo finds the repository of a request, if its token opens it.
func (h *Hub) repo(r *http.Request) (*Repository, *problem) {
	t, p := h.token(r)
	if p != nil {
		return nil, p
	}
	x := h.named(r)
	if x == nil || !t.opens(x) {
		return nil, notFound
	}
	file := strings.Contains(r.URL.Path, "/tarball/") || strings.Contains(r.URL.Path, "/contents/")
	if t.blind || t.reads && !file {
		return nil, &problem{http.StatusForbidden, "Resource not accessible by integration"}
	}
	return x, nil
}

// named finds the repository that a request names, nil if there is none.
func (h *Hub) named(r *http.Request) *Repository {
	for _, x := range h.repos {
		if strings.EqualFold(x.owner.login, r.PathValue("owner")) && strings.EqualFold(x.name, r.PathValue("repo")) {
			return x
		}
	}
	return nil
}

// createToken is POST /app/installations/{installation}/access_tokens.
func (h *Hub) createToken(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(notTheApp)
	}
	id, _ := strconv.ParseInt(r.PathValue("installation"), 10, 64)
	var in struct {
		RepositoryIDs []int64           `json:"repository_ids"`
		Repositories  []string          `json:"repositories"`
		Permissions   map[string]string `json:"permissions"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return fail(&problem{http.StatusUnprocessableEntity, "Problems parsing JSON"})
	}
	alone := len(in.Permissions) == 1
	t := &token{
		installation: id, expires: time.Now().Add(time.Hour),
		blind: alone && in.Permissions["metadata"] != "", reads: alone && in.Permissions["contents"] == "read",
	}
	granted := permissions
	switch {
	case t.blind:
		granted = object{"metadata": "read"}
	case t.reads:
		granted = object{"metadata": "read", "contents": "read"}
	}
	wanted := len(in.RepositoryIDs) + len(in.Repositories)
	var repos []any
	known := false
	for _, x := range h.repos {
		if x.installation != id {
			continue
		}
		known = true
		named := slices.ContainsFunc(in.Repositories, func(name string) bool { return strings.EqualFold(name, x.name) })
		if wanted == 0 || named || slices.Contains(in.RepositoryIDs, x.id) {
			t.repos = append(t.repos, x.id)
			repos = append(repos, h.repoJSON(x))
		}
	}
	if !known {
		return fail(notFound)
	}
	if wanted > len(t.repos) {
		return fail(&problem{http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation."})
	}
	text := h.secret("ghs_")
	h.tokens[text] = t
	return http.StatusCreated, map[string]any{
		"token": text, "expires_at": stamp(t.expires.UTC()), "repository_selection": "selected", "repositories": repos,
		"permissions": granted,
	}
}

// getApp is GET /app.
func (h *Hub) getApp(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(notTheApp)
	}
	return http.StatusOK, h.appJSON(h.ownApp())
}

// An app is a GitHub App: ours, or somebody else's.
type app struct {
	id   int64
	slug string
}

func (h *Hub) ownApp() app { return app{h.options.AppID, h.options.AppName} }

func (h *Hub) appJSON(a app) object {
	return object{
		"id": a.id, "slug": a.slug, "node_id": nodeID("App", a.id),
		"owner": h.userJSON(h.users[h.appLogin()]), "name": a.slug, "description": "",
		"external_url": webURL, "html_url": webURL + "apps/" + a.slug,
		"created_at": stamp(epoch), "updated_at": stamp(epoch), "permissions": permissions, "events": events,
	}
}
