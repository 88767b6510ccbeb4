package github

import (
	"net/http"
	"slices"
)

// finalStatus are the HTTP statuses of refusals that do not pass by themselves. A missing object, an expired
// token and a rate limit are recognized before. A conflict (409) is not final: another request ran at the same
// time.
var finalStatus = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusNotAcceptable, http.StatusGone, http.StatusRequestEntityTooLarge,
	http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons,
}

// forbiddenRemedy is the advice to users if the App lacks a permission.
const forbiddenRemedy = "An operator of Lockstep has to check two things: that the installation of the GitHub App has accepted its permissions, and that the IP allow list of the organization lets it in."

// final returns a refusal by GitHub as a FinalError; nil if the status is not final. what says what the call
// tried to do, and why is GitHub's reason.
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

// A FinalError is a refusal that repeats until a person changes something: a file or an archive cannot be used,
// or GitHub refuses for good. Its text is for people: everybody who can read the repository may read it. The
// error for a missing object wraps [ErrNotFound] instead. Outages and limits ([RateLimitedError]) pass, and are
// not final.
type FinalError struct {
	What string // what the call tried to do
	// Why is the reason. It may quote text that others wrote.
	Why string
	// Remedy is advice on how to fix the cause: a sentence in Markdown, written by Lockstep; "" if unknown.
	Remedy string
}

// Error implements error.
func (e *FinalError) Error() string {
	if e.What == "" {
		return e.Why
	}
	return e.What + ": " + e.Why
}
