package comment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// AnswerMarker returns the hidden first line of a comment with an answer. Lockstep later finds the answer by
// this line. name identifies the answer. For an answer to a person's comment, it is the ID of that comment.
func AnswerMarker(name string) string { return fmt.Sprintf("<!-- lockstep:answer %s -->", name) }

// An Answer is one comment of Lockstep. It has the replies to the commands in a person's comment, or to another
// action of a person.
type Answer struct {
	Name    string // unique among the answers on a pull request
	Replies []Reply
}

// Markdown returns the text of the comment, with its hidden marker. The text has at most limit bytes.
func (a Answer) Markdown(limit int) string {
	marker := AnswerMarker(a.Name) + "\n"
	return marker + markdown.Cut(a.body(), limit-len(marker))
}

// Done is the reply that a project was applied.
type Done struct {
	Project string
	Counts  counting.Counts
	// Settled are the reasons why Lockstep made the plan again before the apply. The new plan was the same.
	Settled reasons.List `json:",omitempty"`
	// Hooks are the answers of the hooks that were called before and after the apply.
	Hooks []reasons.Hooked `json:",omitempty"`
	// Body is the text with outputs and warnings, in Markdown; it may be "".
	Body string
}

func (d Done) markdown() string {
	return fmt.Sprintf("**Applied** %s: %s.\n\n%s%s", markdown.Code(d.Project), madeText(d.Counts), reasons.PlannedAgain(d.Settled)+reasons.Hooks(d.Hooks), d.Body)
}

// Planned is the reply that a project was planned because of a command. The plan itself is in the status
// comment. If the project shares its check with others, the status comment may have no room for the plan, and the reply has
// it.
type Planned struct {
	Project string
	Counts  counting.Counts
	// Applyable is set if the plan changes no object, but can be applied. For example, it changes an output.
	Applyable bool `json:",omitempty"`
	// Body is the plan, in Markdown; "" if the reply need not have it.
	Body string `json:",omitempty"`
}

// Made returns the reply that the project was planned.
func (p ProjectStatus) Made() Planned {
	return Planned{Project: p.Label(), Counts: p.Counts, Applyable: p.Applyable && p.Counts == (counting.Counts{})}
}

func (p Planned) markdown() string {
	text := fmt.Sprintf("**Planned** %s: %s. See the comment with the plans.", markdown.Code(p.Project), toComeText(p.Counts, p.Applyable))
	if p.Body != "" {
		text += "\n\n" + p.Body
	}
	return text
}

// Failed is the reply that a plan, an apply or a query has failed.
type Failed struct {
	Project string
	Verb    Verb
	// Counts are the changes that an apply made before it failed.
	Counts counting.Counts
	// Untouched is set if the apply failed before it changed anything.
	Untouched bool
	// Closed is set if the pull request is no longer open. The plan can then not be applied once more.
	Closed bool `json:",omitempty"`
	// Remaining is the number of planned changes that the apply did not begin.
	Remaining int
	// Lost is set if Lockstep does not know how the apply ended and what it changed. Unlock is then the command
	// that releases the lock of that apply.
	Lost   bool    `json:",omitempty"`
	Unlock Command `json:",omitzero"`
	// Settled are the reasons why Lockstep made the plan again before the apply. The new plan was the same.
	Settled reasons.List `json:",omitempty"`
	// Hooks are the answers of the hooks that were called before and after the apply.
	Hooks []reasons.Hooked `json:",omitempty"`
	// Kept is set if a plan with options failed, and the earlier plan can still be applied.
	Kept bool   `json:",omitempty"`
	Body string // the failure, in Markdown
}

func (f Failed) markdown() string {
	what := fmt.Sprintf("**Failed to plan** %s.", markdown.Code(f.Project))
	if f.Kept {
		what += " The plan from before is unchanged, and you can still apply it."
	}
	switch {
	case f.Verb == Output || f.Verb == Show:
		what = fmt.Sprintf("**Failed to show** the state of %s.", markdown.Code(f.Project))
	case f.Verb == Query:
		what = fmt.Sprintf("**Failed to query** %s.", markdown.Code(f.Project))
	case f.Verb == Apply && f.Untouched && f.Closed:
		what = fmt.Sprintf("**Failed to apply** %s. Nothing was changed. The pull request is closed, so this plan cannot be applied. If it was merged, comment %s for a new plan. If not, reopen it.", markdown.Code(f.Project), markdown.Code("lockstep retry"))
	case f.Verb == Apply && f.Untouched:
		what = fmt.Sprintf("**Failed to apply** %s. Nothing was changed. To try again, comment %s.", markdown.Code(f.Project), markdown.Code("lockstep apply"))
	case f.Verb == Apply && f.Lost:
		what = fmt.Sprintf("**Failed to apply** %s: the apply ended without a result, so Lockstep does not know what was changed.", markdown.Code(f.Project))
		if f.Unlock.Verb != "" {
			plan := f.Unlock
			plan.Verb = Plan
			what += fmt.Sprintf(" %s Then comment %s, and read the new plan: it shows what is left.", lockLeft(markdown.Code(f.Unlock.String())), markdown.Code(plan.String()))
		}
	case f.Verb == Apply:
		what = fmt.Sprintf("**Failed to apply** %s: %s before the failure. The state contains these changes.", markdown.Code(f.Project), madeText(f.Counts))
		if f.Remaining > 0 {
			what += fmt.Sprintf(" **Not started: %s.**", changes(f.Remaining))
		}
		what += fmt.Sprintf(" To plan the rest, comment %s.", markdown.Code("lockstep plan"))
	}
	return what + "\n\n" + reasons.PlannedAgain(f.Settled) + reasons.Hooks(f.Hooks) + f.Body
}

// lockLeft returns a sentence for the result of an unfinished apply, which may have left the state locked.
// unlock is the command that releases this lock.
func lockLeft(unlock string) string {
	return fmt.Sprintf("If the state is still locked, comment %s.", unlock)
}

func changes(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// Pending is the reply to a command that Lockstep is still carrying out. Another reply replaces it later.
type Pending struct {
	Project string
	Verb    Verb
	// Progress is the progress of the apply, if a second process has continued it; the zero value in the first
	// process.
	Progress Progress `json:",omitzero"`
	// Ongoing is the present progress of the apply or the plan. It is never stored with the reply.
	Ongoing Ongoing `json:"-"`
	// AfterPlan is set for an apply that waits for its plan.
	AfterPlan bool `json:",omitempty"`
	// After are the projects that must be applied before this project.
	After []string `json:",omitempty"`
	// Ahead are the applies of other pull requests that were in the queue before this apply.
	Ahead []Turn `json:",omitempty"`
}

func (p Pending) markdown() string {
	if now := p.Ongoing.text(); now != "" {
		return fmt.Sprintf("%s is being %s. %s The result will appear here.", markdown.Code(p.Project), p.Verb.Participle(), now)
	}
	if p.AfterPlan {
		return fmt.Sprintf("Lockstep applies %s once it is planned. The result will appear here.", markdown.Code(p.Project))
	}
	if len(p.After) > 0 {
		return fmt.Sprintf("Lockstep applies %s after %s. The result will appear here.", markdown.Code(p.Project), markdown.List(p.After))
	}
	if len(p.Ahead) > 0 {
		return fmt.Sprintf("The apply of %s is queued, behind %s at the time of the request. The result will appear here.", markdown.Code(p.Project), turnList(p.Ahead))
	}
	if far := p.Progress.text(); far != "" {
		return fmt.Sprintf("%s is being %s: %s. The result will appear here.", markdown.Code(p.Project), p.Verb.Participle(), far)
	}
	return fmt.Sprintf("%s is being %s. The result will appear here.", markdown.Code(p.Project), p.Verb.Participle())
}

// PlanSuperseded is the reply that Lockstep does not make a requested plan, because a newer plan replaces it.
type PlanSuperseded struct{ Project string }

func (s PlanSuperseded) markdown() string {
	return fmt.Sprintf("**Superseded**: a newer plan of %s takes the place of this one.", markdown.Code(s.Project))
}

// MergeRefused is the reply that GitHub refuses to merge a pull request. Lockstep wanted to merge it, because
// all its projects are applied.
type MergeRefused struct {
	Method string // "merge", "squash" or "rebase"
	Why    string // GitHub's words
	Remedy string // a sentence in Markdown; "" if none is known
	Merged bool   `json:",omitempty"` // the pull request was merged later by a person
}

func (n MergeRefused) markdown() string {
	if n.Merged {
		return fmt.Sprintf("**Applied, and merged since.** GitHub had refused the automatic merge: %s.", markdown.Code(strings.TrimSuffix(n.Why, ".")))
	}
	text := fmt.Sprintf("**Applied, not merged.** All projects are applied, but GitHub refused the automatic merge (`automerge`, method %s): %s.", markdown.Code(n.Method), markdown.Code(strings.TrimSuffix(n.Why, ".")))
	return text + " " + strings.TrimLeft(n.Remedy+" Lockstep tries again after each check and review, and once an hour. You can also merge the pull request yourself. Until then, the base branch lacks the applied changes.", " ")
}

// Broken is the reply that Lockstep itself has failed.
type Broken struct {
	Reason string
	// Closed is set if the pull request is closed, and Merged if it was merged. In both cases the person cannot
	// give the same command once more.
	Closed, Merged bool `json:",omitempty"`
}

func (b Broken) markdown() string {
	text := fmt.Sprintf("**Lockstep failed internally**: %s.", markdown.Plainly(b.Reason))
	switch {
	case b.Merged:
		return text + fmt.Sprintf(" To try again, comment %s. If that fails, too, tell the operator of Lockstep.", markdown.Code("lockstep retry"))
	case b.Closed:
		return text + " If that happens again, tell the operator of Lockstep."
	}
	return text + tryAgain + " If that fails, too, tell the operator of Lockstep."
}

// tryAgain is the advice after a command that failed because of an error in Lockstep itself.
const tryAgain = " To try again, write the command in a new comment."

// TooMany is the reply that a user has given too many commands.
type TooMany struct {
	By   string    // login
	Most int       // comments with commands in an hour
	Free time.Time // when the next comment can be carried out
}

func (m TooMany) markdown() string {
	return fmt.Sprintf("**Not done**: %s has reached the limit of %d comments with commands an hour on this pull request. Lockstep ignores further ones until %s. Then write the command again.",
		markdown.Code(m.By), m.Most, m.Free.UTC().Format("15:04 MST"))
}

// Refused is the reply that Lockstep does not carry out a command. It contains the reasons.
type Refused struct {
	Command Command
	Project string // "" if it concerns none in particular
	Reasons reasons.List
}

func (r Refused) markdown() string {
	var b strings.Builder
	did := r.Command.Verb.Participle()
	of := ""
	if r.Project != "" && !strings.Contains(r.Project, "*") { // a pattern is no project
		of = " " + markdown.Code(r.Project)
	}
	fmt.Fprintf(&b, "**Not %s**%s:\n\n", did, of)
	all := slices.Clone(r.Reasons)
	for i, why := range all {
		if required, is := why.(reasons.Required); is {
			required.Typed = r.Command
			all[i] = required
		}
	}
	b.WriteString(all.Markdown())
	if link := all.Link(); link != "" {
		b.WriteString("\n" + link + ".\n")
	}
	return b.String()
}

// Guide is the reply that lists the commands, and the projects to which they can be limited.
type Guide struct{ Projects []string }

func (g Guide) markdown() string {
	var b strings.Builder
	b.WriteString("Write each command on its own line of a new comment:\n\n")
	b.WriteString("| command | effect |\n|---|---|\n")
	for _, f := range grammar.Forms() {
		fmt.Fprintf(&b, "| %s | %s |\n", markdown.Code(f.Typed), f.Effect)
	}
	fmt.Fprintf(&b, "\nTo limit a command to projects, directories or workspaces, add %s, %s or %s. In a name, %s matches any text. To limit a command to what failed or was cancelled, add %s.\n",
		markdown.Code("-p NAME"), markdown.Code("-d DIR"), markdown.Code("-w WORKSPACE"), markdown.Code("*"), markdown.Code("--failed"))
	if len(g.Projects) > 0 {
		b.WriteString("\nProjects: ")
		for i, p := range g.Projects {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(markdown.Code(p))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// Unlocked is the reply that lists the locks that were released, and the people who still have locks on the
// state.
type Unlocked struct {
	Project string
	Locks   int
	Others  []string `json:",omitempty"`
	// Elsewhere is a person's lock on the state of the project, for another pull request. It is nil if there is
	// no such lock.
	Elsewhere *reasons.LockedByAnother `json:",omitempty"`
}

func (u Unlocked) markdown() string {
	text := fmt.Sprintf("This pull request has **no lock** on %s.", markdown.Code(u.Project))
	if u.Locks > 0 {
		text = fmt.Sprintf("**Unlocked** %s. Before the next apply, read a new plan: comment %s on an open pull request.", markdown.Code(u.Project), markdown.Code("lockstep plan"))
	}
	if len(u.Others) > 0 {
		text += fmt.Sprintf(" Somebody else still has a lock: %s.", markdown.List(u.Others))
	}
	if u.Elsewhere != nil {
		text += fmt.Sprintf(" %s %s", reasons.LockedFor(*u.Elsewhere), u.Elsewhere.Lifts())
	}
	return text
}
