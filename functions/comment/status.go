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

// StatusMarker is the hidden first line of the status comment. Lockstep later finds the comment by it.
const StatusMarker = "<!-- lockstep:status -->"

// A Status is the state of a pull request, for the status comment, which is edited with each step.
type Status struct {
	Head     string // SHA of the pull request's head
	Projects []ProjectStatus
	// Notes are sentences by Lockstep that are about all projects, in Markdown.
	Notes []string
	// Repeated are sentences about plans whose options `lockstep retry` would use after the merge, and about
	// removed projects whose states were copied.
	Repeated []string
	// Removed is the note from [notes.Removed]; "" if no project is removed.
	Removed string
	// Approvals are the logins of the reviewers who have approved the head commit, and whose approvals count.
	Approvals []string
	// Conflict is set if the head conflicts with the base branch. Problem is the reason, in Markdown, if
	// Lockstep cannot determine the projects. In both cases nothing is planned.
	Conflict bool
	Problem  string
	// Policies is the note about policies with errors, from [notes.PoliciesBroken]; "" if there are none.
	Policies string
	// Refused is set if Lockstep plans nothing for this pull request. Problem is then the reason and what to
	// do, if it is not "". Fork is set if the pull request comes from a fork.
	Refused, Fork bool
	// Automerge is set if the base branch's settings let Lockstep merge a pull request once it is applied.
	Automerge bool
	// History are the outcomes of earlier plans of all projects, in any order.
	History []Past
	// Merged is set if the pull request is merged, and Closed if it is closed without a merge.
	Merged, Closed bool
	// rows is the table of the projects, in Markdown. notes is how many of the Notes are shown.
	// past is the history, in Markdown.
	rows  string
	notes int
	past  string
}

// A ProjectStatus is the state of one project in a pull request.
type ProjectStatus struct {
	Name string
	// Workspace is the workspace of the project. It is set only if another project of the pull request has the
	// same name.
	Workspace string
	Standing  Standing
	// Removed is set if the pull request removes the project.
	Removed bool
	// Named is the head commit of a fork, if somebody has named it in a plan command; otherwise "".
	Named string
	// Options are the options of the plan.
	Options grammar.Options
	PlanSummary
	ApplySummary
	MergeRole
	Queueing
	Obstacles
	EndSummary
	// Vain is set if the plan with these Options failed or was stopped, and the earlier result for the head
	// still counts.
	Vain bool
	// Left is set if this open pull request has no plan of the project any more. Lockstep dropped the plan when
	// the pull request was closed for some time, or when its base branch was changed.
	Left bool
	// Gone is set if the project was planned, and the base branch has then removed it.
	Gone bool
	// Unmerged is set for a plan without changes, if this open pull request was already applied. Its changes
	// are then not on the base branch yet.
	Unmerged bool
	// Ongoing is the present progress of an apply or a plan in progress.
	Ongoing Ongoing
	Texts
}

// A PlanSummary has the facts about a plan that people read. It is also part of the stored record of a run.
type PlanSummary struct {
	// Hash is the plan's hash; "" if there is no plan.
	Hash   string `json:",omitempty"`
	Counts counting.Counts
	// Applyable is set if the plan changes no object, but can be applied. For example, it may change an output.
	Applyable bool
	// Again is the hash of a newer saved plan, which has the same changes, and which is applied instead of this
	// plan. It is "" if there is none.
	Again string `json:",omitempty"`
	// Doubts are objects that an interrupted apply may have created. The plan leaves out these objects, and
	// everything that depends on them.
	Doubts []string `json:",omitempty"`
	// Upheld is set if nothing of the head commit is left to apply, although the plan leaves out changes. There
	// are three cases:
	//   - The plan changes no object (-refresh-only or -invoke), and the head is completely applied or has
	//     nothing to apply.
	//   - A plan with other options was requested, and is not made yet.
	//   - The plan has no changes, and was dropped when the pull request ended, because its head is applied.
	Upheld bool `json:",omitempty"`
}

// An ApplySummary has the facts about an apply that people read. It is also part of the stored record of a run.
type ApplySummary struct {
	// Done are the changes that the apply has made. Remaining is the number of changes that it did not begin.
	// Lost is set if both are not known, because the process died.
	Done      counting.Counts
	Remaining int
	Lost      bool `json:",omitempty"`
	// Progress is the progress of an apply that is not finished.
	Progress Progress `json:",omitzero"`
	// Lifted are the requirements that were not met by the last apply, and that a person has overridden; nil
	// for none.
	Lifted *rulings.Ruling `json:",omitempty"`
	// Approved are the users whose approvals counted for the last apply, if the settings require approvals.
	Approved []string `json:",omitempty"`
}

// An EndSummary has the facts that people read about the end of a run, or of its last plan or apply. It is also
// part of the stored record of a run.
type EndSummary struct {
	// Renamed is the new name of the project, if the base branch has renamed it after it was planned; otherwise
	// "".
	Renamed string `json:",omitempty"`
	// FinishedBy is the number of another pull request that has applied the changes which this one's merge left
	// unapplied; 0 for none.
	FinishedBy int `json:",omitempty"`
	// StoppedBy is the login of the user who stopped the last apply or the last plan; "" if nobody has.
	StoppedBy string `json:",omitempty"`
}

// A MergeRole says what the merge of the pull request does with a project.
type MergeRole struct {
	// ByMerge is set if the merge applies the plan.
	ByMerge bool
	// MergeApplies is set if the merge applies the project. Either the settings say so, or the pull request
	// removes the project: nobody can apply a removed project after the merge.
	MergeApplies bool
	// Landed is set if the pull request is merged. AfterMerge is set for a plan that was made after the merge.
	Landed, AfterMerge bool
	// OnIssue is set for a plan that was requested on an issue.
	OnIssue bool
	// Late is set for a plan that the merge should have applied, and that Lockstep applies once its
	// requirements are met.
	Late bool
}

// Queueing says who has requested a plan or an apply, and for what it waits.
type Queueing struct {
	// By is the login of the user who has applied the plan, or who has requested the apply.
	By string
	// After are projects that must be applied before this one.
	After []string
	// Ahead are the applies of other pull requests for which this queued apply waits, in their order.
	Ahead []Turn
	// Crowd is the number of plans of the repository that are queued before this project's plan; 0 if it need
	// not wait.
	Crowd int
}

// Obstacles are everything that must happen before a plan can be applied.
type Obstacles struct {
	// Behind lists the projects that must be applied before this plan, because of dependencies in the settings;
	// nil if there are none.
	Behind *Behind
	// Required is the decision about the requirements for the project's apply; nil if there are none.
	Required *rulings.Ruling
	// Owner is another project. Until the merge, the base branch's settings give it this project's state. ""
	// means none.
	Owner string
	// Blockers are the reasons why a Blocked plan cannot be applied now, in Markdown.
	Blockers []string
	// LockedBy is the number of another pull request for which a person has locked the state. BlockedBy is the
	// number of another pull request that was applied to the state and is not merged. Both are 0 for none.
	// Locked is set if nothing but the lock blocks the plan, so that the plan is still up to date.
	LockedBy, BlockedBy int
	Locked              bool
	// Copied is set if the pull request removes the project, but a copy of its state exists. Blockers then
	// contains this reason, and what to do.
	Copied bool
	// Lock is the lock on the state that a person has taken for this pull request; nil if there is none.
	Lock *OwnLock
}

// Texts are those texts about a project that can be long.
type Texts struct {
	// Body is the plan or the error, in Markdown. Note is a short note about it; "" if there is none.
	Body, Note string
	// Steps are the outcomes of the project's step blocks, in any order.
	Steps []Step
	// Whole is the address of the full body, if the comment shortens it. Check is the name of the check run
	// that shows more of the body. Both may be "".
	Whole, Check string
}

// Markdown returns the text of the comment, of at most limit bytes. Projects that need attention come first.
func (s Status) Markdown(limit int) string {
	s.Notes = slices.Concat(s.planningNotes(), s.blockers(), s.locks(), s.Notes)
	s.Projects = slices.Clone(s.Projects)
	slices.SortStableFunc(s.Projects, ByTrouble)
	all := s.sections()
	s.Notes = slices.Concat(noteOnce(all), s.Notes)
	s.notes = len(s.Notes)
	s.rows = s.table(all, limit)
	s.past = s.history(limit / 8)
	texts := make([]string, len(all))
	for i, x := range all {
		texts[i] = x.markdown(x.projects[0].Body)
	}
	if whole := s.render(texts); len(whole) <= limit {
		return whole
	}
	return s.crowded(all, limit)
}

// blockers returns the reasons that block plans. Equal reasons are returned once. If the pull request has
// several projects, each reason names its projects.
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

// render returns the whole comment. sections are the texts of its sections.
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
	b.WriteString(s.past)
	return b.String()
}

// tableHead begins the table. Its first column is what a person needs to know first: a phone shows that column only.
const tableHead = "| status | project | plan |\n|---|---|---|\n"

// row returns the project's line of the table. names is the project's name in Markdown, or the names of several
// projects with the same line.
func (p ProjectStatus) row(names string) string {
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	return fmt.Sprintf("| %s | %s | %s |\n", cell(p.cell()), cell(names), cell(p.plan()))
}

// named reports whether the comment shows the plan's name. It does so if the plan can be applied or is being
// applied.
func (p ProjectStatus) named() bool {
	return p.Hash != "" && (p.Late || rowOf(p.Standing).named)
}

// where returns a sentence that says where the full plan or error is; "" if that is not known.
func (p ProjectStatus) where() string {
	switch {
	case p.Whole != "":
		return markdown.Whole(p.Whole)
	case p.Check != "":
		return fmt.Sprintf("The check %s shows more of it.", markdown.Code(p.Check))
	}
	return ""
}
