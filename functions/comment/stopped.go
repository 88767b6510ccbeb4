package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Stopping is the reply that Lockstep has told a plan or an apply in progress to stop.
type Stopping struct {
	Project string
	Verb    Verb   // of the work that ends
	By      string // login of the first user who asked
	// Queued is set if the apply was stopped before it began.
	Queued bool `json:",omitempty"`
}

func (s Stopping) markdown() string {
	if s.Queued {
		return fmt.Sprintf("**Cancelled** the apply of %s, as %s requested. It was queued, and nothing was changed.", markdown.Code(s.Project), markdown.Code(s.By))
	}
	if s.Verb == Apply {
		return fmt.Sprintf("**Cancelling** the apply of %s, as %s requested. It finishes the changes in progress, and starts no others. The answer to the apply will show the result.", markdown.Code(s.Project), markdown.Code(s.By))
	}
	return fmt.Sprintf("**Cancelling** the plan of %s, as %s requested.", markdown.Code(s.Project), markdown.Code(s.By))
}

// StoppedApply is the reply that an apply ended early, because a person stopped it.
type StoppedApply struct {
	Project  string
	By       string // login of the user who stopped it
	Progress Progress
	Closed   bool             `json:",omitempty"` // the pull request is no longer open
	Hooks    []reasons.Hooked `json:",omitempty"` // before and after it
	// Body is a text in Markdown with the changes that were not made; it may be "".
	Body string
}

func (s StoppedApply) markdown() string {
	text := fmt.Sprintf("**Cancelled** the apply of %s, as %s requested", markdown.Code(s.Project), markdown.Code(s.By))
	if far := s.Progress.text(); far != "" {
		text += ": " + far
	}
	text += "."
	if s.Progress.Done > 0 {
		text += " The state contains these changes."
	}
	s.Body = reasons.Hooks(s.Hooks) + s.Body
	if s.Closed {
		return text + fmt.Sprintf(" The pull request is closed. If it was merged, comment %s for a plan of the rest. If not, reopen it.\n\n%s", markdown.Code("lockstep retry"), s.Body)
	}
	return text + fmt.Sprintf(" To continue with the rest of the plan, comment %s. For a new plan of the rest, comment %s.\n\n%s", markdown.Code("lockstep apply"), markdown.Code("lockstep plan"), s.Body)
}

// NoProgress returns the report of an apply that was continued by several processes, without any progress.
func NoProgress(p Progress) string {
	return fmt.Sprintf("**The apply made no progress**: %s. Several processes tried in turn, but each change that is left takes longer than a process may run. The state contains the changes that are done. An operator of Lockstep has to raise %s or lower %s. Then comment %s for a plan of the rest.",
		farOrNothing(p.text()), markdown.Code("ApplyTimeout"), markdown.Code("StopBefore"), markdown.Code("lockstep plan"))
}

func farOrNothing(s string) string {
	if s == "" {
		return "no changes are done"
	}
	return s
}
