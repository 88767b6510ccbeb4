package github

import (
	"net/http"
	"slices"
)

// A FinalError says that something cannot be had, and that asking again has the same
// answer until a person has mended it: a file or an archive is not one to use, or
// GitHub refuses for good. It is for people: what it says can be shown to those who see
// the repository. What is not there wraps [ErrNotFound] instead; outages and limits
// ([RateLimitedError]) pass, and are not final.
type FinalError struct {
	What string // was to be done
	// Why may quote what others wrote.
	Why string
	// Remedy is a sentence, in Markdown of ours, that says what helps; "" if nothing does
	// that we know of.
	Remedy string
}

// Error implements error.
func (e *FinalError) Error() string {
	if e.What == "" {
		return e.Why
	}
	return e.What + ": " + e.Why
}

// finalStatus are the refusals that do not pass by themselves. That something is not
// there, or that a token or a limit is used up, is told apart before. A conflict (409)
// is with somebody who does something at the same time.
var finalStatus = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusNotAcceptable, http.StatusGone, http.StatusRequestEntityTooLarge,
	http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons,
}

// forbiddenRemedy is what helps where the App is not allowed something.
const forbiddenRemedy = "Whoever runs Lockstep has to see what the GitHub App may do here: the permissions that its installation has accepted, and from where the organization lets Apps in."

// final returns a refusal by GitHub as a FinalError, nil if it is none.
func final(what string, status int, why string) *FinalError {
	if !slices.Contains(finalStatus, status) {
		return nil
	}
	e := &FinalError{What: what, Why: why}
	if status == http.StatusForbidden {
		e.Remedy = forbiddenRemedy
	}
	return e
}
