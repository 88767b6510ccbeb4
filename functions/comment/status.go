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

// StatusMarker is the hidden first line of the status comment, by which Lockstep finds the comment again.
const StatusMarker = "<!-- lockstep:status -->"

// A Status is the state of a pull request, for the status comment, which is edited with each step.
type Status struct {
	Head     string // SHA of the pull request's head
	Projects []ProjectStatus
	// Notes are sentences of Lockstep for all projects, in Markdown.
	Notes []string
	// Repeated are sentences about plans whose options a retry after the merge would use again, and about
	// removed projects whose states have copies.
	Repeated []string
	// Removed is the note from [notes.Removed]; "" if no project is removed.
	Removed string
	// Approvals are the logins of the reviewers whose approvals of the head count.
	Approvals []string
	// Conflict is set if the head cannot be merged into the base branch. Problem is the reason, in Markdown, if
	// the projects cannot be determined. In both cases nothing is planned.
	Conflict bool
	Problem  string
	// Policies is the note from [notes.PoliciesBroken]; "" if the head has no broken policies.
	Policies string
	// Refused is set if the whole pull request is refused; then Problem, if it is not "", says why and what to
	// do. Fork is set if the pull request comes from a fork.
	Refused, Fork bool
	// Automerge is set if the base branch lets Lockstep merge pull requests once they are applied.
	Automerge bool
	// Merged is set if the pull request is merged, and Closed if it is closed without a merge.
	Merged, Closed bool
	// rows is the table of the projects. notes is the number of Notes that are shown.
	rows  string
	notes int
}

// A ProjectStatus is the state of one project.
type ProjectStatus struct {
	Name string
	// Workspace is the project's workspace if another project of the pull request has the same name; otherwise
	// "".
	Workspace string
	Standing  Standing
	// Removed is set if the pull request removes the project.
	Removed bool
	// Named is the commit of a fork that somebody has named in a plan command; "" for none.
	Named string
	// Options are the options of the plan.
	Options grammar.Options
	PlanSummary
	ApplySummary
	MergeRole
	Queueing
	Obstacles
	EndSummary
	// Vain is set if a plan with the Options failed or was stopped, while the earlier result for the head still
	// counts.
	Vain bool
	// Left is set if the pull request is open, but has no plan of this project any more. The plan was dropped
	// when the pull request was closed for a time, or got another base branch.
	Left bool
	// Gone is set if the base branch has removed the project since it was planned.
	Gone bool
	// Unmerged is set for a plan without changes if this open pull request was applied to the state: the base
	// branch lacks these changes.
	Unmerged bool
	Texts
}

// A PlanSummary is what people read of a plan. The record of a run has it, too.
type PlanSummary struct {
	// Hash is the plan's hash; "" if there is no plan.
	Hash   string `json:",omitempty"`
	Counts counting.Counts
	// Applyable is set for a plan that can be applied, even if it changes no object. For example, it may change
	// only outputs.
	Applyable bool
	// Again is the hash of a saved plan that is applied in place of this plan, because it was made again and
	// does the same; "" for none.
	Again string `json:",omitempty"`
	// Doubts are the objects that the plan leaves out, with everything that depends on them, because an
	// interrupted apply may or may not have created them.
	Doubts []string `json:",omitempty"`
	// Upheld is set if nothing of the head is left to be applied, although the plan leaves changes out. It is
	// set for a plan that changes no object (with -refresh-only or -invoke), of a head that is completely applied
	// or that has nothing to apply. It is set for a plan with other options until that plan is made. It is set
	// for a plan without changes that the end of the pull request dropped, because its head is applied.
	Upheld bool `json:",omitempty"`
}

// An ApplySummary is what people read of an apply. The record of a run has it, too.
type ApplySummary struct {
	// Done are the changes that the apply made. Remaining is the number of changes that it did not begin. Lost
	// is set if both are unknown, because the process died.
	Done      counting.Counts
	Remaining int
	Lost      bool `json:",omitempty"`
	// Progress says how much of an unfinished apply is done.
	Progress Progress `json:",omitzero"`
	// Lifted are the requirements that the last apply did not meet and that somebody overrode; nil for none.
	Lifted *rulings.Ruling `json:",omitempty"`
}

// An EndSummary is what people read about the end of a run, or of its last plan or apply. The record of a run
// has it, too.
type EndSummary struct {
	// Renamed is the name under which the base branch has the project since it was planned; "" for none.
	Renamed string `json:",omitempty"`
	// FinishedBy is the number of another pull request whose apply made the changes that the merge had left
	// unapplied; 0 for none.
	FinishedBy int `json:",omitempty"`
	// StoppedBy is the login of the user who stopped the last apply or the last plan; "" if nobody has.
	StoppedBy string `json:",omitempty"`
}

// A MergeRole says what the merge of the pull request means for a project.
type MergeRole struct {
	// ByMerge is set if the merge applies the plan.
	ByMerge bool
	// MergeApplies is set if the settings make the merge apply the project, or if the pull request removes the
	// project, because nobody can apply a removed project after the merge.
	MergeApplies bool
	// Landed is set if the pull request is merged. AfterMerge is set for a plan that was made after the merge.
	Landed, AfterMerge bool
	// Late is set for a plan that the merge should have applied, and that Lockstep applies once its
	// requirements are met.
	Late bool
}

// Queueing says who asked for a plan or an apply, and what is done before it.
type Queueing struct {
	// By is the login of the user who applied the plan, or asked for it.
	By string
	// After are the projects that are applied first.
	After []string
	// Ahead are the applies of other pull requests that a queued apply waits for, in their order.
	Ahead []Turn
	// Crowd is the number of plans of the repository that were queued before the plan of this project and delay
	// it; 0 for none.
	Crowd int
}

// Obstacles are what has to happen before a plan can be applied.
type Obstacles struct {
	// Behind has the projects that have to be applied before a waiting plan, by the order in the settings; nil
	// for none.
	Behind *Behind
	// Required is the decision about the requirements for the project's apply; nil if there are none.
	Required *rulings.Ruling
	// Owner is the project to which the base branch gives the state, under another name, until the merge; ""
	// for none.
	Owner string
	// Blockers are the reasons why a Blocked plan cannot be applied now, in Markdown.
	Blockers []string
	// LockedBy is the number of the pull request for which a person has locked the state. BlockedBy is the
	// number of a pull request that was applied to the state and is not merged. Both are 0 for none. Locked is
	// set if the lock is the only Blocker, so that the plan is still up to date.
	LockedBy, BlockedBy int
	Locked              bool
	// Copied is set if the project is removed and its state has a copy. One of the Blockers then says so, and
	// what to do.
	Copied bool
	// Lock is a person's lock on the state for this pull request; nil if there is none.
	Lock *OwnLock
}

// Texts are the longer texts about a project.
type Texts struct {
	// Body is the plan, or the failure, in Markdown. Note is a short note on it; "" for none.
	Body, Note string
	// Whole is the address of the full body, if it is shortened here. Check is the name of the check run that
	// shows more of it. Both may be "".
	Whole, Check string
}

// Markdown returns the text of the comment, of at most limit bytes. Projects that need attention come first.
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

// blockers returns the reasons why plans are blocked, each once. If the pull request has several projects, each
// reason names its projects.
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

// render returns the comment with these texts of its sections.
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

// row returns the line of the table for the project. names is its name in Markdown, or the names of several
// projects with equal lines.
func (p ProjectStatus) row(names string) string {
	return fmt.Sprintf("| %s | %s | %s |\n", strings.ReplaceAll(names, "|", `\|`), p.plan(), p.cell())
}

// named reports whether the comment shows the plan's name: the plan can be applied, or is being applied.
func (p ProjectStatus) named() bool {
	return p.Hash != "" && (p.Late || rowOf(p.Standing).named)
}

// where returns a sentence that says where the full body is; "" if that is not known.
func (p ProjectStatus) where() string {
	switch {
	case p.Whole != "":
		return markdown.Whole(p.Whole)
	case p.Check != "":
		return fmt.Sprintf("The check %s shows more of it.", markdown.Code(p.Check))
	}
	return ""
}
