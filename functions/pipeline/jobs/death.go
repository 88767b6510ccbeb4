package jobs

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A DeathError says that the process which was to read, plan or apply something has ended
// before it was done: at a limit, or by what it was given. Doing it again would do the same.
type DeathError struct {
	What  string // it was doing: "planning `net`", in Markdown
	Why   string // a sentence: "It took more than 512 MiB of memory."
	Place string // that was being evaluated, or ""
	// Remedy is what people can do about it, in Markdown.
	Remedy string
}

// Error implements error.
func (e *DeathError) Error() string {
	text := e.What + " was ended: " + e.Why
	if e.Place != "" {
		text += " It was at " + e.Place + "."
	}
	return text
}

// Markdown is the error for people, with what they can do.
func (e *DeathError) Markdown() string {
	text := fmt.Sprintf("**%s was ended before it was done.** %s", e.What, e.Why)
	if e.Place != "" {
		text += fmt.Sprintf(" It was at %s.", comment.Code(e.Place))
	}
	return text + "\n\n" + e.Remedy
}
