package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A HeadStanding is the progress of a pull request at its head, of all its projects together.
type HeadStanding string

const (
	HeadAwaited     HeadStanding = "awaited"  // its projects are being looked for
	HeadGivenUp     HeadStanding = "given up" // nobody could look at it
	HeadUnknown     HeadStanding = "unknown"  // the projects cannot be determined
	HeadDenied      HeadStanding = "denied"   // the plan of a project is not permitted
	HeadConflict    HeadStanding = "conflict"
	HeadPolicies    HeadStanding = "policies" // it has mistakes in policies
	HeadRefused     HeadStanding = "refused"  // nothing of the pull request is planned
	HeadPlanning    HeadStanding = "planning"
	HeadPlanFailed  HeadStanding = "plan failed"
	HeadPlanStopped HeadStanding = "plan stopped"
	HeadBlocked     HeadStanding = "blocked"
	HeadWaiting     HeadStanding = "waiting" // for somebody who applies it
	HeadOnMerge     HeadStanding = "on merge"
	HeadOnceMerged  HeadStanding = "once merged" // nobody can apply it before
	HeadPreviewed   HeadStanding = "previewed"   // planned without credentials
	HeadApplying    HeadStanding = "applying"
	HeadApplied     HeadStanding = "applied"
	HeadApplyFailed HeadStanding = "apply failed"
	HeadStopped     HeadStanding = "stopped"
	HeadStale       HeadStanding = "stale"
	HeadRenewed     HeadStanding = "renewed"     // a plan is another one than before, and nobody has asked for it
	HeadPart        HeadStanding = "part"        // options of a plan leave out what the pull request changes
	HeadNotApplied  HeadStanding = "not applied" // although it is merged
	HeadNoChanges   HeadStanding = "no changes"
	HeadNothing     HeadStanding = "nothing" // it touches no project
	HeadClosed      HeadStanding = "closed"
	HeadLeft        HeadStanding = "left" // another commit is the head

	HeadQueuePlanning HeadStanding = "queue planning" // it is a merge group, which is being planned
	HeadQueueDiffers  HeadStanding = "queue differs"
	HeadQueueFailed   HeadStanding = "queue failed"
	HeadQueueUnseen   HeadStanding = "queue unseen"
	HeadQueueApart    HeadStanding = "queue apart"
	HeadDequeued      HeadStanding = "dequeued" // it is a merge group no more
)

// heads is the table of standings of a head: the projects that a title counts, and the title, which without a verb for numbers counts
// none; and what the page begins with.
var heads = map[HeadStanding]struct {
	of    []Standing
	title string
	first func(Head) []string
	// brief is set if the page tells of nothing that can be done, and past if the head is none any more.
	brief, past bool
}{
	HeadAwaited:     {title: "Looking for the projects", first: begins("Lockstep is looking for the projects that this pull request touches."), brief: true},
	HeadGivenUp:     {title: "Lockstep could not look at this head", first: givenUp, brief: true},
	HeadUnknown:     {title: "The projects cannot be determined", first: troubled("Lockstep cannot be sure which projects this pull request touches, so some of them, or all, are not planned.")},
	HeadDenied:      {title: "Not all projects may be planned", first: troubled("Projects that this pull request touches are not planned, so it cannot be told what merging it changes.")},
	HeadConflict:    {title: "It conflicts with the base branch"},
	HeadPolicies:    {title: "Policies that decide nothing"},
	HeadRefused:     {title: "Nothing is planned", first: troubled("")},
	HeadPlanning:    {of: []Standing{Queued, Planning, Postponed}, title: "Planning %s"},
	HeadPlanFailed:  {of: []Standing{PlanFailed}, title: "Planning failed: %s"},
	HeadPlanStopped: {of: []Standing{PlanStopped}, title: "Planning was stopped: %s"},
	HeadBlocked:     {of: []Standing{Blocked, held}, title: "Cannot be applied now: %s"},
	HeadWaiting:     {of: []Standing{Ready, held}, title: "Waits for lockstep apply: %s"},
	HeadOnMerge:     {of: []Standing{OnMerge}, title: "Will be applied on merge: %s"},
	HeadOnceMerged:  {of: []Standing{OnceMerged}, title: "To be applied after the merge: %s"},
	HeadPreviewed:   {of: []Standing{Previewed}, title: "Planned without credentials, from a snapshot of the state: %s"},
	HeadApplying:    {of: []Standing{Awaiting, ApplyQueued, inLine, Applying}, title: "Applying %s"},
	HeadApplied:     {of: []Standing{Applied}, title: "Applied: %s"},
	HeadApplyFailed: {of: []Standing{ApplyFailed}, title: "The apply failed: %s"},
	HeadStopped:     {of: []Standing{Stopped}, title: "The apply was stopped: %s"},
	HeadStale:       {of: []Standing{Stale}, title: "Out of date: %s"},
	HeadRenewed:     {of: []Standing{Renewed}, title: "Another plan than before: %s"},
	HeadPart:        {of: []Standing{PartPlanned, PartApplied}, title: "Not all is planned: %s"},
	HeadNotApplied:  {of: []Standing{NotApplied}, title: "Merged, but not applied: %s"},
	HeadNoChanges:   {title: "No changes"},
	HeadNothing:     {title: "Nothing to plan", first: nothing},
	HeadClosed:      {title: "Closed", first: closedHead, brief: true, past: true},
	HeadLeft:        {title: "Another commit is the head now", first: begins("Plans are of the present head, which has a check of its own."), brief: true, past: true},

	HeadQueuePlanning: {title: "Planning at the head of the merge queue"},
	HeadQueueDiffers:  {title: "Another plan at the head of the merge queue"},
	HeadQueueFailed:   {title: "Planning failed at the head of the merge queue"},
	HeadQueueUnseen:   {title: "Put into the merge queue before the plan was shown"},
	HeadQueueApart:    {title: "Not planned: touches projects only together with the pull requests ahead"},
	HeadDequeued:      {title: "Not in the merge queue any more"},
}

// beside are the failures that the title of another one tells of, too.
var beside = []struct {
	of    Standing
	title string
}{{PlanFailed, "not planned"}, {ApplyFailed, "with a failed apply"}, {NotApplied, "merged, but not applied"}, {Blocked, "blocked"}}

// HeadStandings returns all standings of a head, in an order of their own.
func HeadStandings() []HeadStanding {
	var out []HeadStanding
	for s := range heads {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// A Head is the content of the check run of a pull request as a whole.
type Head struct {
	Status
	Standing HeadStanding
	// Enforced is set if the check fails until the plans are applied.
	Enforced bool
	// Why is the reason that nobody could look at the head, in Markdown.
	Why string
	// Queue are the plans at the head of the merge queue, if it is the commit of a merge group.
	Queue []QueuedPlan
	// By is the login of the user who put the pull request into the merge queue, and so asks for the applies of its merge; "" if
	// that is not known.
	By string
}

// Title returns the check run's line, of at most limit bytes.
func (h Head) Title(limit int) string {
	row, ok := heads[h.Standing]
	if !ok {
		panic(fmt.Sprintf("comment: there is no standing %q of a head", h.Standing))
	}
	of, title := h.words(row.of, row.title)
	if strings.Contains(title, "%s") {
		title = fmt.Sprintf(title, h.some(of))
	}
	for _, other := range beside {
		if n, _, _ := h.count([]Standing{other.of}); n > 0 && (h.Standing == HeadPlanFailed || h.Standing == HeadApplyFailed) && !slices.Contains(of, other.of) {
			title += fmt.Sprintf("; %d %s", n, other.title)
		}
	}
	if len(title) > limit { // only numbers and our own words
		title = title[:limit]
	}
	return title
}

// words returns the projects that the title counts and its words, which are those of the standing where nothing else is known.
func (h Head) words(of []Standing, title string) ([]Standing, string) {
	none := func(of ...Standing) bool { n, _, _ := h.count(of); return n == 0 }
	switch {
	case h.Standing == HeadNoChanges && slices.ContainsFunc(h.Projects, func(p ProjectStatus) bool { return p.FinishedBy != 0 }):
		title = "Applied by the applies of other pull requests"
	case h.Standing == HeadWaiting && none(of...) && !none(later): // no comment applies what is left
		of, title = []Standing{later}, heads[HeadOnceMerged].title
		if h.Enforced && slices.ContainsFunc(h.Projects, ProjectStatus.ownOrder) {
			title = "The order has to be merged first: %s"
		}
	case h.Standing == HeadBlocked && none(Blocked): // what is missing may come
		title = "Cannot be applied yet: %s"
	case h.Standing == HeadApplying && h.queues():
		title = "In the queue behind " + turnPulls(h.ahead()) + ": %s"
	}
	return of, title
}

// some counts the projects with some standings, and the changes of those whose plans wait or are
// applied: "2 of 5 projects, 3 to add, 0 to change, 0 to destroy".
func (h Head) some(of []Standing) string {
	n, planned, done := h.count(of)
	text := fmt.Sprintf("%d of %d projects", n, len(h.Projects))
	if len(h.Projects) == 1 {
		text = "1 project"
	}
	switch h.Standing {
	case HeadWaiting, HeadOnMerge, HeadOnceMerged, HeadPreviewed:
		return text + ", " + toComeText(planned, h.applyable(of))
	case HeadApplied:
		return text + ", " + madeText(done)
	}
	return text
}

// begins is a page that begins with a sentence.
func begins(text string) func(Head) []string { return func(Head) []string { return []string{text} } }

// troubled is one that begins with a sentence, and goes on with the problem.
func troubled(text string) func(Head) []string {
	return func(h Head) []string { return []string{text, h.Problem} }
}

func givenUp(h Head) []string {
	return []string{fmt.Sprintf("Nothing is known of this head. To try once more, push, or comment %s.", markdown.Code("lockstep plan")), h.Why}
}

func nothing(h Head) []string {
	if h.Removed == "" {
		return []string{"This pull request touches no project: there is nothing to plan, and nothing to apply."}
	}
	return []string{"This pull request touches no project that stays: there is nothing to plan, and nothing to apply."}
}

func closedHead(h Head) []string {
	if h.Merged {
		return []string{"The pull request was merged before anybody had looked at this head. Comment `lockstep plan` to plan what was merged."}
	}
	return []string{"The pull request was closed without a merge."}
}

// Summary returns the page, of at most limit bytes, in Markdown.
func (h Head) Summary(limit int) string {
	if h.Standing == HeadDequeued {
		return "GitHub has put the pull request out of the merge queue, or has made another merge group for it, which has a check of its own.\n"
	}
	row := heads[h.Standing]
	var parts []string
	if row.first != nil {
		parts = row.first(h)
	}
	if !row.past {
		parts = append(parts, h.Policies)
	}
	for _, q := range h.Queue {
		parts = append(parts, q.line())
	}
	if h.Standing == HeadPlanning {
		parts = append(parts, crowded(h.crowd()))
	}
	parts = append(parts, h.heldFor())
	left := h.Standing == HeadLeft
	if len(h.Projects) > 0 && !left {
		parts = append(parts, h.table(limit/2))
	}
	if !left {
		parts = append(parts, h.removed())
	}
	parts = append(parts, slices.Concat(h.blockers(), h.locks())...)
	if !left {
		parts = append(parts, h.missing(limit/4))
	}
	if !row.brief {
		parts = append(parts, h.passes(), h.remedy())
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return markdown.CutTo(strings.Join(parts, "\n\n")+"\n", limit, "")
}

// passes tells when the check passes, where that is no matter of course.
func (h Head) passes() string {
	if h.Standing != HeadWaiting || !h.Enforced {
		return ""
	}
	text := "The base branch wants plans to be applied before the merge: this check passes once they are."
	if slices.ContainsFunc(h.Projects, ProjectStatus.ownOrder) {
		text += " This pull request has an order by which some are applied after the merge: the base branch has to have that order before."
	}
	return text
}

// OfPull returns the page of one of several pull requests with the same head.
func OfPull(number int, title, page string) string {
	return fmt.Sprintf("### #%d: %s\n\n%s", number, title, page)
}

// TitleOf returns the title of the check of a head that several pull requests have: that of the one
// that is worst off.
func TitleOf(number int, title string) string { return fmt.Sprintf("#%d: %s", number, title) }

// heldFor tells whose applies are decided about, where the merge would not apply a plan as it is asked for by the user who put the
// pull request into the merge queue; "" if it applies all.
func (h Head) heldFor() string {
	if h.By == "" || !slices.ContainsFunc(h.Projects, ProjectStatus.Held) {
		return ""
	}
	return fmt.Sprintf("%s has put the pull request into the merge queue, and so asks for the applies of its merge.", markdown.Code(h.By))
}

// crowd is the number of plans of the repository that were queued before all of the head's.
func (h Head) crowd() int {
	first := 0
	for _, p := range h.Projects {
		if p.Standing != Queued || p.Crowd == 0 {
			return 0
		}
		if first == 0 || p.Crowd < first {
			first = p.Crowd
		}
	}
	return first
}
