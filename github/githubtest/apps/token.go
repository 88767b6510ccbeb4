package apps

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Token is one of an installation, for some of its repositories.
type Token struct {
	installation int64
	repositories []int64
	// Of the narrower sets of permissions two are known: metadata alone lists repositories, and
	// contents alone reads files.
	metadata, contents bool
	expires            time.Time
}

// A Grant is a repository that an installation may open, and its form in answers.
type Grant struct {
	ID   int64
	Name string
	JSON rest.Object
}

// A request for a token. Without repositories it asks for all, without permissions for all.
type request struct {
	RepositoryIDs []int64           `json:"repository_ids"`
	Repositories  []string          `json:"repositories"`
	Permissions   map[string]string `json:"permissions"`
}

// Opens reports whether a token is good for a repository.
func (t *Token) Opens(installation, repository int64) bool {
	return installation == t.installation && slices.Contains(t.repositories, repository)
}

// Allows reports whether the token's permissions suffice for a request about a repository.
func (t *Token) Allows(r *http.Request) bool {
	file := strings.Contains(r.URL.Path, "/tarball/") || strings.Contains(r.URL.Path, "/contents/")
	return !t.metadata && (!t.contents || file)
}

// Token finds the token of a request.
func (a *App) Token(r *http.Request) (*Token, *rest.Problem) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := a.tokens[text]
	if t == nil || time.Now().After(t.expires) {
		return nil, &rest.Problem{Status: http.StatusUnauthorized, Message: "Bad credentials"}
	}
	return t, nil
}

// Create answers POST /app/installations/{installation}/access_tokens, where grants are the
// repositories of that installation; there is no installation without one.
func (a *App) Create(r *http.Request, grants []Grant) (int, any) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	if len(grants) == 0 {
		return rest.Fail(rest.NotFound)
	}
	t, granted := in.token()
	t.installation = rest.ID(r, "installation")
	var shown []any
	for _, g := range grants {
		if in.wants(g) {
			t.repositories = append(t.repositories, g.ID)
			shown = append(shown, g.JSON)
		}
	}
	if len(in.RepositoryIDs)+len(in.Repositories) > len(t.repositories) {
		return rest.Fail(rest.Invalid("There is at least one repository that does not exist or is not accessible to the parent installation."))
	}
	text := a.Secret("ghs_")
	a.tokens[text] = t
	return http.StatusCreated, rest.Object{
		"token": text, "expires_at": rest.Stamp(t.expires.UTC()), "repository_selection": "selected", "repositories": shown,
		"permissions": granted,
	}
}

// token returns a token with the permissions of a request, for an hour.
func (in request) token() (*Token, rest.Object) {
	alone := len(in.Permissions) == 1
	t := &Token{
		expires:  time.Now().Add(time.Hour),
		metadata: alone && in.Permissions["metadata"] != "", contents: alone && in.Permissions["contents"] == "read",
	}
	switch {
	case t.metadata:
		return t, rest.Object{"metadata": "read"}
	case t.contents:
		return t, rest.Object{"metadata": "read", "contents": "read"}
	}
	return t, Permissions
}

func (in request) wants(g Grant) bool {
	if len(in.RepositoryIDs)+len(in.Repositories) == 0 || slices.Contains(in.RepositoryIDs, g.ID) {
		return true
	}
	return slices.ContainsFunc(in.Repositories, func(name string) bool { return strings.EqualFold(name, g.Name) })
}

// Expire ends all tokens.
func (a *App) Expire() { clear(a.tokens) }

// Secret makes a secret that is given to the author of a request.
func (a *App) Secret(prefix string) string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	text := prefix + hex.EncodeToString(b[:])
	a.given = append(a.given, text)
	return text
}

// Given returns all secrets so far.
func (a *App) Given() []string { return slices.Clone(a.given) }
