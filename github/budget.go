package github

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Budget is how many requests GitHub accepts from an installation in an hour, by its last answer. Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
type Budget struct {
	Limit, Left int       // of all users of the installation; 0 and 0 if GitHub has said nothing
	Reset       time.Time // when the next hour begins
	Used        int       // by this client, since it was made
}

// Budget returns the budget of the client's installation.
func (c *Client) Budget() Budget { return c.meter.read() }

// A meter reads budgets from the answers that pass.
type meter struct {
	mu  sync.Mutex
	now Budget
}

func (m *meter) read() Budget {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// through returns base with the meter reading its answers; a nil meter reads nothing.
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

// RoundTrip implements http.RoundTripper. An unchanged answer costs nothing, and other kinds of requests have
// their own limits.
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
