package admission

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An Entry is the way in which a command came in.
type Entry string

const (
	ByPush    Entry = "push" // a person pushed or opened a pull request, as GitHub allowed
	ByComment Entry = "comment"
	ByMerge   Entry = "merge" // a person merged a pull request whose plans the merge applies; also the release of a lock that such an apply has left
)

// A Request has all facts for the decision about one command for one project. They are read just before the
// decision, in the order of [Needs]. A fact that is still absent is no reason to refuse.
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
	// again with it before the state is read.
	Placing *Placing
	// Sealed is the base commit whose encryption block counts, for an apply that continues; "" means the base
	// commit of Run.
	Sealed string
	// State is the present state, read under its lock; nil until then. The gate must be asked again with it
	// before the first change.
	State *runs.StateID
	// Again is the plan that was made again with the state locked, because the approved plan is out of date;
	// nil until then.
	Again *Again
	// known lists the facts that are read.
	known []Fact
}

// A Command says who asks for what.
type Command struct {
	Verb  comment.Verb
	Entry Entry
	// Actor is the login of the user who asks, with the present permission; "" for a push.
	Actor      string
	Permission github.Permission
	// At is the time of the comment or of the merge; zero for neither.
	At time.Time
	// Named is the plan that a comment names, or the beginning of its hash; "" for none.
	Named string
	// Together is set if the same comment asked for the plan, so its author cannot have seen the plan.
	Together bool
	// Decided is set if an earlier decision checked that the author of the comment has seen the plan.
	Decided bool
}

// Grants are the rights that the base branch gives.
type Grants struct {
	// BaseNamed is set if Pull.Base is not the default branch and the default branch's settings name it.
	BaseNamed bool
	// Forks is set if the present base branch lets commits of forks be planned.
	Forks bool
	// ApplyUnseen is set if the base branch lets a comment apply the plan that it asks for.
	ApplyUnseen bool
	// Provisioners is set if the base branch allows provisioners.
	Provisioners bool
	// Deployment is the name of our deployment. ServedBy is the deployment that serves the project by the
	// present base branch.
	Deployment, ServedBy string
}

// Stored is what is known of the saved plan.
type Stored struct {
	// Shown is the time at which our comment first showed the run's plan, by GitHub's clock; zero if it never
	// did.
	Shown time.Time
	// Saved is the hash of the saved plan's bytes; "" before they are read.
	Saved string
	// OnGitHub is the hash in our check run; nil before that is read. AgainOnGitHub is the hash of a plan that
	// was made again, from the same check run; "" for none.
	OnGitHub      *string
	AgainOnGitHub string
	// Kept is the defect of the stored inputs; "" for none.
	Kept string
	// OtherVersion is set if another version of Lockstep made the plan, known after the plan is read.
	OtherVersion bool
	// Providers names a provider that differs from that in the plan; "" for none.
	Providers string
}

// Files compares the commit that would be planned or applied now with the plan. That is the present trial
// merge, or the commit of the merge.
type Files struct {
	// Gone is the problem if GitHub has deleted the commit. Unusable is the problem if there is no job for the
	// project. Both are "" for none.
	Gone, Unusable string
	// Conflict is set if the head conflicts with the present base branch.
	Conflict bool
	// Restored is set if the project of a Removed run does exist: in the present trial merge, or after the
	// merge on the present base branch.
	Restored bool
	// Differ are the changed inputs of the plan.
	Differ []string
	// Broken are the errors of the settings in the commit in which the project was not found, in Markdown, if
	// they may be the reason; "" for none. OfBase is set if the base branch itself has errors.
	Broken string
	OfBase bool
	// Blocks are changed configuration files. They are not in Differ, because only a new plan shows whether the
	// plan depends on their changes.
	Blocks []string
	// Whole is set if all files are inputs, because programs could read them. Around are then the changed files
	// outside the configuration; Differ does not list them. The project's dependency lock file is in neither:
	// it counts by the providers that it selects.
	Whole  bool
	Around []string
	// Modules are the remote modules whose contents have changed, known after they are fetched.
	Modules []string
}

// Others is what other people, pull requests and projects have done to the state.
type Others struct {
	// Last is the last apply to the project's state; nil for none. Mutual is set if the pull request of Last
	// waits for this one.
	Last   *runs.LastApply
	Mutual bool
	// Reserved is the lock of a person on the project's state; nil for none.
	Reserved *runs.Reservation
	// Copied is the project that has a copy of the state of a Removed run; "" for none.
	Copied string
	// Order is the order of applies in the pull request; nil for none.
	Order *runs.Order
	// PlannedOn are the present plans of other projects. They are for the check of a plan that was made with
	// their outputs: see [runs.PlanParts].
	PlannedOn map[string]string
	// Applied is the present number of applies to the states of the projects that the plan depends on, by
	// target.
	Applied map[string]int
}

// Again is a plan that was made again, compared with the approved plan.
type Again struct {
	Hash  string // hash of the plan made again
	State runs.StateID
	Equal bool
}

// merged reports whether a merge asks for the apply. Then a refusal cannot advise to comment before the merge.
func (q *Request) merged() bool { return q.Entry == ByMerge }

// afterMerge reports whether a person asks for something after the merge. It is also true for the check of a
// plan that a person asked for after the merge.
func (q *Request) afterMerge() bool {
	return q.Pull.Merged && (q.Entry == ByComment || q.Entry == ByPush && q.Run.Spec.AfterMerge)
}
