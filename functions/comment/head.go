package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A HeadStanding is the state of a pull request as a whole at its head commit, such as a conflict.
type HeadStanding string

const (
	HeadAwaited     HeadStanding = "awaited"  // Lockstep is looking for its projects
	HeadGivenUp     HeadStanding = "given up" // all attempts to look at it failed
	HeadUnknown     HeadStanding = "unknown"  // the projects cannot be determined
	HeadNotAllowed  HeadStanding = "denied"   // the plan of a project is not permitted
	HeadConflict    HeadStanding = "conflict"
	HeadPolicies    HeadStanding = "policies" // it has broken policies
	HeadRefused     HeadStanding = "refused"  // nothing of the pull request is planned
	HeadPlanning    HeadStanding = "planning"
	HeadPlanFailed  HeadStanding = "plan failed"
	HeadPlanStopped HeadStanding = "plan stopped"
	HeadDenied      HeadStanding = "plan denied" // a policy or a gate denies a plan
	HeadBlocked     HeadStanding = "blocked"
	HeadWaiting     HeadStanding = "waiting" // a plan waits for somebody who applies it
	HeadOnMerge     HeadStanding = "on merge"
	HeadOnceMerged  HeadStanding = "once merged" // a plan can be applied only after the merge
	HeadPreviewed   HeadStanding = "previewed"   // planned without credentials
	HeadApplying    HeadStanding = "applying"
	HeadApplied     HeadStanding = "applied"
	HeadApplyFailed HeadStanding = "apply failed"
	HeadStopped     HeadStanding = "stopped"
	HeadStale       HeadStanding = "stale"
	HeadRenewed     HeadStanding = "renewed"     // Lockstep has replaced a plan by itself
	HeadPart        HeadStanding = "part"        // options of a plan leave out what the pull request changes
	HeadNotApplied  HeadStanding = "not applied" // although it is merged
	HeadNoChanges   HeadStanding = "no changes"
	HeadNothing     HeadStanding = "nothing" // it touches no project
	HeadClosed      HeadStanding = "closed"
	HeadLeft        HeadStanding = "left" // another commit is the head

	HeadQueuePlanning HeadStanding = "queue planning" // the head is a merge group that is being planned
	HeadQueueDiffers  HeadStanding = "queue differs"
	HeadQueueFailed   HeadStanding = "queue failed"
	HeadQueueUnseen   HeadStanding = "queue unseen"
	HeadQueueApart    HeadStanding = "queue apart"
	HeadDequeued      HeadStanding = "dequeued" // it is no longer a merge group
)

// heads is the table of the states of a pull request at its head.
//   - title is the title of the check. If it is "", the title lists how many projects are in which state.
//   - first returns the beginning of the page.
var heads = map[HeadStanding]struct {
	title string
	first func(Head) []string
	// brief is set for standings whose page gives no advice. past is set if the commit is no longer the head of
	// the pull request.
	brief, past bool
}{
	HeadAwaited:     {title: "Looking for the projects that changed", first: begins("Lockstep is looking for the projects that this pull request changes."), brief: true},
	HeadGivenUp:     {title: "Failed: Lockstep could not read this commit", first: givenUp, brief: true},
	HeadUnknown:     {title: "Failed: the projects could not be determined", first: troubled("Lockstep could not determine which projects this pull request changes, so plans are missing.")},
	HeadNotAllowed:  {title: "Denied: not all projects may be planned", first: troubled("Lockstep did not plan all projects of this pull request, so nobody knows what merging it changes.")},
	HeadConflict:    {title: "Failed: the branch conflicts with the base branch"},
	HeadPolicies:    {title: "Failed: broken policies"},
	HeadRefused:     {title: "Nothing is planned", first: troubled("")},
	HeadPlanning:    {},
	HeadPlanFailed:  {},
	HeadPlanStopped: {},
	HeadDenied:      {},
	HeadBlocked:     {},
	HeadWaiting:     {},
	HeadOnMerge:     {},
	HeadOnceMerged:  {},
	HeadPreviewed:   {},
	HeadApplying:    {},
	HeadApplied:     {},
	HeadApplyFailed: {},
	HeadStopped:     {},
	HeadStale:       {},
	HeadRenewed:     {},
	HeadPart:        {},
	HeadNotApplied:  {},
	HeadNoChanges:   {},
	HeadNothing:     {title: "No project is affected", first: nothing},
	HeadClosed:      {title: "Closed", first: closedHead, brief: true, past: true},
	HeadLeft:        {title: "Superseded by a newer commit", first: begins("The pull request has a newer commit, with a check of its own."), brief: true, past: true},

	HeadQueuePlanning: {title: "Planning in the merge queue"},
	HeadQueueDiffers:  {title: "Failed: the plan has changed in the merge queue"},
	HeadQueueFailed:   {title: "Failed to plan in the merge queue"},
	HeadQueueUnseen:   {title: "Failed: added to the merge queue before the plan was posted"},
	HeadQueueApart:    {title: "Failed: no plan without the pull requests ahead in the merge queue"},
	HeadDequeued:      {title: "Removed from the merge queue"},
}

// HeadStandings returns all values of HeadStanding, sorted.
func HeadStandings() []HeadStanding {
	var out []HeadStanding
	for s := range heads {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// A Head is the content of the check run about a pull request as a whole.
type Head struct {
	Status
	Standing HeadStanding
	// Enforced is set if the check fails as long as plans are not applied.
	Enforced bool
	// Why is the reason, in Markdown, why Lockstep could not examine the head commit; "" if it could.
	Why string
	// Queue are the plans made from this commit. They exist only if the commit is that of a merge group.
	Queue []QueuedPlan
	// By is the login of the user who added the pull request to the merge queue; "" if it is not known. This
	// user counts as the requester of the applies after the merge.
	By string
}

// Title returns the title of the check run, of at most limit bytes.
func (h Head) Title(limit int) string {
	row, ok := heads[h.Standing]
	if !ok {
		panic(fmt.Sprintf("comment: there is no standing %q of a head", h.Standing))
	}
	title := row.title
	switch {
	case h.Standing == HeadNothing && h.Removed != "":
		title = "Only removed projects"
	case title == "" && len(h.Projects) == 0: // a record of another version
		title = strings.ToUpper(string(h.Standing[:1])) + string(h.Standing[1:])
	case title == "":
		title = h.verdict()
	}
	return cutTitle(title, limit)
}

// begins returns a function for the table [heads]. For every Head, the function returns the same beginning of a
// page: text.
func begins(text string) func(Head) []string { return func(Head) []string { return []string{text} } }

// troubled returns a function for the table [heads]. The function returns the beginning of a page: text, and
// then the problem of the Head.
func troubled(text string) func(Head) []string {
	return func(h Head) []string { return []string{text, h.Problem} }
}

func givenUp(h Head) []string {
	again := fmt.Sprintf(" To try again, push a commit or comment %s.", markdown.Code("lockstep plan"))
	return []string{"Lockstep does not know the projects of this commit.", strings.Replace(h.Why, tryAgain, again, 1)}
}

func nothing(h Head) []string {
	if h.Removed == "" {
		return []string{"This pull request changes no project: there is nothing to plan or apply."}
	}
	return []string{"This pull request only removes projects. The merge destroys no objects: they stay, and no project manages them any more. To destroy them, first remove their resources in a pull request that keeps the project, and apply that."}
}

func closedHead(h Head) []string {
	if h.Merged {
		return []string{"The pull request was merged before Lockstep had planned this commit. To plan what was merged, comment `lockstep plan`."}
	}
	return []string{"The pull request was closed without being merged."}
}

// Summary returns the text of the check run's page, of at most limit bytes, in Markdown.
func (h Head) Summary(limit int) string {
	if h.Standing == HeadDequeued {
		return "GitHub has removed the pull request from the merge queue, or has put it into a new merge group, which has a check of its own.\n"
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
		parts = append(parts, h.table(h.sections(), limit/2))
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

// passes returns the text on when this check will pass. It returns "" if the base branch does not require
// applies before the merge.
func (h Head) passes() string {
	if h.Standing != HeadWaiting || !h.Enforced {
		return ""
	}
	text := "The base branch requires plans to be applied before the merge. This check passes once they are applied."
	if slices.ContainsFunc(h.Projects, ProjectStatus.ownOrder) {
		text += " This pull request changes the order of applies, so that some come after the merge. Merge that change of order first, in a pull request of its own."
	}
	return text
}

// OfPull returns a part of a check's page. It is about one of several pull requests that have the same head
// commit.
func OfPull(number int, title, page string) string {
	return fmt.Sprintf("### #%d: %s\n\n%s", number, title, page)
}

// TitleOf returns the title of a check that several pull requests share, because they have the same head
// commit. number and title are those of the pull request with the worst result.
func TitleOf(number int, title string) string { return fmt.Sprintf("#%d: %s", number, title) }

// heldFor returns a sentence for a merge group whose applies are blocked by requirements. It says that the user
// who added the pull request to the merge queue counts as the requester of the applies. It returns "" if no
// requirement is missing.
func (h Head) heldFor() string {
	if h.By == "" || !slices.ContainsFunc(h.Projects, ProjectStatus.Held) {
		return ""
	}
	return fmt.Sprintf("%[1]s added the pull request to the merge queue, so %[1]s counts as the one who requests its applies. If that does not meet a requirement, remove the pull request from the queue, and ask somebody else to add it again.", markdown.Code(h.By))
}

// crowd returns the number of plans of the repository that are queued before the first plan of this head. It
// returns 0 if this head has a plan that is not queued.
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
