package jobs

import (
	"encoding/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// Access is what a job may do with a state, its lock, its lease and its journal.
type Access int

const (
	// Reads is the access of a plan: it takes no lock.
	Reads Access = iota
	// Unlocks adds the right to delete locks.
	Unlocks
	// Writes is the access of an apply and of a recovery: they lock the state and change it.
	Writes
	// Keys is the access to AWS KMS for the keys of an encrypted state. It does not give access to the state
	// itself.
	Keys
	// Tests is the access of tests. It gives no access to any state, because the states of tests are in
	// memory.
	Tests
)

// A Job is one project in a checkout, with everything that is needed to plan or apply it.
type Job struct {
	// Checkout is the directory of the checkout. Dir is the project's directory in it, slash-separated.
	Checkout, Dir string
	Project       string
	Workspace     string
	App           string // the App that can reach the repository; "" for the first App
	Repo          github.Repo
	Installation  int64  // the installation that has the repository
	Number        int    // of the pull request
	Head          string // SHA of the pull request's head
	Actor         string // login of the user who asked for the job; "" for a push
	// Owner is the name under which the job locks the state: "lockstep acme/infra#7".
	Owner string
	InputValues
	// Environment has the roles, secrets and variables that the base branch grants. It is not passed to the
	// processes of runs, because they do not need the names.
	Environment environments.Granted `json:"-"`
	// Options are the options of the plan: of the plan to make, or of the plan to apply.
	Options grammar.Options
	// Grants are the permissions that the base branch gives.
	Grants project.Grants
	// ProviderParallelism is a setting of lockstep.hcl: see [Job.ProviderLimits].
	ProviderParallelism map[string]int `json:",omitempty"`
	StateGrant
	Judges
	ApplyTask
	// Foreseen are the projects of the pull request on which this project depends, and whose plans are not
	// applied yet. Foreseen is set only for plans. Foresee is set if other projects depend on this one, so
	// that its planned outputs are needed.
	Foreseen []PlannedOutputs `json:",omitempty"`
	Foresee  bool             `json:",omitempty"`
	// Snapshot is the state without secrets with which a fork's commit is planned; nil for all other plans.
	// Such a plan uses nothing that needs Lockstep's rights. See [Unprivileged].
	Snapshot *Snapshot `json:",omitempty"`
	// Readers are the projects that read the outputs of this one, as the checkout defines them. They are only
	// shown to people, and only set for plans.
	Readers []string `json:",omitempty"`
	// Refresh says which objects a plan reads, unless Options say so.
	Refresh project.Refresh `json:",omitzero"`
	// IgnoredDrift are rules for drift that the report of the plan leaves out. They are set for looks for drift only.
	IgnoredDrift []project.IgnoredDrift `json:",omitempty"`
	// Literals is set for looks for drift: see [PlanResult.Literals].
	Literals bool `json:",omitempty"`
	// PlanJSON is set if somebody needs the plan as JSON: see [PlanResult.JSON].
	PlanJSON bool `json:",omitempty"`
	// Edited are the changed files of the pull request, at its head commit. It is set for plans only; nil means
	// that they are not known.
	Edited []github.FileChange `json:",omitempty"`
	// Progress is called every few seconds with the progress of a plan or an apply. It is not called after Ended.
	// It may be nil. Its calls do not overlap. It is not passed to other processes.
	Progress func(comment.Ongoing) `json:"-"`
	// Unit says how Terragrunt prepares the project's directory; nil if the directory is not a unit.
	Unit *Unit `json:",omitempty"`
	// Queries is set for a query: the configuration includes the query files. An Engine sets it.
	Queries bool `json:",omitempty"`
	// PrivateModules is set if the job may download private repositories that the base branch grants, even
	// though the job has a Snapshot.
	PrivateModules bool `json:",omitempty"`
}

// InputValues are where the values of a project's variables, and of its backend's arguments, come from.
type InputValues struct {
	// Language is the version of the language of the configuration.
	Language language.Version `json:",omitempty"`
	// VarFiles are the files with values of variables that lockstep.hcl names. The paths are slash-separated
	// and relative to the checkout.
	VarFiles []string
	// Variables are the variable values in lockstep.hcl, as JSON. BackendConfig are the backend arguments in
	// that file.
	Variables     map[string]json.RawMessage
	BackendConfig map[string]json.RawMessage
	// Inputs are values of variables that are computed from outputs of the projects in Linked.
	Inputs []projectinputs.Link `json:",omitempty"`
	Linked []Linked             `json:",omitempty"`
}

// A StateGrant says which state a job may open, and how.
type StateGrant struct {
	// State is the granted address of the state. The job opens no other address. If no address is granted,
	// NoState is the reason for people.
	State   places.Place
	NoState string
	// Sealing has the encryption block of the base branch, which decides how the state is encrypted.
	Sealing encryptionpolicy.Base
	// Access says what the job may do with the state and the files beside it. An Engine sets it.
	Access Access
}

// Judges are the policies and gates that must allow a plan before its apply, and what counts as a risk of the plan.
type Judges struct {
	// Stateful are the base branch's patterns of resource types whose objects keep data, in addition to those that
	// Lockstep knows.
	Stateful []string `json:",omitempty"`
	// Policies are the base branch's policies for the plan.
	Policies []Policy `json:",omitempty"`
	// Gates are the gates of the base branch that must allow the plan.
	Gates []requirements.Gate `json:",omitempty"`
}

// An ApplyTask has those fields of a job that are set only for an apply.
type ApplyTask struct {
	// Run identifies an apply in the state's lock. It is the same in all processes that continue the apply.
	// Continues is set if an earlier process has begun the apply, and has certainly ended.
	Run       string
	Continues bool
	// Planned is the state from which the plan to apply was made.
	Planned runs.StateID
	// Times are the times at which an apply that takes too long must stop.
	Times Times
	// Typical has the typical durations of changes of the state, for an estimate of how long the apply takes. It may
	// be nil.
	Typical estimates.Typical `json:",omitempty"`
	// Ended is called with the result of an apply, after the state is stored and before the journal is deleted.
	// So a process that finds no journal finds the recorded result. If Ended returns an error, the journal is
	// kept. Ended may be nil. It is not passed to other processes.
	Ended func(Outcome) error `json:"-"`
}

// Repository is the repository's unique name in all Apps, as of pipeline.Pull.Repository.
func (j Job) Repository() string { return pipeline.Qualified(j.App, j.Repo.String()) }

// ProviderLimits returns a function that returns how many calls of a provider may run at the same time; 0 means
// no limit. It returns nil if no provider has a limit.
func (j Job) ProviderLimits() func(addrs.Provider) int {
	return project.ProviderLimits(j.ProviderParallelism)
}
