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
// decision. The gate is first asked without the expensive facts, and again with them. A fact that is still
// absent is no reason to refuse.
type Request struct {
	Verb  comment.Verb
	Entry Entry
	// Actor is the login of the user who asks, with the present permission; "" for a push.
	Actor      string
	Permission github.Permission
	// At is the time of the comment or of the merge; zero for neither.
	At time.Time
	// Named is the plan that a comment names, or the beginning of its hash; "" for none. Shown is the time at
	// which our comment first showed the run's plan, by GitHub's clock; zero if it never did. Decided is set if
	// an earlier decision checked both. Together is set if the same comment asked for the plan, so its author
	// cannot have seen the plan. ApplyUnseen is set if the base branch allows that.
	Together, ApplyUnseen bool
	Named                 string
	Shown                 time.Time
	Decided               bool
	// Saved is the hash of the saved plan's bytes; "" before they are read. OnGitHub is the hash in our check
	// run; nil before that is read. Kept is the defect of the stored inputs; "" for none.
	Saved    string
	OnGitHub *string
	// AgainOnGitHub is the hash, in our check run, of a plan that was made again; "" for none.
	AgainOnGitHub string
	Kept          string
	Pull          github.PullRequest
	// BaseNamed is set if Pull.Base is not the default branch and the default branch's settings name it.
	BaseNamed bool
	// Forks is set if the present base branch lets commits of forks be planned.
	Forks bool
	// Run is the record of the project; its Phase is New if there is none.
	Run runs.Run
	// Conflict is set if the head conflicts with the present base branch.
	Conflict bool
	// Restored is set if the project of a Removed run does exist: in the present trial merge, or after the
	// merge on the present base branch.
	Restored bool
	// Copied is the project that has a copy of the state of a Removed run; "" for none. Mutual is set if the
	// pull request of Last waits for this one.
	Copied string
	Mutual bool
	// Differ are the changed inputs of the plan: in the present trial merge, or in the commit of the merge.
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
	// Provisioners is set if the base branch allows provisioners.
	Provisioners bool
	// Modules are the remote modules whose contents have changed, known after they are fetched.
	Modules []string
	// OtherVersion is set if another version of Lockstep made the plan, known after the plan is read.
	// Providers names a provider that differs from that in the plan; "" for none.
	OtherVersion bool
	Providers    string
	// Again is the plan that was made again with the state locked, because the approved plan is out of date;
	// nil until then.
	Again *Again
	// Required is the decision about the requirements of the base branch's settings. Package gatefacts makes it
	// for each command that can have requirements.
	Required *rulings.Ruling
	// Deployment is the name of our deployment. ServedBy is the deployment that serves the project by the
	// present base branch.
	Deployment, ServedBy string
	// Placing is the decision about the address of the state; nil before it is made. The gate must be asked
	// again with it before the state is read.
	Placing *Placing
	// Sealed is the base commit whose encryption block counts, for an apply that continues; "" means the base
	// commit of Run.
	Sealed string
	// Last is the last apply to the project's state; nil for none.
	Last *runs.LastApply
	// Reserved is the lock of a person on the project's state; nil for none.
	Reserved *runs.Reservation
	// Order is the order of applies in the pull request; nil for none.
	Order *runs.Order
	// PlannedOn are the present plans of other projects. They are for the check of a plan that was made with
	// their outputs: see [runs.PlanParts].
	PlannedOn map[string]string
	// Applied is the present number of applies to the states of the projects that the plan depends on, by
	// target.
	Applied map[string]int
	// State is the present state, read under its lock; nil until then. The gate must be asked again with it
	// before the first change.
	State *runs.StateID
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
