// Package lasting has the error of refusals that stay until a person changes something; package github
// gives it out under its own name. It refuses to know the reasons. Start at [Error].
package lasting

// An Error is a refusal that repeats until a person changes something: a file or an archive
// cannot be used, or GitHub refuses for good. It is meant for people: its text can be shown to
// everybody who sees the repository. An object that does not exist wraps github.ErrNotFound instead;
// outages and limits (github.RateLimitedError) pass, and are not final.
type Error struct {
	What string // the aim
	// Why may quote text of others.
	Why string
	// Remedy is a sentence in Markdown, written by us, with the way to mend it; "" if none is
	// known.
	Remedy string
}

// Error implements error.
func (e *Error) Error() string {
	if e.What == "" {
		return e.Why
	}
	return e.What + ": " + e.Why
}
