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

// Access is how far a job reaches into a state, its lock, its lease and its journal.
type Access int

const (
	// Reads is a plan's: it takes no lock.
	Reads Access = iota
	// Unlocks may delete locks, too.
	Unlocks
	// Writes is that of an apply, and of a recovery.
	Writes
	// Keys makes and decrypts the keys of an encrypted state, and reaches the state itself not at all.
	Keys
)

// A Job is one project in a checkout.
type Job struct {
	// Checkout is the directory of the checkout, Dir the project's in it,
	// slash-separated.
	Checkout, Dir string
	Project       string
	Workspace     string
	App           string // that reaches the repository, "" for the first one
	Repo          github.Repo
	Installation  int64  // that has the repository
	Number        int    // of the pull request
	Head          string // SHA of its head
	Actor         string // login of the user who has asked for the job, "" for a push
	// Owner is the holder's name in the state's lock: "lockstep acme/infra#7".
	Owner string
	// VarFiles are the files with values of variables that lockstep.hcl names,
	// slash-separated, from the checkout.
	VarFiles []string
	// Variables are values of variables in lockstep.hcl, as JSON, and BackendConfig the arguments of
	// the backend there.
	Variables     map[string]json.RawMessage
	BackendConfig map[string]json.RawMessage
	// ProviderParallelism is the setting of lockstep.hcl: see [Job.ProviderLimits].
	ProviderParallelism map[string]int `json:",omitempty"`
	// Inputs are values of variables that are made of outputs of the Linked.
	Inputs []projectinputs.Link `json:",omitempty"`
	Linked []Linked             `json:",omitempty"`
	// Environment has the roles, secrets and variables of the environment that the base branch grants.
	// It stays in our own process: those of runs have no use for the names.
	Environment environments.Granted `json:"-"`
	// Options are those of the plan, made or to be made again.
	Options grammar.Options
	// Grants are the permissions of the base branch.
	Grants project.Grants
	// State is the granted address of the state: no other one is opened. If it has none, NoState is
	// the reason, for people.
	State   places.Place
	NoState string
	// Sealing has the encryption block that holds: that of the base branch.
	Sealing encryptionpolicy.Base
	// Access is how far the job reaches into the state and what is beside it; an Engine sets it.
	Access Access
	// Policies are those of the base branch that the plan is judged by.
	Policies []Policy `json:",omitempty"`
	// Gates are those of the base branch that have to allow the plan.
	Gates []requirements.Gate `json:",omitempty"`
	// Run names an apply, from its first process to its last, as the holder of the state's lock.
	// Continues is set if an earlier process began it, which has certainly ended.
	Run       string
	Continues bool
	// Planned is the state that the plan to apply was made from.
	Planned runs.StateID
	// Times are those at which an apply comes to its end, if it takes longer.
	Times Times
	// Foreseen are the projects of the pull request that the job's depends on and whose plans are not applied:
	// for plans only. Foresee is set if others depend on the job's.
	Foreseen []PlannedOutputs `json:",omitempty"`
	Foresee  bool             `json:",omitempty"`
	// Snapshot is set for a plan of a fork's commit: it is made of this state, and of nothing that needs a right of ours.
	// See [Unprivileged].
	Snapshot *Snapshot `json:",omitempty"`
	// Progress is told how far an apply is, now and then; nil tells nobody. It does not go to
	// other processes.
	Progress func(comment.Progress) `json:"-"`
	// Ended is told the outcome of an apply once the state is stored, and before its journal is removed: a process that finds
	// no journal any more has the outcome from there. nil tells nobody. After an error the journal stays. It does not go to
	// other processes.
	Ended func(Outcome) error `json:"-"`
}

// Repository names the repository among those of all Apps, as pipeline.Pull.Repository does.
func (j Job) Repository() string { return pipeline.Qualified(j.App, j.Repo.String()) }

// ProviderLimits returns how many calls of a provider may run at a time, 0 for no limit; nil if no provider has one.
func (j Job) ProviderLimits() func(addrs.Provider) int {
	return project.ProviderLimits(j.ProviderParallelism)
}
