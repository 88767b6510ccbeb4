package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Stopping reports that a plan or an apply under way was ordered to end.
type Stopping struct {
	Project string
	Verb    Verb   // of the work that ends
	By      string // login of the first user who asked
	// Queued is set for an apply that has not begun.
	Queued bool `json:",omitempty"`
}

func (s Stopping) markdown() string {
	if s.Queued {
		return fmt.Sprintf("**Stopped** the apply of %s, as %s asked: it was queued, and has not begun.", markdown.Code(s.Project), markdown.Code(s.By))
	}
	if s.Verb == Apply {
		return fmt.Sprintf("**Stopping** the apply of %s, as %s asked: it begins no more changes, and ends those under way. The answer to the apply will have the result.", markdown.Code(s.Project), markdown.Code(s.By))
	}
	return fmt.Sprintf("**Stopping** the plan of %s, as %s asked.", markdown.Code(s.Project), markdown.Code(s.By))
}

// StoppedApply reports that an apply ended before it was done, because somebody asked for that.
type StoppedApply struct {
	Project  string
	By       string // login of the user who stopped it
	Progress Progress
	Closed   bool             `json:",omitempty"` // the pull request is no longer open
	Hooks    []reasons.Hooked `json:",omitempty"` // before and after it
	// Body is Markdown, with the changes that are left; may be empty.
	Body string
}

func (s StoppedApply) markdown() string {
	text := fmt.Sprintf("**Stopped** the apply of %s, as %s asked", markdown.Code(s.Project), markdown.Code(s.By))
	if far := s.Progress.text(); far != "" {
		text += ": " + far + ", and in the state"
	}
	text += "."
	s.Body = reasons.Hooks(s.Hooks) + s.Body
	if s.Closed {
		return text + fmt.Sprintf(" The pull request is closed. If it is merged, comment %s for a plan of the rest; if not, reopen it.\n\n%s", markdown.Code("lockstep retry"), s.Body)
	}
	return text + fmt.Sprintf(" To go on with the rest of the plan, comment %s; to plan the rest anew, %s.\n\n%s", markdown.Code("lockstep apply"), markdown.Code("lockstep plan"), s.Body)
}

// NoProgress is the report of an apply that was gone on with in vain.
func NoProgress(p Progress) string {
	return fmt.Sprintf("%s. Process after process went on with this apply, and none got on: the changes that are left take longer than the time in which one may begin changes. The state contains what was done. Whoever runs Lockstep can give the apply function more time (%s), or have it begin changes for longer (%s); then comment %s for a plan of the rest.",
		farOrNothing(p.text()), markdown.Code("ApplyTimeout"), markdown.Code("StopBefore"), markdown.Code("lockstep plan"))
}

func farOrNothing(s string) string {
	if s == "" {
		return "Nothing is done"
	}
	return s
}
