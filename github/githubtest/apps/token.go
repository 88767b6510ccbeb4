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

// A Token is an installation token, with the repositories and permissions that it gives access to.
type Token struct {
	installation int64
	all          bool // the installation's repositories, as they are now
	repositories []int64
	permissions  map[string]string
	expires      time.Time
}

// A Grant is a repository that an installation has access to, and the JSON that describes it in answers.
type Grant struct {
	ID   int64
	Name string
	JSON rest.Object
}

// request is the body of a request for a token. If it names no repositories, the token is for all repositories
// of the installation. If it names no permissions, the token has all accepted ones.
type request struct {
	RepositoryIDs []int64           `json:"repository_ids"`
	Repositories  []string          `json:"repositories"`
	Permissions   map[string]string `json:"permissions"`
}

// Opens reports whether the token gives access to a repository of an installation.
func (t *Token) Opens(installation, repository int64) bool {
	return installation == t.installation && (t.all || slices.Contains(t.repositories, repository))
}

// Allows reports whether the token's permissions fulfil a need.
func (t *Token) Allows(n Need) bool { return n.met(t.permissions) }

// Token returns the token that a request carries, or the problem to answer.
func (a *App) Token(r *http.Request) (*Token, *rest.Problem) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := a.tokens[text]
	if t == nil || time.Now().After(t.expires) {
		return nil, &rest.Problem{Status: http.StatusUnauthorized, Message: "Bad credentials"}
	}
	return t, nil
}

// Create answers POST /app/installations/{installation}/access_tokens. grants are the repositories of that
// installation; without any, the installation does not exist.
func (a *App) Create(r *http.Request, grants []Grant) (int, any) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return rest.Fail(rest.Invalid("Problems parsing JSON"))
	}
	if len(grants) == 0 {
		return rest.Fail(rest.NotFound)
	}
	granted, ok := a.narrowed(in.Permissions)
	if !ok {
		return rest.Fail(rest.Invalid("The permissions requested are not granted to this installation."))
	}
	t := &Token{installation: rest.ID(r, "installation"), all: in.all(), permissions: granted, expires: time.Now().Add(time.Hour)}
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

func (in request) all() bool { return len(in.RepositoryIDs)+len(in.Repositories) == 0 }

func (in request) wants(g Grant) bool {
	if in.all() || slices.Contains(in.RepositoryIDs, g.ID) {
		return true
	}
	return slices.ContainsFunc(in.Repositories, func(name string) bool { return strings.EqualFold(name, g.Name) })
}

// Expire makes all tokens invalid.
func (a *App) Expire() { clear(a.tokens) }

// Secret returns a new secret that begins with prefix. It keeps the secret in the list that [App.Given] returns.
func (a *App) Secret(prefix string) string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	text := prefix + hex.EncodeToString(b[:])
	a.given = append(a.given, text)
	return text
}

// Given returns all secrets that the App was given so far.
func (a *App) Given() []string { return slices.Clone(a.given) }
