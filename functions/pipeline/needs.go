package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Pulls reads what GitHub says of pull requests and people now. Here and in the other
// interfaces an error that is a *github.FinalError says that asking again has the same
// answer until a person has mended something: it is told, and the message is done with.
type Pulls interface {
	PullRequest(ctx context.Context, number int) (github.PullRequest, error)
	// MergeResult names the trial merge of an open pull request's head with the tip of
	// its base branch. An error wraps github.ErrNotYet if GitHub has not made it.
	MergeResult(ctx context.Context, number int) (github.Merge, error)
	// Tip returns the commit that a branch is at now.
	Tip(ctx context.Context, branch string) (string, error)
	ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error)
	Permission(ctx context.Context, login string) (github.Permission, error)
	// Reviews returns the reviews that count now, one a reviewer.
	Reviews(ctx context.Context, number int) ([]github.Review, error)
	// File returns a file at a commit; the error wraps github.ErrNotFound if there is
	// none.
	File(ctx context.Context, sha, path string) ([]byte, error)
}

// Checkouts unpacks a repository at a commit into an empty directory.
type Checkouts interface {
	Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error)
}

// Conversation writes on a pull request. All methods may be called twice with the same
// effect as once.
type Conversation interface {
	// PutComment writes the comment that begins with a marker; at is when what it says was
	// written, by GitHub's clock.
	PutComment(ctx context.Context, number int, marker, body string) (id int64, at time.Time, err error)
	React(ctx context.Context, comment int64, r github.Reaction) error
	// PutCheck writes a check run and returns its ID; with id 0 it is ours with c's name
	// and external ID on c's commit, which is made if there is none.
	PutCheck(ctx context.Context, id int64, c github.Check) (int64, error)
	// Check returns what our check run with the name, external ID and commit of another says;
	// the error wraps github.ErrNotFound if there is none.
	Check(ctx context.Context, like github.Check) (github.Check, error)
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
// linearizable: a Get or List that begins after a Put has ended sees it, from any
// process. Keys are paths of two or more segments of printable characters without
// spaces, joined by "/".
type Records interface {
	// Get returns the record of a key; without value and version if there is none.
	Get(ctx context.Context, key string) (Record, error)
	// Put stores a value if the record's version is still prev, and returns the new
	// version; otherwise the error wraps ErrConflict.
	Put(ctx context.Context, key string, value []byte, prev Version) (Version, error)
	// Delete removes a record if its version is still prev; otherwise the error wraps
	// ErrConflict. A record that is not there can be deleted with the version "".
	Delete(ctx context.Context, key string, prev Version) error
	// List returns the records whose keys are dir, "/" and one more segment, sorted by
	// key.
	List(ctx context.Context, dir string) ([]Record, error)
}

// ErrNoArtifact says that there is nothing under a key.
var ErrNoArtifact = errors.New("there is no such artifact")

// Artifacts keeps larger things, which are secret: saved plans have values in clear.
type Artifacts interface {
	Put(ctx context.Context, a Artifact, data []byte) error
	// Get returns what was put; the error wraps ErrNoArtifact if nothing was.
	Get(ctx context.Context, a Artifact) ([]byte, error)
	// Delete removes what is under a key, if there is something.
	Delete(ctx context.Context, a Artifact) error
}

// Queue takes messages for [Pipeline.Handle], each for the queue and group that it
// names. A message may be handed over more than once; one that is sent twice within
// some minutes, with the same ID, may be handed over once. Those of one group are
// handed over one after the other.
type Queue interface {
	Send(ctx context.Context, m Message) error
}

// A Job is one project in a checkout.
type Job struct {
	// Checkout is the directory of the checkout, Dir the project's in it,
	// slash-separated.
	Checkout, Dir string
	Project       string
	Workspace     string
	Repo          github.Repo
	Installation  int64  // that has the repository
	Number        int    // of the pull request
	Head          string // SHA of its head
	// Owner says, in the state's lock, who holds it: "lockstep acme/infra#7".
	Owner string
	// VarFiles are the files with values of variables that lockstep.hcl names,
	// slash-separated, from the checkout.
	VarFiles []string
	// Grants are what the base branch allows to be run.
	Grants project.Grants
	// State is where the project's state is, as it was granted: no other one is opened.
	// If it is nowhere, NoState says why, for people.
	State   places.Place
	NoState string
	// Writes says that the state may be written; an Engine sets it where it applies.
	Writes bool
	// StopStarting is when an apply must not begin another change; what is begun comes to
	// its end. The zero value sets no such time.
	StopStarting time.Time
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
	// Report is for people, in Markdown: the plan, or what went wrong. It may be
	// shortened.
	Report string
	// Full is the whole plan as text; "" if Report has it all.
	Full string
	// Read are the paths in the checkout that file functions looked at, slash-separated
	// and sorted, whether there is something or not: the plan depends on them, too.
	Read []string
}

// An Outcome is what became of applying a plan.
type Outcome struct {
	// Refused says that permit did not allow it: nothing was done.
	Refused bool
	// Moved are the modules from elsewhere that are not what the plan was made with, for
	// people. If there are any, nothing was done, and the plan is out of date.
	Moved []string
	// Outdated says that the plan is one of another version of Lockstep, as before an
	// upgrade: nothing was done, and it can never be applied here.
	Outdated bool `json:",omitempty"`
	Failed   bool
	// Lost says that the process which applied it ended after permit had allowed it: nobody
	// knows what was done. Report says how it ended.
	Lost bool `json:",omitempty"`
	// Remaining is how many actions were not begun, of which a replacement is two.
	Remaining int
	State     StateID // the state afterwards
	Counts    comment.Counts
	Report    string // for people, in Markdown; may be empty
}

// Engine plans and applies. What the configuration, a provider or a state lock says
// no to is in the results; an error is a failure of the world that may pass.
type Engine interface {
	Plan(ctx context.Context, j Job) (PlanResult, error)
	// Apply carries out a plan. permit is asked once, with the state locked, whether
	// the plan may be applied to it. Where it was not asked, or said no, and where
	// there is an error, nothing was changed.
	Apply(ctx context.Context, j Job, plan []byte, permit func(StateID) bool) (Outcome, error)
	// Unlock releases locks that were taken for j.Owner and are still there. The error is a
	// *StateError if the configuration does not say, or must not say, where the state is,
	// or if the store does not let us.
	Unlock(ctx context.Context, j Job) (Unlocked, error)
}

// Unlocked says what became of the locks of a state.
type Unlocked struct {
	Locks int // that were released
	// Others names who holds locks that are not the job's: "carol@laptop since
	// 2025-01-02T15:04:05Z".
	Others []string
}

// A StateError says that a project's state cannot be reached, which trying again does not
// change.
type StateError struct {
	Why    string
	Remedy string // a sentence, in Markdown
}

// Error implements error.
func (e *StateError) Error() string { return "its state cannot be reached: " + e.Why }
