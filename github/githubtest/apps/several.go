package apps

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Several are the Apps of one fake GitHub. The embedded App is the active one: this is the first App, except
// while a request of another App is answered. All share one key, and the IDs of installations.
type Several struct {
	*App
	all []*App
}

// First returns Several with one App.
func First(id int64, slug string) *Several {
	a := New(id, slug)
	return &Several{a, []*App{a}}
}

// Add adds an App with the same permissions as the first one.
func (s *Several) Add(id int64, slug string) {
	a := New(id, slug)
	a.Accept(maps.Clone(s.all[0].accepted))
	s.all = append(s.all, a)
}

// Act makes the App that sent the request r the active App. The function back makes the first App active again.
func (s *Several) Act(r *http.Request) (back func()) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	var c jwt.RegisteredClaims
	_, _, _ = jwt.NewParser().ParseUnverified(text, &c)
	for _, a := range s.all {
		if a.tokens[text] != nil || c.Issuer == strconv.FormatInt(a.ID, 10) {
			s.App = a
		}
	}
	return func() { s.App = s.all[0] }
}

// ByApp returns a handler that answers only requests of the active App itself; see App.byApp.
func (s *Several) ByApp(h rest.Handler) rest.Handler {
	return func(r *http.Request) (int, any) { return s.App.byApp(h)(r) }
}
