package admission

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An Entry is the way by which a command came in.
type Entry string

const (
	ByPush    Entry = "push" // GitHub let somebody push, or open a pull request
	ByComment Entry = "comment"
	ByMerge   Entry = "merge" // somebody merged a pull request whose plans are applied on merge; or such an apply leaves its lock
)

// A Request is all facts for the decision about one command for one project, read just
// before. Facts that are expensive come later than the rest, and the gate is asked again
// with it: its absence speaks against nothing.
type Request struct {
	Verb  comment.Verb
	Entry Entry
	// Actor is the login of the user who asks, with the present permission; "" for a push.
	Actor      string
	Permission github.Permission
	// At is the time of the comment, or of the merge; zero if there is none.
	At time.Time
	// Named is the plan that a comment names, or the beginning of its hash; "" for none.
	// Shown is the time at which our comment first showed the run's plan, by GitHub's
	// clock; zero if it never did. Decided is set if an earlier decision was about both.
	// Together is set if the comment has asked for the plan as well, so that its author cannot have seen it. ApplyUnseen is set if
	// the base branch lets that be applied.
	Together, ApplyUnseen bool
	Named                 string
	Shown                 time.Time
	Decided               bool
	// Saved is the hash of the saved plan's bytes, "" before they are read. OnGitHub is the
	// hash in our check run, nil before that is read. Kept is the defect of the stored
	// inputs, "" for none.
	Saved    string
	OnGitHub *string
	// AgainOnGitHub is the hash of a plan made again, in the same place; "" if there is none.
	AgainOnGitHub string
	Kept          string
	Pull          github.PullRequest
	// BaseNamed is set if the default branch's settings name Pull.Base, where that is
	// another branch.
	BaseNamed bool
	// Forks is set if the base branch, as it is now, has commits of forks planned.
	Forks bool
	// Run is the record of the project; Phase New if there is none.
	Run runs.Run
	// Conflict is set if the head cannot be merged into the present base branch.
	Conflict bool
	// Restored is set if the project of a Removed run is in the present trial merge, or after the merge in the base branch as
	// it is now.
	Restored bool
	// Copied is the project that has a copy of the state of a Removed run; "" for none. Mutual is set if the pull request of Last waits for this one.
	Copied string
	Mutual bool
	// Differ are the inputs of the plan that have changed: in the present trial merge, or
	// in the commit that the pull request became.
	Differ []string
	// Broken are the errors, in Markdown, of the settings in those files, if the project is not found there because of them; ""
	// for none. OfBase is set if the base branch has errors by itself.
	Broken string
	OfBase bool
	// Blocks are files of the configuration among the inputs that have changed besides Differ: whether
	// the plan depends on the change is known when it is made again.
	Blocks []string
	// Whole is set if all files are inputs, because programs could read them. Around are then those
	// that have changed besides Differ: they are no part of the configuration. The lock file of the
	// providers is always one of them.
	Whole  bool
	Around []string
	// Provisioners is set if the base branch lets provisioners run.
	Provisioners bool
	// Modules are the remote modules whose contents have changed, known after a fetch.
	Modules []string
	// OtherVersion is set if another version of Lockstep made the plan, known after reading it.
	// Providers tells which provider is not that of the plan, "" if none.
	OtherVersion bool
	Providers    string
	// Again is the plan that was made again, with the state locked, because the approved one does
	// not fit any more; nil before.
	Again *Again
	// Required is the decision about the requirements of the base branch's settings; package gatefacts
	// makes it for each command that can have some.
	Required *rulings.Ruling
	// Deployment is the name of ours, ServedBy of the one that serves the project by the base branch as it is now.
	Deployment, ServedBy string
	// Placing is the decision about the address of the state, nil before it is made. The
	// gate must be asked again with it before the state is read.
	Placing *Placing
	// Sealed is the base commit whose encryption block holds, of an apply that goes on; "" for that of
	// the Run.
	Sealed string
	// Last is the last apply to the project's state, nil if there was none.
	Last *runs.LastApply
	// Reserved is the lock of a person on the project's state, nil if there is none.
	Reserved *runs.Reservation
	// Order is the order of applies in the pull request, nil if there is none.
	Order *runs.Order
	// PlannedOn are the plans of other projects as they are now, for a check of a plan that was made with the outputs of
	// some: see [PlanParts].
	PlannedOn map[string]string
	// Applied is the number of applies by now to the states of the projects that the plan depends on, by target.
	Applied map[string]int
	// State is the present state, read under its lock; nil before. The gate must be asked
	// again with it before the first change.
	State *runs.StateID
}

// Again is a plan that was made again, compared with the approved one.
type Again struct {
	Hash  string // of the plan made again
	State runs.StateID
	Equal bool
}

// merged reports whether a merge asks for an apply, so that comments are no remedy.
func (q *Request) merged() bool { return q.Entry == ByMerge }

// afterMerge reports whether a person asks for something after the merge, or has asked for the plan that is checked.
func (q *Request) afterMerge() bool {
	return q.Pull.Merged && (q.Entry == ByComment || q.Entry == ByPush && q.Run.Spec.AfterMerge)
}
