package run

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// A Pull names a pull request, and the installation of the App that may act on it.
type Pull struct {
	Installation int64
	Repo         github.Repo
	Number       int
}

// Pulls reads what GitHub says of pull requests and people now.
type Pulls interface {
	PullRequest(ctx context.Context, number int) (github.PullRequest, error)
	ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error)
	Permission(ctx context.Context, login string) (github.Permission, error)
}

// Checkouts unpacks a repository at a commit into an empty directory.
type Checkouts interface {
	Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error)
}

// Conversation writes on a pull request. Both methods may be called twice with the
// same effect as once.
type Conversation interface {
	PutComment(ctx context.Context, number int, marker, body string) (int64, error)
	React(ctx context.Context, comment int64, r github.Reaction) error
}

// GitHub is one repository; *github.Client is it.
type GitHub interface {
	Pulls
	Checkouts
	Conversation
}

// A Version names what a record was when it was read; "" that there was none.
type Version string

// ErrConflict says that a record is not what it was when it was read.
var ErrConflict = errors.New("the record was changed by somebody else")

// A Record is a small value under a key.
type Record struct {
	Key     string
	Value   []byte
	Version Version
}

// Records is a table of small values moved by conditional writes. It is
// linearizable: a Get that begins after a Put has ended sees it, from any process.
// Keys are paths of printable characters without spaces.
type Records interface {
	// Get returns the record of a key; without value and version if there is none.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores a value if the record's version is still prev, and returns the new
	// version; otherwise the error is ErrConflict.
	Put(ctx context.Context, key string, value []byte, prev Version) (Version, error)
	// List returns the records whose keys begin with a prefix, sorted by key.
	List(ctx context.Context, prefix string) ([]Record, error)
}

// ErrNoArtifact says that there is nothing under a key.
var ErrNoArtifact = errors.New("there is no such artifact")

// Artifacts keeps larger things, which are secret: saved plans have values in clear.
type Artifacts interface {
	Put(ctx context.Context, key string, data []byte) error
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes what is under a key, if there is something.
	Delete(ctx context.Context, key string) error
}

// Queue takes messages for [Pipeline.Handle]. A message may be handed over more than
// once; those of one group one after the other.
type Queue interface {
	Send(ctx context.Context, m Message) error
}

// A StateID says which state of a project it was: what a saved plan is bound to. The
// zero value is no state at all.
type StateID struct {
	Lineage string `json:",omitempty"`
	Serial  uint64 `json:",omitempty"`
	Version string `json:",omitempty"` // the backend's, of exactly these bytes
}

// A Job is one project in a checkout.
type Job struct {
	// Checkout is the directory of the checkout, Dir the project's in it,
	// slash-separated.
	Checkout, Dir string
	Project       string
	Workspace     string
	Repo          github.Repo
	// Owner says, in the state's lock, who holds it: "lockstep acme/infra#7".
	Owner string
}

// A PlanResult is what became of planning a project.
type PlanResult struct {
	// Plan is the saved plan, nil if planning failed. It is secret.
	Plan []byte
	// State is what the plan was made from.
	State  StateID
	Counts comment.Counts
	// Applyable says that there is something to apply.
	Applyable bool
	// Report is for people, in Markdown: the plan, or what went wrong.
	Report string
}

// An Outcome is what became of applying a plan.
type Outcome struct {
	// Refused says that permit did not allow it: nothing was done.
	Refused bool
	Failed  bool
	State   StateID // the state afterwards
	Counts  comment.Counts
	Report  string // for people, in Markdown; may be empty
}

// Engine plans and applies. What the configuration, a provider or a state lock says
// no to is in the results; an error is a failure of the world that may pass.
type Engine interface {
	Plan(ctx context.Context, j Job) (PlanResult, error)
	// Apply carries out a plan. permit is asked once, with the state locked, whether
	// the plan may be applied to it. Where it was not asked, or said no, and where
	// there is an error, nothing was changed.
	Apply(ctx context.Context, j Job, plan []byte, permit func(StateID) bool) (Outcome, error)
	// Unlock releases locks that were taken for j.Owner and are still there, and
	// returns how many there were.
	Unlock(ctx context.Context, j Job) (int, error)
}
