package subprocess

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// maxFrame is the maximum size of a frame in bytes. A frame is the length in four bytes (big endian), followed
// by a value as JSON.
const maxFrame = 256 << 20

func send(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if len(data) > maxFrame {
		return fmt.Errorf("a message of %d bytes is too long", len(data))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...))
	return err
}

func receive(r io.Reader, value any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("a message of %d bytes is too long", n)
	}
	// The buffer grows with the data, not with the announced length.
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(data) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// An action is the work of a child.
type action string

const (
	plans     action = "plan"
	applies   action = "apply"
	checks    action = "check"
	snapshots action = "snapshot"
	unlocks   action = "unlock"
	recovers  action = "recover"
	tests     action = "test"
	queries   action = "query"
	shows     action = "show"
	steps     action = "step" // runs the program of a step
	units     action = "units"
	prepares  action = "prepare" // a unit
	discovers action = "discover"
	rehearses action = "rehearse" // tries policies
	inputs    action = "inputs"
	compares  action = "compare"
	looks     action = "look" // lists the protections against programs
)

// An order is the first message to a child: its work, and everything that it needs for the work.
type order struct {
	Action   action
	Settings json.RawMessage
	Memory   []byte
	Job      jobs.Job
	Plan     []byte          // for applies and checks
	Room     int             // for the configuration that a query returns
	Command  comment.Command // that shows parts of the state
	Dir      string          // for discovers, rehearses and inputs
	Run      runs.Run        // for inputs
	Scope    jobs.Scope      // for inputs
	Policies jobs.PolicyTrial
	Compare  jobs.Comparison          // for compares
	Step     *jobs.StepRun            // for steps
	Tool     string                   // the path of the step's tool, or of Terragrunt
	NoTool   string                   // the reason why there is no Terragrunt, for people
	Find     *requirements.Terragrunt // for units
	Outputs  jobs.UnitOutputs         // for prepares
	Source   string                   // of the unit's module, for prepares
	Tmp      string                   // the run's own directory
	Fetched  string                   // a directory for fetched files
	Ports    []int                    // closed to programs
	Limit    int64                    // limit of the run's memory, in bytes; 0 for none
	Narrowed bool                     // the parent has credentials for the job's state
	Without  without
}

// without switches off protections of the kernel, so that a test can check the remaining ones.
type without struct{ Namespaces, Landlock bool }

// A question is a message from a child to its parent: a request, or the result of its work if the kind is
// isResult.
type question struct {
	Kind             kind
	Present          jobs.BeforeApply
	Name             string      // the name of the state to rescue
	Data             []byte      // the state to rescue, or memory
	Owner, Repo, Ref string      // the repository to fetch
	Package          PackageName // of a provider
	File             string      // name of the package to keep, in the directory for fetched files
	Gate             string      // the name of the gate to ask about the plan's JSON in Data
	Protection       []string
	Progress         comment.Ongoing
	Outcome          jobs.Outcome // of an apply whose journal still exists
	Result           *result
}

type kind string

const (
	isPermit      kind = "permit"
	isEnvironment kind = "environment"
	isSecrets     kind = "secrets"
	isCredentials kind = "credentials" // for the state
	isKeys        kind = "keys"        // credentials for the keys of an encrypted state
	isRescue      kind = "rescue"
	isFetch       kind = "fetch"
	isPackage     kind = "package" // the address of a package in the store
	isKeep        kind = "keep"    // put a package into the store
	isMemory      kind = "memory"
	isGate        kind = "gate"
	isProgress    kind = "progress"   // of a plan or an apply
	isEnded       kind = "ended"      // an apply has ended, and its journal is not removed yet
	isState       kind = "state"      // the run will access the state and its lock
	isProtection  kind = "protection" // of its programs
	isResult      kind = "result"
)

// An answer is the parent's message to a child in reply to a question.
type answer struct {
	Permit jobs.Permit
	Text   string   // an address, or a directory
	Env    []string // of programs
	// Secrets are the secrets of the job's environment, by name.
	Secrets map[string]string `json:",omitempty"`
	// Credentials are the credentials for the job's state, or for the keys that encrypt the state.
	Credentials *aws.Credentials `json:",omitempty"`
	Judgement   *runs.Judgement  `json:",omitempty"`
	Error       *failure
}

// A result is the result of carrying out an order.
type result struct {
	Plan       *jobs.PlanResult
	Outcome    *jobs.Outcome
	Checked    *jobs.Checked
	Snapshot   *jobs.Snapshot
	Unlocked   *jobs.Unlocked
	Recovered  *comment.Recovered
	Tests      *comment.Tests
	Queried    *comment.Queried
	Shown      *comment.Shown
	Step       *jobs.StepResult
	Problem    string // problem of a query or of a command that shows parts of the state; in Markdown
	Discovered *jobs.Discovered
	Rehearsed  []jobs.TriedPolicies
	Tree       project.Tree
	Compared   *jobs.Compared
	Units      *jobs.Units
	Unit       *jobs.PreparedUnit
	Error      *failure
}

// A failure is an error that is passed to another process.
type failure struct {
	Text string
	// State, NoProject and Absent are set for a *jobs.StateError, for an error that wraps jobs.ErrNoProject,
	// and for an *Absent.
	State     *jobs.StateError
	NoProject bool
	Absent    bool
}

// An Absent reports that a repository does not exist, or may not be fetched for this job. Another request would
// not help.
type Absent struct{ Text string }

// Error implements error.
func (e *Absent) Error() string { return e.Text }

func failed(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), NoProject: errors.Is(err, jobs.ErrNoProject), Absent: errors.As(err, new(*Absent))}
	errors.As(err, &f.State)
	return f
}

func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.State != nil:
		return f.State
	case f.NoProject:
		return fmt.Errorf("%w", noProject{f.Text})
	case f.Absent:
		return &Absent{f.Text}
	}
	return errors.New(f.Text)
}

// A noProject is an error of a child that wraps jobs.ErrNoProject and has the text of the child's error.
type noProject struct{ text string }

func (e noProject) Error() string { return e.text }
func (noProject) Unwrap() error   { return jobs.ErrNoProject }
