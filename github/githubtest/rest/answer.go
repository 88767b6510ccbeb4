package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Handler returns the status and the body of the answer to a request. The body is nil, a [Redirect], a
// [Page], or a value that encoding/json accepts.
type Handler func(*http.Request) (status int, body any)

// A Problem is an error answer of GitHub's API.
type Problem struct {
	Status  int
	Message string
}

// NotFound is the answer if something does not exist, or if the token has no access to it.
var NotFound = &Problem{http.StatusNotFound, "Not Found"}

// Fail returns the status and the body of an error answer.
func Fail(p *Problem) (int, any) {
	return p.Status, Object{"message": p.Message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(p.Status)}
}

// Invalid returns the error answer to a request with invalid content.
func Invalid(format string, args ...any) *Problem {
	return &Problem{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...)}
}

// A Redirect is the body of an answer that redirects to another address.
type Redirect string

// A Page is a part of a list. Next is the address of the next page; "" after the last.
type Page struct {
	Items any
	Next  string
}

// Paged returns the page of a list that the parameters page and per_page of a request select. A page has 30
// items by default, and 100 at most.
//
// Source: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
func Paged[T any](r *http.Request, all []T) Page {
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
	p := Page{Items: append([]T{}, all[from:to]...)}
	if to < len(all) {
		q.Set("page", strconv.Itoa(n+1))
		p.Next = (&url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawQuery: q.Encode()}).String()
	}
	return p
}

// Send writes an answer, with headers of a rate limit that is far from used up.
func Send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("X-RateLimit-Limit", "5000")
	w.Header().Set("X-RateLimit-Remaining", "4999")
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	switch b := body.(type) {
	case nil:
		w.WriteHeader(status)
		return
	case Redirect:
		w.Header().Set("Location", string(b))
		w.WriteHeader(status)
		return
	case Page:
		if b.Next != "" {
			w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, b.Next))
		}
		body = b.Items
	}
	write(w, status, body)
}

// SendProblem writes an error answer, without rate limit headers.
func SendProblem(w http.ResponseWriter, p *Problem) {
	status, body := Fail(p)
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(append(Encode(body), '\n'))
}

// ID returns the number in a request's path under the name of a pattern; 0 if it is not a number.
func ID(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

// Selects reports whether a query parameter selects a value: it equals the value, or is "".
func Selects(parameter, value string) bool { return parameter == "" || parameter == value }

// First returns the first element for which match returns true; nil if there is none.
func First[T any](list []*T, match func(*T) bool) *T {
	for _, x := range list {
		if match(x) {
			return x
		}
	}
	return nil
}
