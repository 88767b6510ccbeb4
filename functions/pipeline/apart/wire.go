package apart

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A frame is a value as JSON after its length, four bytes with the highest first.
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
	// It grows with what comes, not with what was said to come.
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(data) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// A deed is what a child is to do.
type deed string

const (
	plans     deed = "plan"
	applies   deed = "apply"
	unlocks   deed = "unlock"
	discovers deed = "discover"
	inputs    deed = "inputs"
	looks     deed = "look" // what programs would be kept from
)

// An order is the first thing that a child reads.
type order struct {
	Deed     deed
	Settings json.RawMessage
	Memory   []byte
	Job      jobs.Job
	Plan     []byte     // for applies
	Dir      string     // for discovers and inputs
	Run      runs.Run   // for inputs
	Scope    jobs.Scope // for inputs
	Tmp      string     // a directory of the run's own
	Fetched  string     // a directory that what is fetched comes to
	Ports    []int      // that are closed to programs
	Limit    int64      // of the run's memory, in bytes; 0 for none
	Narrowed bool       // the parent has credentials for the job's state
}

// A question is what a child says: with a kind of its own, or, with kind result, that it is
// done.
type question struct {
	Kind             kind
	State            runs.StateID
	Name             string // of what is to be rescued
	Data             []byte // of it; memory
	Owner, Repo, Ref string // of what is to be fetched
	Protection       []string
	Result           *result
}

type kind string

const (
	isPermit      kind = "permit"
	isEnvironment kind = "environment"
	isCredentials kind = "credentials" // for the state
	isRescue      kind = "rescue"
	isFetch       kind = "fetch"
	isMemory      kind = "memory"
	isState       kind = "state"      // it goes on to the state, and its lock
	isProtection  kind = "protection" // of its programs
	isResult      kind = "result"
)

// An answer is the parent's.
type answer struct {
	OK   bool
	Text string   // where it is
	Env  []string // of programs
	// Credentials are for the state.
	Credentials *aws.Credentials `json:",omitempty"`
	Error       *failure
}

// A result is what became of it all.
type result struct {
	Plan       *jobs.PlanResult
	Outcome    *jobs.Outcome
	Unlocked   *jobs.Unlocked
	Discovered *jobs.Discovered
	Tree       project.Tree
	Error      *failure
}

// A failure is an error on its way to another process.
type failure struct {
	Text string
	// State, NoProject and Absent say that it is a *jobs.StateError, wraps jobs.ErrNoProject,
	// or is an *Absent.
	State     *jobs.StateError
	NoProject bool
	Absent    bool
}

// Absent says that what was to be fetched is not there, or not for this job: asking again
// does not help.
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

// noProject wraps jobs.ErrNoProject with the text that it had.
type noProject struct{ text string }

func (e noProject) Error() string { return e.text }
func (noProject) Unwrap() error   { return jobs.ErrNoProject }
