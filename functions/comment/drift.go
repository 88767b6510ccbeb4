package comment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A DriftIssue is a GitHub issue about a project whose real objects differ from its state.
type DriftIssue struct {
	Project   string // its label
	Target    string // the project's name in keys, which includes the workspace
	Branch    string // the default branch
	SHA       string // the commit from which the plan was made
	Since     time.Time
	Looked    time.Time
	Objects   int    // how many have changed
	Ignored   int    // number of further objects that have changed, and that the settings ignore
	Report    string // what has changed, in Markdown
	Shortened bool   // the report leaves some changes out
	Literals  Literals
	Problem   string // why Lockstep cannot look for drift, in Markdown; "" if it can
	Over      bool   // there is no drift any more
	Unwatched bool   // nobody looks for it any more
}

// maxDriftTail is more than the length of the text after the report.
const maxDriftTail = 2 << 10

// Marker returns the hidden beginning of the issue.
func (d DriftIssue) Marker() string { return fmt.Sprintf("<!-- lockstep:drift %s -->", d.Target) }

// Title returns the issue's title.
func (d DriftIssue) Title() string {
	if d.Problem != "" {
		return fmt.Sprintf("Lockstep cannot look for drift in %s", d.Project)
	}
	return fmt.Sprintf("Drift in %s", d.Project)
}

// Hash returns a digest of the issue's text. The time of the last look and the planned commit do not count: if
// nothing else changes, the digest stays the same.
func (d DriftIssue) Hash() string {
	d.Looked, d.SHA = time.Time{}, ""
	return digest(d.Title() + d.Body(1<<20))
}

// digest returns a short digest of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Body returns the issue's text, with its hidden marker, of at most limit bytes.
func (d DriftIssue) Body(limit int) string {
	head := d.Marker() + "\n"
	switch {
	case d.Unwatched:
		return head + fmt.Sprintf("By the settings on %s, Lockstep no longer looks for drift in %s. So it closes this issue.\n", markdown.Code(d.Branch), markdown.Code(d.Project))
	case d.Over:
		return head + fmt.Sprintf("%s has no drift any more: its objects are as the state says. Lockstep closes this issue.\n", markdown.Code(d.Project))
	}
	if d.Problem != "" {
		tail := "\n\nFix this error. Lockstep looks again by the schedule of the drift block, and closes this issue if it finds no drift.\n"
		text := fmt.Sprintf("Three looks for drift in %s have failed, one after the other. The last one was of commit %s:\n\n", markdown.Code(d.Project), markdown.Code(markdown.SHA(d.SHA)))
		return head + text + markdown.CutTo(d.Problem, limit-len(head)-len(text)-len(tail), "") + tail
	}
	var b strings.Builder
	what := "An object"
	if d.Objects > 1 {
		what = fmt.Sprintf("%d objects", d.Objects)
	}
	fmt.Fprintf(&b, "%s of %s changed outside of Lockstep. Lockstep saw this first on %s, and has changed nothing.\n\n", what, markdown.Code(d.Project), d.Since.UTC().Format("2006-01-02 15:04 MST"))
	ignored := ""
	if d.Ignored > 0 {
		ignored = fmt.Sprintf("\n%s by %s in the drift block.\n", counted(d.Ignored, "more changed object is ignored", "more changed objects are ignored"), markdown.Code("ignore"))
	}
	patch := d.Literals.markdown(min(limit/4, 8<<10))
	room := limit - len(head) - b.Len() - maxDriftTail - len(patch)
	if d.Shortened || len(d.Report) > room {
		ignored = "\nNot all changes fit here. To see them all, comment `lockstep drift accept`: Lockstep then posts the plan with a link to its whole text.\n" + ignored
	}
	proposes := ""
	if len(d.Literals.Lines) > 0 {
		proposes = " Lockstep opens this pull request if you comment " + markdown.Code(Command{Verb: DriftPropose}.String()) + "."
	}
	tail := patch + ignored + fmt.Sprintf(`
Decide here, in a comment:

- To undo these changes, comment %s. Lockstep plans the project from the configuration on %s.
- To keep these changes, comment %s. Lockstep plans to write them into the state. If the configuration sets other values, first change it in a pull request: otherwise the next plan undoes these changes.%s

Read the plan that Lockstep then posts. To apply it, comment %s.

Lockstep looks again and updates this issue. It closes the issue when the drift is gone.

<sub>Commit %s of %s, looked at on %s.</sub>
`, markdown.Code("lockstep drift revert"), markdown.Code(d.Branch), markdown.Code("lockstep drift accept"), proposes, markdown.Code("lockstep apply"), markdown.Code(markdown.SHA(d.SHA)), markdown.Code(d.Branch), d.Looked.UTC().Format("2006-01-02 15:04 MST"))
	room = limit - len(head) - b.Len() - len(tail) - 1
	return head + b.String() + strings.TrimRight(markdown.CutTo(d.Report, room, ""), "\n") + "\n" + tail
}
