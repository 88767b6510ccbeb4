package jobs

import "github.com/lockstep-iac/lockstep/functions/comment/notes"

// A DeathError is the end of a process that was to read, plan or apply something: it was killed at
// a limit, or its input broke it. Another attempt would end the same way.
type DeathError struct {
	What  string // its work: "planning `net`", in Markdown
	Why   string // a sentence: "It took more than 512 MiB of memory."
	Place string // that was being evaluated, or ""
	// Remedy is for people, in Markdown.
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

// Markdown is the error and its remedy, for people.
func (e *DeathError) Markdown() string {
	return notes.Ended{Work: e.What, Why: e.Why, Place: e.Place, Remedy: e.Remedy}.Markdown()
}
