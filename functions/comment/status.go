package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// StatusMarker is a hidden part of the one comment of a pull request that [Status] makes.
const StatusMarker = "<!-- lockstep:status -->"

// A Status is the state of a pull request: the comment that is edited with each step.
type Status struct {
	Head     string // SHA of the pull request's head
	Projects []ProjectStatus
	// Notes are sentences of ours, in Markdown, for all projects.
	Notes []string
	// Repeated are those about plans whose options a retry after the merge has again, and about removed projects whose states have copies.
	Repeated []string
	// Removed is the note of the function of that name, "" if no project is removed.
	Removed string
	// Approvals are the logins of the reviewers who approved the head, as far as their approvals count.
	Approvals []string
	// Conflict is set if the head cannot be merged into the base branch, Problem if the projects
	// cannot be determined (in Markdown): then nothing is planned.
	Conflict bool
	Problem  string
	// Policies is the note of the function notes.PoliciesBroken; "" if the head has no mistakes in policies.
	Policies string
	// Refused is set if Problem, or nothing, says that all of the pull request is refused, and the remedy. Fork is set if it comes from
	// a fork.
	Refused, Fork bool
	// Automerge is set if the base branch has pull requests merged once they are applied.
	Automerge bool
	// Merged or Closed is set if the pull request is.
	Merged, Closed bool
	// rows is the table of the projects; notes is the number of notes listed.
	rows  string
	notes int
}

// A ProjectStatus is the state of one project.
type ProjectStatus struct {
	Name string
	// Workspace is that of the project where another one of the pull request has its name, "" elsewhere.
	Workspace string
	Standing  Standing
	// Behind is what comes before the apply of a plan that waits for it, by the order of the settings; nil if nothing does.
	Behind *Behind
	// Required is the decision about the requirements for its apply, nil if there are none.
	Required *rulings.Ruling
	Counts   counting.Counts // of the plan
	// Applyable is set for a plan that can be applied: one that changes no object may change outputs, or addresses in the state.
	Applyable bool
	// Plan is the plan's hash, "" if there is none.
	Plan string
	// Options are those of the plan.
	Options grammar.Options
	// Again is the hash of the saved plan that is applied in its place, "" if there is none.
	Again string
	// ByMerge is set if the merge applies the plan.
	ByMerge bool
	// Named is the commit of a fork that somebody has named, "" for none.
	Named string
	// AfterMerge is set for a plan that was made after the merge; Landed for any whose pull request is merged.
	AfterMerge, Landed bool
	// Upheld is set for a refresh-only plan that leaves out nothing: the head is applied.
	Upheld bool
	// Vain is set where a plan with the Options has failed, or was stopped, and what was known of the head before stands.
	Vain bool
	// MergeApplies is set if the merge was, or is, to apply the project, whatever became of that; or if nobody
	// could afterwards, since the pull request has Removed it.
	MergeApplies, Removed bool
	// Late is set for a plan that the merge should have applied, and that is applied by itself once what is missing is there.
	Late bool
	// Left is set if the pull request is open, and its plan was dropped: it was closed in between, or went into another branch.
	Left bool
	// FinishedBy is the number of another pull request whose apply has finished what the merge has left; 0 if none has.
	FinishedBy int
	// Gone is set if the base branch has removed the project since it was planned.
	Gone bool
	// Renamed is the name that the base branch has given the project since it was planned; "" for none.
	Renamed string
	// Owner is the project that the base branch gives the state, under another name, until the merge; "" for none.
	Owner string
	// Unmerged is set for a plan without changes if the state has those of an apply of this pull request, which is open: the base
	// branch lacks them.
	Unmerged bool
	Done     counting.Counts // changes made
	// By is the login of who applied, or asked for it. After are the projects applied before, Doubts the objects left out of the plan.
	By            string
	After, Doubts []string
	// Ahead are the applies of other pull requests that a queued one waits for, the next one first.
	Ahead []Turn
	// Lifted are the requirements that somebody has lifted for the apply; nil if there are none.
	Lifted *rulings.Ruling
	// Crowd is the number of plans of the repository that were queued before that of a queued project, where they hold it up; 0 where none do.
	Crowd int
	// StoppedBy is the login of the user who stopped the plan or the apply, "" if nobody has.
	StoppedBy string
	// Remaining is the number of changes that a failed apply has not begun; Lost is set if its
	// changes are unknown.
	Remaining int
	Lost      bool
	// Progress is how far an apply is that is not at its end.
	Progress Progress
	// Blockers are the reasons for which a Blocked plan cannot be applied now, in Markdown.
	Blockers []string
	// LockedBy is the number of the pull request whose lock of a person is one of them, BlockedBy that of one that was applied to the state and
	// is not merged; 0 for none. Locked is set if the lock is the only one: the plan itself still fits.
	LockedBy, BlockedBy int
	Locked              bool
	// Copied is set if the project is removed, and its state has a copy: that is one of the Blockers, with its remedy.
	Copied bool
	// Lock is a person's lock on the state for this pull request; nil if there is none.
	Lock *OwnLock
	// Body is the plan, or the failure, in Markdown; Note, which may be "", is a short one on it.
	Body, Note string
	// Whole is the address of the whole body, in case it is shortened here; Check is the name of
	// the check run that shows more of it. Both may be "".
	Whole, Check string
}

// Markdown returns the comment, of at most limit bytes. Projects in trouble come first.
func (s Status) Markdown(limit int) string {
	s.Notes = slices.Concat(s.blockers(), s.locks(), s.Notes)
	s.Projects = slices.Clone(s.Projects)
	slices.SortStableFunc(s.Projects, ByTrouble)
	all := s.sections()
	s.Notes = slices.Concat(noteOnce(all), s.Notes)
	s.notes = len(s.Notes)
	s.rows = s.table(limit)
	texts := make([]string, len(all))
	for i, x := range all {
		texts[i] = x.markdown(x.projects[0].Body)
	}
	if whole := s.render(texts); len(whole) <= limit {
		return whole
	}
	return s.crowded(all, limit)
}

// blockers are the reasons for which plans are blocked, each once, with its projects where there are others.
func (s Status) blockers() []string {
	var out []string
	of := map[string][]string{} // the projects
	for _, p := range s.Projects {
		for _, why := range p.Blockers {
			if !slices.Contains(out, why) {
				out = append(out, why)
			}
			of[why] = append(of[why], p.Name)
		}
	}
	for i, why := range out {
		if len(s.Projects) > 1 && !strings.Contains(why, markdown.Code(of[why][0])) {
			out[i] = headed(of[why]) + ": " + why
		}
	}
	return out
}

// render puts the comment together, with the texts of its sections.
func (s Status) render(sections []string) string {
	var b strings.Builder
	b.WriteString(StatusMarker + "\n")
	fmt.Fprintf(&b, "### %s\n", s.headline())
	if len(s.Projects) > 0 {
		b.WriteString("\n" + s.rows)
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(s.Problem))
	}
	if s.Policies != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Policies)
	}
	if s.Removed != "" {
		fmt.Fprintf(&b, "\n%s\n", s.removed())
	}
	for _, text := range sections {
		b.WriteString(text)
	}
	for _, n := range s.Notes[:s.notes] {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	if n := len(s.Notes) - s.notes; n > 0 {
		fmt.Fprintf(&b, "\n*%d more notes do not fit here: see the checks of the projects.*\n", n)
	}
	if len(s.Approvals) > 0 {
		fmt.Fprintf(&b, "\nApproved at %s by %s.\n", markdown.Code(markdown.SHA(s.Head)), markdown.List(s.Approvals))
	}
	b.WriteString("\n" + s.remedy() + "\n")
	return b.String()
}

const tableHead = "| project | plan | status |\n|---|---|---|\n"

// row is the line of the table for the project, or for several by their names in Markdown.
func (p ProjectStatus) row(names string) string {
	return fmt.Sprintf("| %s | %s | %s |\n", strings.ReplaceAll(names, "|", `\|`), p.plan(), p.cell())
}

// named reports whether to name the plan: one that can be applied, or is being applied.
func (p ProjectStatus) named() bool {
	return p.Plan != "" && (p.Late || rowOf(p.Standing).named)
}

// where returns a sentence with the place of the whole body.
func (p ProjectStatus) where() string {
	switch {
	case p.Whole != "":
		return markdown.Whole(p.Whole)
	case p.Check != "":
		return fmt.Sprintf("The check %s shows more of it.", markdown.Code(p.Check))
	}
	return ""
}
