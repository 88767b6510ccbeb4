package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// An Ended is the report about work that was not finished because its process died. The process was killed at a
// limit, or its input crashed it.
type Ended struct {
	Work   string // in Markdown: "planning `net`"
	Why    string // a sentence
	Place  string // that was being evaluated, or ""
	Remedy string // in Markdown
}

// Markdown returns the report.
func (e Ended) Markdown() string {
	text := fmt.Sprintf("**Interrupted: %s.** %s", e.Work, e.Why)
	if e.Place != "" {
		text += fmt.Sprintf(" At that moment, Lockstep was evaluating %s.", markdown.Code(e.Place))
	}
	return text + "\n\n" + e.Remedy
}
