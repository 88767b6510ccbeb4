package admission

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An Entry says where a command comes from, such as a comment or a merge.
type Entry string

const (
	ByPush    Entry = "push" // a person pushed or opened a pull request, as GitHub allowed
	ByComment Entry = "comment"
	ByMerge   Entry = "merge" // a person merged a pull request whose plans the merge applies; also the release of a lock that such an apply has left
)

// A Request has all facts for the decision about a command for one project. They are read just before the
// decision, in the order of [Needs]. A fact that is not read yet is no reason to refuse.
type Request struct {
	Command
	Pull github.PullRequest
	// Run is the record of the project; its Phase is New if there is none.
	Run runs.Run
	Grants
	// Required is the decision about the requirements of the base branch's settings. Package gatefacts makes it
	// for each command that can have requirements.
	Required *rulings.Ruling
	Stored
	Files
	Others
	// Placing is the decision about the address of the state; nil before it is made. The gate must be asked
	// once more with this fact, before the state is read.
	Placing *Placing
	// Sealed is the base commit whose encryption block is used, for an apply that continues; "" means the base
	// commit of Run.
	Sealed string
	// State is the state that was read after it was locked; nil before that. The gate must be asked once more
	// with this fact, before the first change.
	State *runs.StateID
	// Again is the new plan that was made with the state locked, because the approved plan is out of date. It
	// is nil before that.
	Again *Again
	// known are the facts that were already read.
	known []Fact
}

// A Command says who has given which command.
type Command struct {
	Verb  comment.Verb
	Entry Entry
	// Actor is the login of the user who has given the command, with the user's present permission; "" for a
	// push.
	Actor      string
	Permission github.Permission
	// Shows is set for a command that only shows parts of a state: output and show.
	Shows bool
	// Compares is set for a plan that is only compared with that of another tool, and that nobody can apply.
	Compares bool
	// At is the time of the comment or of the merge; zero for neither.
	At time.Time
	// Named is the hash of the plan that a comment names, or its beginning; "" if it names none.
	Named string
	// Together is set if the same comment has requested the plan, so that its author cannot have seen the plan.
	Together bool
	// Decided is set if an earlier decision has found that the author of the comment has seen the plan.
	Decided bool
}

// Grants are the rights that the base branch grants.
type Grants struct {
	// BaseNamed is set if Pull.Base is not the default branch and the default branch's settings name it.
	BaseNamed bool
	// Forks is set if the present base branch allows plans of commits in forks.
	Forks bool
	// ApplyUnseen is set if the base branch allows a comment to request a plan together with its apply.
	ApplyUnseen bool
	// Provisioners is set if the base branch allows provisioners.
	Provisioners bool
	// Deployment is the name of this deployment. ServedBy is the name of the deployment that works for the
	// project, according to the present base branch.
	Deployment, ServedBy string
	// Shadow is set if the project is in shadow mode, according to the present base branch.
	Shadow bool
}

// Stored has what is known about the stored plan.
type Stored struct {
	// Shown is the time at which Lockstep's comment first showed the plan, by GitHub's clock; zero if it never
	// did.
	Shown time.Time
	// Saved is the hash of the saved plan's bytes; "" before they are read.
	Saved string
	// OnGitHub is the hash of the plan that Lockstep's check run shows; nil before it is read. AgainOnGitHub is
	// the hash of a newer, equal plan, from the same check run; "" if there is none.
	OnGitHub      *string
	AgainOnGitHub string
	// Kept says what is wrong with the stored inputs of the plan; "" if they are right.
	Kept string
	// OtherVersion is set if a different version of Lockstep made the plan. It is known after the plan was
	// read.
	OtherVersion bool
	// Providers names a provider whose package is not the one with which the plan was made; "" if there is
	// none.
	Providers string
}

// Files has the differences between the files of the plan and those of the commit that would be planned or
// applied now: the present trial merge, or the commit of the merge.
type Files struct {
	// Gone is the problem if the commit no longer exists on GitHub. Unusable is the problem if there is no job
	// for the project. Both are "" if there is no problem.
	Gone, Unusable string
	// Ungenerated is the failure of a step that writes files into the checkout; nil for none.
	Ungenerated *reasons.StepFailed
	// Generated is set if steps write files into the checkout, and some files differ.
	Generated bool
	// Conflict is set if the head conflicts with the present base branch.
	Conflict bool
	// Restored is set if a removed project exists: in the present trial merge or, after the merge, on the
	// present base branch.
	Restored bool
	// Differ are the changed inputs of the plan.
	Differ []string
	// Broken are errors in the settings of the commit in which the project was not found, in Markdown, if they
	// may be the reason for that; "" for none. OfBase is set if the base branch itself has errors.
	Broken string
	OfBase bool
	// Blocks are files of the configuration that have changed. They are not in Differ, because only a new plan
	// shows whether the plan depends on these changes.
	Blocks []string
	// Whole is set if all files are inputs of the plan, because programs could read them. Around are then the
	// changed files outside of the configuration, which Differ does not list. Neither list has the project's
	// dependency lock file: the providers that it selects are compared instead.
	Whole  bool
	Around []string
	// Modules are the remote modules whose contents have changed. They are known after the modules were
	// downloaded.
	Modules []string
}

// Others has what other people, pull requests and projects have done to the state.
type Others struct {
	// Last is the last apply to the project's state; nil for none. Mutual is set if the pull request of Last
	// waits for this one.
	Last   *runs.LastApply
	Mutual bool
	// Reserved is a person's lock on the project's state; nil if there is none.
	Reserved *runs.Reservation
	// Copied is the project whose state is a copy of a removed project's state; "" for none.
	Copied string
	// Order are the dependencies between the projects of the pull request; nil if there are none.
	Order *runs.Order
	// PlannedOn are the present plans of other projects. They are needed to check a plan that was made with
	// their outputs: see [runs.PlanParts].
	PlannedOn map[string]string
	// Applied is how often the states of the projects on which the plan depends have been applied until now, by
	// target.
	Applied map[string]int
}

// Again is a new plan, compared with the approved plan.
type Again struct {
	Hash  string // hash of the plan made again
	State runs.StateID
	Equal bool
}

// merged reports whether a merge requests the apply. The advice can then not be to write a comment before the
// merge.
func (q *Request) merged() bool { return q.Entry == ByMerge }

// afterMerge reports whether a person gives the command after the merge. It is also true for the check of a
// plan that a person requested after the merge.
func (q *Request) afterMerge() bool {
	return q.Pull.Merged && (q.Entry == ByComment || q.Entry == ByPush && q.Run.Spec.AfterMerge)
}
