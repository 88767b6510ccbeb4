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

// A token is an installation's.
type token struct {
	installation int64
	repos        []int64
	expires      time.Time
}

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
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(strconv.FormatInt(h.options.AppID, 10)),
		jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	return err == nil && c.IssuedAt != nil && c.ExpiresAt.Sub(time.Now()) <= 10*time.Minute
}

// repo finds the repository of a request, if its token opens it.
func (h *Hub) repo(r *http.Request) (*Repository, *problem) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := h.tokens[text]
	if t == nil || time.Now().After(t.expires) {
		return nil, &problem{http.StatusUnauthorized, "Bad credentials"}
	}
	for _, x := range h.repos {
		if strings.EqualFold(x.owner.login, r.PathValue("owner")) && strings.EqualFold(x.name, r.PathValue("repo")) &&
			slices.Contains(t.repos, x.id) {
			return x, nil
		}
	}
	return nil, notFound
}

// createToken is POST /app/installations/{installation}/access_tokens.
func (h *Hub) createToken(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(&problem{http.StatusUnauthorized, "A JSON web token could not be decoded"})
	}
	id, _ := strconv.ParseInt(r.PathValue("installation"), 10, 64)
	var in struct {
		RepositoryIDs []int64 `json:"repository_ids"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return fail(&problem{http.StatusUnprocessableEntity, "Problems parsing JSON"})
	}
	t := &token{installation: id, expires: time.Now().Add(time.Hour)}
	var repos []any
	known := false
	for _, x := range h.repos {
		if x.installation != id {
			continue
		}
		known = true
		if len(in.RepositoryIDs) == 0 || slices.Contains(in.RepositoryIDs, x.id) {
			t.repos = append(t.repos, x.id)
			repos = append(repos, h.repoJSON(x))
		}
	}
	if !known {
		return fail(notFound)
	}
	if len(in.RepositoryIDs) > len(t.repos) {
		return fail(&problem{http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation."})
	}
	text := "ghs_" + randomText()
	h.tokens[text] = t
	return http.StatusCreated, map[string]any{
		"token": text, "expires_at": stamp(t.expires.UTC()), "repository_selection": "selected", "repositories": repos,
		"permissions": map[string]any{"contents": "read", "metadata": "read", "pull_requests": "write", "issues": "write"},
	}
}

// getApp is GET /app.
func (h *Hub) getApp(r *http.Request) (int, any) {
	if !h.isApp(r) {
		return fail(&problem{http.StatusUnauthorized, "A JSON web token could not be decoded"})
	}
	return http.StatusOK, map[string]any{
		"id": h.options.AppID, "slug": h.options.AppName, "node_id": nodeID("App", h.options.AppID),
		"owner": h.userJSON(h.users[h.appLogin()]), "name": h.options.AppName, "description": "",
		"external_url": webURL, "html_url": webURL + "apps/" + h.options.AppName,
		"created_at": stamp(epoch), "updated_at": stamp(epoch),
		"permissions": map[string]any{"contents": "read", "metadata": "read", "pull_requests": "write", "issues": "write"},
		"events":      []string{"issue_comment", "pull_request"},
	}
}
