package storytest

import (
	"net/http"
	"net/http/httptest"
)

// Direct is a transport without connections, which take longer than most answers. It passes each request to the
// handler that it returns for a host.
type Direct func(host string) http.Handler

// RoundTrip implements [http.RoundTripper].
func (d Direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	d(r.URL.Host).ServeHTTP(answer, r)
	return answer.Result(), nil
}
