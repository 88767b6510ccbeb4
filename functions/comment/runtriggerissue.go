package comment

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A RunTriggerIssue is a GitHub issue about a project that is out of date, because a project on which it depends
// was applied.
type RunTriggerIssue struct {
	Project   string // its label
	Target    string // the project's name in keys, which includes the workspace
	Branch    string // the default branch
	SHA       string // the commit from which the plan was made
	After     string // the label of the applied project
	Number    int    // the pull request or issue of that apply
	Since     time.Time
	Looked    time.Time
	Counts    counting.Counts // of the plan
	Report    string          // the plan, in Markdown
	Over      bool            // the plan has no changes any more
	Unwatched bool            // the settings no longer ask for plans after applies of other projects
}

// Marker returns the hidden beginning of the issue.
func (x RunTriggerIssue) Marker() string {
	return fmt.Sprintf("<!-- lockstep:trigger %s -->", x.Target)
}

// Title returns the issue's title.
func (x RunTriggerIssue) Title() string {
	return fmt.Sprintf("%s has changes to apply since the apply of %s", x.Project, x.After)
}

// Hash returns a digest of the issue's text. The time of the last plan and the planned commit do not count: if
// nothing else changes, the digest stays the same.
func (x RunTriggerIssue) Hash() string {
	x.Looked, x.SHA = time.Time{}, ""
	return digest(x.Title() + x.Body(1<<20))
}

// Body returns the issue's text, with its hidden marker, of at most limit bytes.
func (x RunTriggerIssue) Body(limit int) string {
	head := x.Marker() + "\n"
	switch name := markdown.Code(x.Project); {
	case x.Unwatched:
		return head + fmt.Sprintf("By the settings on %s, Lockstep no longer plans %s after applies of other projects. So it closes this issue.\n", markdown.Code(x.Branch), name)
	case x.Over:
		return head + fmt.Sprintf("%s is up to date: a plan of %s has no changes. Lockstep closes this issue.\n", name, markdown.Code(x.Branch))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s depends on %s, which #%d applied on %s. Since then, a plan of %s has changes: %s. Lockstep has applied none of them.\n\n", markdown.Code(x.Project), markdown.Code(x.After), x.Number, x.Since.UTC().Format("2006-01-02 15:04 MST"), markdown.Code(x.Project), toComeText(x.Counts, true))
	tail := fmt.Sprintf(`
To apply these changes, comment %s here. Read the plan that Lockstep then posts. To apply it, comment %s.

Lockstep plans the project again by the schedule of the drift block, and updates this issue. It closes the issue when nothing is left to apply.

<sub>Commit %s of %s, planned on %s.</sub>
`, markdown.Code("lockstep plan"), markdown.Code("lockstep apply"), markdown.Code(markdown.SHA(x.SHA)), markdown.Code(x.Branch), x.Looked.UTC().Format("2006-01-02 15:04 MST"))
	room := limit - len(head) - b.Len() - len(tail)
	return head + b.String() + strings.TrimRight(markdown.CutTo(x.Report, room-1, ""), "\n") + "\n" + tail
}
