package apps

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Several are the Apps of one GitHub, of which one acts at a time: the first one, but while a request of another is
// answered. They share the key, and the IDs of installations.
type Several struct {
	*App
	all []*App
}

// First returns Several with one App.
func First(id int64, slug string) *Several {
	a := New(id, slug)
	return &Several{a, []*App{a}}
}

// Add adds an App with the permissions that the first one has.
func (s *Several) Add(id int64, slug string) {
	a := New(id, slug)
	a.Accept(maps.Clone(s.all[0].accepted))
	s.all = append(s.all, a)
}

// Act makes the App of a request act until back is called.
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

// ByApp lets a handler answer only requests of the App that acts itself: see byApp of an App.
func (s *Several) ByApp(h rest.Handler) rest.Handler {
	return func(r *http.Request) (int, any) { return s.App.byApp(h)(r) }
}
