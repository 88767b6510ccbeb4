package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A FollowUp is the issue about what a pull request has merged and the merge could not apply.
type FollowUp struct {
	Number int // of the pull request
	Status
}

// FollowUpMarker is the beginning of the text of the issue about a pull request.
func FollowUpMarker(number int) string {
	return fmt.Sprintf("<!-- lockstep:follow-up %d -->", number)
}

// settled are the standings after a merge that need nobody, under way those that need nobody yet.
var (
	settled  = []Standing{Applied, NoChanges, Previewed, Superseded, Closed}
	underWay = []Standing{Queued, Planning, Overtaken, Awaiting, ApplyQueued, Applying, OnMerge}
)

// Left returns the projects that the merge should have applied, and that are not applied.
func (f FollowUp) Left() []ProjectStatus {
	return slices.DeleteFunc(slices.Clone(f.Projects), func(p ProjectStatus) bool { return !p.MergeApplies || slices.Contains(settled, p.Standing) })
}

// Needed reports whether somebody has to act, so that there is an issue. One that is there stays until nothing is
// [FollowUp.Left].
func (f FollowUp) Needed() bool {
	return f.Merged && slices.ContainsFunc(f.Left(), func(p ProjectStatus) bool { return !slices.Contains(underWay, p.Standing) })
}

// Title returns the title.
func (f FollowUp) Title() string {
	return fmt.Sprintf("#%d is merged, and not all of it is applied", f.Number)
}

// Body returns the text, with its marker, of at most limit bytes. That of an issue without projects left is
// about to be closed.
func (f FollowUp) Body(limit int) string {
	marker := FollowUpMarker(f.Number) + "\n"
	s := f.Status
	if s.Projects = f.Left(); len(s.Projects) == 0 {
		return marker + fmt.Sprintf("What #%d has merged is applied.\n", f.Number)
	}
	parts := []string{
		fmt.Sprintf("#%d is merged, and these projects are not applied, or not all of it:", f.Number),
		strings.TrimSpace(s.table(limit / 2)),
		fmt.Sprintf("The reasons are on #%d. Comment %s there for a plan of the base branch, look at it, and comment %s.", f.Number, markdown.Code("lockstep retry"), markdown.Code("lockstep apply")),
		"This issue is closed once that is done. If the apply of another pull request has done it, close it yourself.",
	}
	return marker + markdown.CutTo(strings.Join(parts, "\n\n")+"\n", limit-len(marker), "")
}
