package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A nameFinder finds a repository by name, or by ID if name is "". present is its name now; "" if there is
// none. moved is the ID of the repository that had the name before.
type nameFinder func(name string, id int64) (present string, moved int64)

// underPresentNames returns a handler for requests about a repository. A request for a former name is
// redirected to the repository's ID. Any other request is passed to the handler next under the repository's
// present name.
func underPresentNames(find nameFinder, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, ok := askedRepository(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		switch name, moved := find(q.name, q.id); {
		case name != "":
			next.ServeHTTP(w, q.of(r, name))
		case moved != 0:
			q.moved(w, r, moved)
		case q.id != 0:
			rest.SendProblem(w, rest.NotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// nameQuestion says which repository a request names: by name, or by ID. rest is the rest of the path.
type nameQuestion struct {
	name string
	id   int64
	rest string
}

// askedRepository returns the repository that a request names; ok is false if it names none.
func askedRepository(r *http.Request) (q nameQuestion, ok bool) {
	path := r.URL.EscapedPath()
	if named, is := strings.CutPrefix(path, "/repos/"); is {
		parts := strings.SplitN(named, "/", 3)
		if len(parts) < 2 {
			return q, false
		}
		return nameQuestion{name: parts[0] + "/" + parts[1], rest: strings.Join(parts[2:], "/")}, true
	}
	path, ok = strings.CutPrefix(path, "/repositories/")
	text, path, _ := strings.Cut(path, "/")
	id, err := strconv.ParseInt(text, 10, 64)
	return nameQuestion{id: id, rest: path}, ok && err == nil
}

// moved redirects a request for a former name to the repository's ID. For methods other than GET the status is
// 307, because clients change the method after a 301.
// Source: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (q nameQuestion) moved(w http.ResponseWriter, r *http.Request, id int64) {
	status := http.StatusMovedPermanently
	if r.Method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	at := q.at(r, fmt.Sprintf("/repositories/%d", id))
	at.Scheme, at.Host = "http", r.Host
	rest.Send(w, status, rest.Redirect(at.String()))
}

// of returns a copy of a request with the repository's name in its path.
func (q nameQuestion) of(r *http.Request, name string) *http.Request {
	out := *r
	out.URL = q.at(r, "/repos/"+name)
	return &out
}

// at returns the URL of a request, with the address below in place of the part of the path that names the
// repository.
func (q nameQuestion) at(r *http.Request, below string) *url.URL {
	at := *r.URL
	at.RawPath = strings.TrimSuffix(below+"/"+q.rest, "/")
	if path, err := url.PathUnescape(at.RawPath); err == nil {
		at.Path = path
	}
	return &at
}
