package jobs

import (
	"encoding/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
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
	// Writes is the access of an apply and of a recovery.
	Writes
	// Keys is the access to AWS KMS, for the keys of an encrypted state. It does not include the state itself.
	Keys
	// Tests is the access of tests: none. They have states of their own, in memory.
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
	// Owner is the name of the holder in the state's lock: "lockstep acme/infra#7".
	Owner string
	InputValues
	// Environment has the roles, secrets and variables of the environment that the base branch grants. It stays
	// in Lockstep's own process, because the processes of runs do not need its names.
	Environment environments.Granted `json:"-"`
	// Options are the options of the plan, whether it is made already or not.
	Options grammar.Options
	// Grants are the permissions that the base branch gives.
	Grants project.Grants
	// ProviderParallelism is a setting of lockstep.hcl: see [Job.ProviderLimits].
	ProviderParallelism map[string]int `json:",omitempty"`
	StateGrant
	Judges
	ApplyTask
	// Foreseen are the projects of the pull request that this project depends on and whose plans are not
	// applied yet. They are for plans only. Foresee is set if other projects depend on this one, so that its
	// planned outputs are needed.
	Foreseen []PlannedOutputs `json:",omitempty"`
	Foresee  bool             `json:",omitempty"`
	// Snapshot is the state without secrets from which a fork's commit is planned; nil for other plans. Such a
	// plan uses nothing that needs our rights. See [Unprivileged].
	Snapshot *Snapshot `json:",omitempty"`
	// Queries is set for a query: the configuration includes the query files. An Engine sets it.
	Queries bool `json:",omitempty"`
	// PrivateModules is set if the job may fetch the private repositories that the base branch grants, although it
	// has a Snapshot.
	PrivateModules bool `json:",omitempty"`
}

// InputValues are the sources of the values of a project's variables, and of its backend's arguments.
type InputValues struct {
	// VarFiles are the files with variable values that lockstep.hcl names, slash-separated, relative to the
	// checkout.
	VarFiles []string
	// Variables are the variable values in lockstep.hcl, as JSON. BackendConfig are the backend arguments in
	// that file.
	Variables     map[string]json.RawMessage
	BackendConfig map[string]json.RawMessage
	// Inputs are variable values that are made from outputs of the projects in Linked.
	Inputs []projectinputs.Link `json:",omitempty"`
	Linked []Linked             `json:",omitempty"`
}

// A StateGrant says which state a job may open, and how.
type StateGrant struct {
	// State is the granted address of the state. No other address is opened. If none is granted, NoState has
	// the reason for people.
	State   places.Place
	NoState string
	// Sealing has the encryption block of the base branch, which decides how the state is encrypted.
	Sealing encryptionpolicy.Base
	// Access is what the job may do with the state and the files beside it. An Engine sets it.
	Access Access
}

// Judges have to allow a plan before its apply.
type Judges struct {
	// Policies are the base branch's policies for the plan.
	Policies []Policy `json:",omitempty"`
	// Gates are the base branch's gates that have to allow the plan.
	Gates []requirements.Gate `json:",omitempty"`
}

// An ApplyTask is the part of a job that only an apply has.
type ApplyTask struct {
	// Run identifies an apply, as the holder of the state's lock. It stays the same in all processes that
	// continue the apply. Continues is set if an earlier process began the apply and has certainly ended.
	Run       string
	Continues bool
	// Planned is the state that the plan to apply was made from.
	Planned runs.StateID
	// Times say when an apply that takes too long has to stop.
	Times Times
	// Progress is called every few seconds with the progress of an apply; it may be nil. It is not passed to
	// other processes.
	Progress func(comment.Progress) `json:"-"`
	// Ended is called with the outcome of an apply once the state is stored and before the journal is removed.
	// So a process that finds no journal finds the recorded outcome. After an error of Ended the journal stays.
	// Ended may be nil, and is not passed to other processes.
	Ended func(Outcome) error `json:"-"`
}

// Repository is the repository's unique name in all Apps, as of pipeline.Pull.Repository.
func (j Job) Repository() string { return pipeline.Qualified(j.App, j.Repo.String()) }

// ProviderLimits returns a function that says how many calls of a provider may run at a time; 0 means no limit.
// It returns nil if no provider has a limit.
func (j Job) ProviderLimits() func(addrs.Provider) int {
	return project.ProviderLimits(j.ProviderParallelism)
}
