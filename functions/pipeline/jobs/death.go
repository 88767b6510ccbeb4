package jobs

import "github.com/lockstep-iac/lockstep/functions/comment/notes"

// A DeathError reports that a process has died while it read, planned or applied something. It was killed at a
// limit, or its input crashed it. Another attempt would end in the same way.
type DeathError struct {
	What  string // its work in Markdown: "planning `net`"
	Why   string // a sentence: "It took more than 512 MiB of memory."
	Place string // the place that was being evaluated, or ""
	// Remedy says what to do, in Markdown.
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

// Markdown returns the error and its remedy, for people.
func (e *DeathError) Markdown() string {
	return notes.Ended{Work: e.What, Why: e.Why, Place: e.Place, Remedy: e.Remedy}.Markdown()
}
