package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Past is the outcome of an earlier plan of a project: a newer plan has replaced it. It is also part of the
// stored record of a run.
type Past struct {
	// Head is the planned commit. Until is the time at which the newer plan was requested, by GitHub's
	// clock.
	Head  string
	Until time.Time `json:",omitzero"`
	// Comment is the ID of the comment that requested the plan or its apply; 0 for a push.
	Comment int64 `json:",omitempty"`
	// Options are the options of the plan, such as `-target=ADDRESS`, in Markdown; "" for none. Approved are the
	// users whose approvals counted for the apply.
	Options  string   `json:",omitempty"`
	Approved []string `json:",omitempty"`
	Outcome
}

// PastOf returns the outcome of a project's last plan. ok is false if there was no plan.
func PastOf(p ProjectStatus, head string, comment int64, until time.Time) (past Past, ok bool) {
	past = Past{Head: head, Until: until, Comment: comment, Options: strings.TrimPrefix(p.with(), ", "), Approved: p.Approved[:min(len(p.Approved), maxApproved)],
		Outcome: Outcome{Project: p.Label(), Standing: p.Standing, Actor: p.By, Counts: p.Counts}}
	switch p.Standing {
	case Queued, Planning, Postponed:
		return past, false
	case PlanFailed, PlanStopped, NoChanges:
		return past, true
	}
	if p.Standing.applied() {
		past.Counts = p.Done
		return past, true
	}
	return past, p.Hash != ""
}

// text returns the outcome in Markdown, without project and commit.
func (p Past) text() string {
	text := strings.ReplaceAll(p.words(), "*", "")
	if p.Options != "" {
		text += ", " + p.Options
	}
	if len(p.Approved) > 0 {
		text += ", approved by " + markdown.Few(p.Approved[:min(len(p.Approved), maxHeading)], len(p.Approved)-maxHeading)
	}
	switch by := markdown.Code(p.Actor); {
	case p.Comment != 0 && p.Actor != "":
		text += fmt.Sprintf(" ([command](#issuecomment-%d) by %s)", p.Comment, by)
	case p.Actor != "":
		text += " (" + by + ")"
	}
	return text
}

// maxApproved limits the users that the history keeps of an apply.
const maxApproved = 20

// mostPast is the maximum number of rows of the history.
const mostPast = 30

// history returns the outcomes of earlier plans, the latest first, as a folded table of at most limit bytes.
// Projects with equal outcomes share a row. If there are too many rows, applies stay, and the oldest plans are left
// out.
func (s Status) history(limit int) string {
	type row struct {
		head, text string
		applied    bool
	}
	var rows []row
	projects, until := map[row][]string{}, map[row]time.Time{}
	for _, p := range s.History {
		r := row{p.Head, p.text(), p.Standing.applied()}
		switch {
		case projects[r] == nil:
			rows, until[r] = append(rows, r), p.Until
		case p.Until.IsZero() || !until[r].IsZero() && p.Until.After(until[r]):
			until[r] = p.Until
		}
		if !slices.Contains(projects[r], p.Project) {
			projects[r] = append(projects[r], p.Project)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch { // A plan without a newer one is the latest, so it comes first.
		case until[a].IsZero() && !until[b].IsZero():
			return -1
		case until[b].IsZero() && !until[a].IsZero():
			return 1
		}
		return cmp.Or(until[b].Compare(until[a]), cmp.Compare(a.text, b.text))
	})
	head := fmt.Sprintf("\n<details><summary>History: %s</summary>\n\n| until | commit | project | outcome |\n|---|---|---|---|\n", outcomesOf(len(rows)))
	const end = "\n</details>\n"
	var b strings.Builder
	left := max(0, len(rows)-mostPast)
	for i, over := len(rows)-1, left; i >= 0 && over > 0; i-- { // what was applied stays
		if !rows[i].applied {
			rows, over = slices.Delete(rows, i, i+1), over-1
		}
	}
	for i, r := range rows {
		at := ""
		if !until[r].IsZero() {
			at = until[r].UTC().Format("2006-01-02 15:04 UTC")
		}
		line := fmt.Sprintf("| %s | %s | %s | %s |\n", at, markdown.Code(markdown.SHA(r.head)), strings.ReplaceAll(fewOf(projects[r]), "|", `\|`), strings.ReplaceAll(r.text, "|", `\|`))
		if i == mostPast || len(head)+b.Len()+len(line)+len(end)+100 > limit {
			left = len(projects) - i
			break
		}
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n*%s in the edit history of this comment.*\n", earlier(left))
	}
	return head + b.String() + end
}

// applied reports whether an apply has begun, which may have changed objects.
func (s Standing) applied() bool {
	return slices.Contains([]Standing{Applied, PartApplied, ApplyFailed, Stopped}, s)
}

func outcomesOf(n int) string {
	if n == 1 {
		return "1 earlier outcome"
	}
	return fmt.Sprintf("%d earlier outcomes", n)
}

func earlier(n int) string {
	if n == 1 {
		return "1 older outcome is"
	}
	return fmt.Sprintf("%d older outcomes are", n)
}
