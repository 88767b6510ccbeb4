package githubtest

import (
	"net/http"
	"strconv"
	"time"
)

// A Failure is how GitHub can fail to answer.
type Failure func(w http.ResponseWriter)

// Outage is GitHub being down.
func Outage(w http.ResponseWriter) { fault(w, http.StatusInternalServerError, "Server Error") }

// Limited is GitHub's answer where the requests of an hour are used up, until a time.
func Limited(until time.Time) Failure {
	return func(w http.ResponseWriter) {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(until.Unix(), 10))
		fault(w, http.StatusForbidden, "API rate limit exceeded for installation.")
	}
}

// SecondaryLimit is GitHub's answer to too many requests at a time, to be asked again
// after a number of seconds; 0 if it does not say.
func SecondaryLimit(after int) Failure {
	return func(w http.ResponseWriter) {
		if after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
		fault(w, http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	}
}

func fault(w http.ResponseWriter, status int, message string) {
	status, body := fail(&problem{status, message})
	send(w, status, body)
}

// Fail lets the next n requests to the API fail, whatever they ask for; with n negative
// all until another call.
func (h *Hub) Fail(n int, f Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults, h.failure = n, f
}

// failed answers a request that is to fail.
func (h *Hub) failed(w http.ResponseWriter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faults == 0 {
		return false
	}
	h.faults = max(h.faults-1, -1)
	h.failure(w)
	return true
}
