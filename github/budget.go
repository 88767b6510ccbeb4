package github

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Budget is the rate limit of an installation: how many requests GitHub accepts in an hour, and how many are
// left, as of GitHub's last answer. Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
type Budget struct {
	Limit, Left int       // for all users of the installation; 0 and 0 before GitHub's first answer
	Reset       time.Time // when the next hour begins
	Used        int       // requests by this client so far
}

// Budget returns the budget of the client's installation.
func (c *Client) Budget() Budget { return c.meter.read() }

// A meter updates a Budget from the rate limit headers of GitHub's answers.
type meter struct {
	mu  sync.Mutex
	now Budget
}

func (m *meter) read() Budget {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// through returns a transport that makes requests through base and updates the meter from their answers. A nil
// meter returns base.
func (m *meter) through(base http.RoundTripper) http.RoundTripper {
	if m == nil {
		return base
	}
	return metered{base, m}
}

type metered struct {
	base http.RoundTripper
	*meter
}

// RoundTrip implements http.RoundTripper. It updates the Budget from the answer, unless the request counts against
// another rate limit. Used does not count 304 answers, because they cost nothing.
func (x metered) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := x.base.RoundTrip(req)
	if err != nil {
		return res, err
	}
	limit, _ := strconv.Atoi(res.Header.Get("X-RateLimit-Limit"))
	left, e2 := strconv.Atoi(res.Header.Get("X-RateLimit-Remaining"))
	reset, e3 := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64)
	kind := res.Header.Get("X-RateLimit-Resource")
	if limit <= 0 || e2 != nil || e3 != nil || kind != "" && kind != "core" {
		return res, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.now.Limit, x.now.Left, x.now.Reset = limit, left, time.Unix(reset, 0).UTC()
	if res.StatusCode != http.StatusNotModified {
		x.now.Used++
	}
	return res, nil
}
