package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A FollowUp is a GitHub issue about a merged pull request. Lockstep opens it if the merge could not apply some
// of the changes.
type FollowUp struct {
	Number int // of the pull request
	Status
	// Others maps projects to other pull requests: the keys are labels of projects, the values are the numbers
	// of the pull requests that have applied the projects' changes.
	Others map[string]int
	// Gone are the projects that were planned, and that the base branch has then removed. They can no longer be
	// planned or applied.
	Gone []string
}

// FollowUpMarker returns the hidden beginning of the follow-up issue about the pull request with this number.
// Lockstep later finds the issue by this text.
func FollowUpMarker(number int) string {
	return fmt.Sprintf("<!-- lockstep:follow-up %d -->", number)
}

// Standings of the projects of a merged pull request. If the standing is in settled, nothing is left to do
// for the project. If it is in underWay, Lockstep works on the project or the project waits, and nobody has
// to act yet.
var (
	settled  = []Standing{Applied, NoChanges, Previewed, Superseded, Closed}
	underWay = []Standing{Queued, Planning, Postponed, Awaiting, ApplyQueued, Applying, OnMerge, OnceMerged}
)

// Left returns the projects that the merge should have applied, and that are still not applied. It includes
// projects that must be applied before these, by a comment.
func (f FollowUp) Left() []ProjectStatus {
	left := func(p ProjectStatus) bool {
		return p.MergeApplies && !slices.Contains(settled, p.Standing) && f.Others[p.Label()] == 0
	}
	before := func(p ProjectStatus) bool {
		return !slices.Contains(settled, p.Standing) && slices.ContainsFunc(f.Projects, func(x ProjectStatus) bool {
			return left(x) && x.Behind != nil && slices.Contains(x.Behind.On, p.Name)
		})
	}
	return slices.DeleteFunc(slices.Clone(f.Projects), func(p ProjectStatus) bool { return !left(p) && !before(p) })
}

// Needed reports whether a person has to act after the merge. Lockstep then opens an issue. The issue stays
// open until [FollowUp.Left] is empty.
func (f FollowUp) Needed() bool {
	return f.Merged && slices.ContainsFunc(f.Left(), func(p ProjectStatus) bool { return !slices.Contains(underWay, p.Standing) })
}

// Title returns the title.
func (f FollowUp) Title() string {
	return fmt.Sprintf("#%d is merged, but not fully applied", f.Number)
}

// Body returns the text, with its hidden marker, of at most limit bytes. If [FollowUp.Left] is empty,
// the text is the final one: Lockstep then closes the issue.
func (f FollowUp) Body(limit int) string {
	marker := FollowUpMarker(f.Number) + "\n"
	s := f.Status
	if s.Projects = f.Left(); len(s.Projects) == 0 {
		if len(f.Gone) > 0 {
			text := fmt.Sprintf("The base branch has removed %s since, so there is nothing left to plan or apply.", markdown.List(f.Gone))
			if done := doneByOthers(f.Others); done != "" {
				text += fmt.Sprintf(" Applied since: %s.", done)
			}
			return marker + markdown.CutTo(fmt.Sprintf("%s #%d needs nothing else.\n", text, f.Number), limit-len(marker), "")
		}
		if done := doneByOthers(f.Others); done != "" {
			return marker + markdown.CutTo(fmt.Sprintf("#%d is fully applied: %s.\n", f.Number, done), limit-len(marker), "")
		}
		return marker + fmt.Sprintf("#%d is fully applied, so Lockstep closes this issue.\n", f.Number)
	}
	parts := []string{
		fmt.Sprintf("#%d is merged, but these projects are not applied, or only in part:", f.Number),
		strings.TrimSpace(s.table(nil, limit/2)),
		FollowUp{Number: f.Number, Status: s}.remedy(),
		fmt.Sprintf("Write commands on #%d: Lockstep does not read them here. Lockstep closes this issue once each of these projects is applied, by #%d or by another pull request. An apply with `-target` or another option that leaves out changes does not count.", f.Number, f.Number),
	}
	if done := doneByOthers(f.Others); done != "" {
		parts = slices.Insert(parts, 2, fmt.Sprintf("Applied since: %s.", done))
	}
	return marker + markdown.CutTo(strings.Join(parts, "\n\n")+"\n", limit-len(marker), "")
}

// FinishedMarker is the hidden beginning of a comment on a follow-up issue. The comment lists the pull requests
// whose applies have made the remaining changes.
const FinishedMarker = "<!-- lockstep:finished -->"

// Finished returns a comment on the issue, with its hidden marker, of at most limit bytes. It lists the
// projects that the merge left unapplied, and that other pull requests have applied since. It returns "" if
// there are none.
func (f FollowUp) Finished(limit int) string {
	if len(f.Others) == 0 {
		return ""
	}
	text := FinishedMarker + "\n" + finishedByOthers(f.Others)
	return markdown.CutTo(text+fmt.Sprintf("\n#%d is fully applied.\n", f.Number), limit, "")
}

// toRetry are standings of the projects of a merged pull request. A project with such a standing needs a new
// plan before it can be applied.
var toRetry = []Standing{NotApplied, PlanFailed, PlanStopped, ApplyFailed, Stale, PartPlanned, PartApplied, Blocked}

// afterRetry returns the commands that apply the plans made by `lockstep retry`. Each removed project needs its
// own command; one command applies all others.
func (s Status) afterRetry() string {
	var all []string
	others := false
	for _, p := range s.Projects {
		if slices.Contains(toRetry, p.Standing) && !p.Late {
			if others = others || !p.Removed; p.Removed {
				all = append(all, p.command(Apply))
			}
		}
	}
	if others {
		all = append([]string{markdown.Code("lockstep apply")}, all...)
	}
	if most := 10; len(all) > most {
		all = append(all[:most:most], fmt.Sprintf("the same for %d more projects", len(all)-most))
	}
	return strings.Join(all, " and ")
}

// lateWords is the text about applies that the merge has requested, and that still wait for their requirements.
const lateWords = "Lockstep applies the plan once its requirements are met, if the plan is still up to date then. To cancel the apply, comment `lockstep stop`. For a new plan, comment `lockstep retry`."

// remedy returns the advice on how to apply the projects that the merge did not apply.
func (f FollowUp) remedy() string {
	has := func(list ...Standing) bool {
		return slices.ContainsFunc(f.Projects, func(p ProjectStatus) bool { return slices.Contains(list, p.Standing) })
	}
	if !slices.ContainsFunc(f.Projects, func(p ProjectStatus) bool { return !slices.Contains(underWay, p.Standing) }) {
		return fmt.Sprintf("Lockstep is working on them. See #%d for the outcome.", f.Number)
	}
	text := fmt.Sprintf("See #%d for the reasons.", f.Number)
	if slices.ContainsFunc(f.Projects, func(p ProjectStatus) bool { return p.Late }) {
		text += " " + lateWords
	}
	if slices.ContainsFunc(f.Projects, func(p ProjectStatus) bool { return slices.Contains(toRetry, p.Standing) && !p.Late }) {
		text += fmt.Sprintf("\n\nFor a new plan of what is not applied, comment `lockstep retry` on #%d. Read it, then comment %s.", f.Number, f.afterRetry())
	}
	text += strings.Join(append([]string{""}, f.Repeated...), " ")
	own := func(p ProjectStatus) bool { return p.Standing == Renewed || p.Standing == Ready && p.Removed }
	if slices.ContainsFunc(f.Projects, func(p ProjectStatus) bool { return p.Standing == Ready && !p.Removed }) {
		text += fmt.Sprintf("\n\nTo apply a plan that is ready to apply, comment `lockstep apply` on #%d.", f.Number)
	}
	if slices.ContainsFunc(f.Projects, own) {
		text += fmt.Sprintf("\n\nIf the status names a command, comment that command on #%d.", f.Number)
	}
	if has(Stopped) {
		text += fmt.Sprintf("\n\nTo continue a cancelled apply, comment `lockstep apply` on #%d.", f.Number)
	}
	return text
}
