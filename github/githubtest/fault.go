package githubtest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Failure writes an error in place of the answer to a request.
type Failure func(w http.ResponseWriter)

// Outage answers as GitHub does while it is down.
func Outage(w http.ResponseWriter) { writeFault(w, http.StatusInternalServerError, "Server Error") }

// Limited answers as GitHub does if the requests of an hour are used up. The parameter until is the time at
// which the next hour begins.
//
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func Limited(until time.Time) Failure {
	return func(w http.ResponseWriter) {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(until.Unix(), 10))
		writeFault(w, http.StatusForbidden, "API rate limit exceeded for installation.")
	}
}

// SecondaryLimit answers as GitHub does after too many requests at a time. The answer contains the number of
// seconds after which the client may ask again; with 0 it contains no number.
func SecondaryLimit(after int) Failure {
	return func(w http.ResponseWriter) {
		if after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
		writeFault(w, http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	}
}

func writeFault(w http.ResponseWriter, status int, message string) {
	rest.SendProblem(w, &rest.Problem{Status: status, Message: message})
}

// nextFailures are the failures of the next requests. The zero value has none.
type nextFailures struct {
	left int // requests that fail; negative: all
	as   Failure
}

// failNext returns the failure f for the next n requests; a negative n means all.
func failNext(n int, f Failure) nextFailures { return nextFailures{n, f} }

// Take returns the failure of the next request; nil if the request is to be answered.
func (f *nextFailures) Take() Failure {
	if f.left == 0 {
		return nil
	}
	f.left = max(f.left-1, -1)
	return f.as
}
