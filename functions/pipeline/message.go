package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/github"
)

// A QueueName names one of the three queues of messages.
type QueueName string

const (
	Events  QueueName = "events"  // events of pull requests; in order for each of them
	Plans   QueueName = "plans"   // plans to make; in order for each project of a pull request
	Applies QueueName = "applies" // plans to apply; in order for each state
)

// A Kind is the task of a message.
type Kind string

const (
	Pushed       Kind = "pushed"    // a pull request may have a new head: plan it
	Commanded    Kind = "commanded" // somebody wrote a comment with commands
	Rerun        Kind = "rerun"     // somebody wants all check runs of a commit made again, of which GitHub names no pull request
	Closed       Kind = "closed"    // a pull request was merged, or closed
	Landed       Kind = "landed"    // a head was merged before its projects were planned: plan those of the merge
	Grouped      Kind = "grouped"   // a merge queue wants the check of a merge group
	SyncComments Kind = "tell"      // the comments on a pull request are out of date
	ToPlan       Kind = "plan"      // plan one project
	ToApply      Kind = "apply"     // apply one saved plan
	ToRecover    Kind = "recover"   // recover the state of one project
	ToRelease    Kind = "release"   // release the lock that an apply left, which was given up before its first change
	Told         Kind = "told"      // GitHub tells of something that a decision about requirements may depend on: look at it soon
	Settled      Kind = "settled"   // an apply to the state of one project is settled: open plans of it may be others by now
	ToCheck      Kind = "check"     // check a plan that waits against the state as it is now
	ToQueue      Kind = "queue"     // check a plan that waits against the commit of a merge group
)

// A Message is one task: names and parsed commands only, nothing that can become outdated. It may
// be handled twice, late, and after newer ones.
type Message struct {
	// ID is unique to the task: the digest of its webhook, or a name made of the run and the
	// attempt, so that sending it twice is sending it once.
	ID   string
	Kind Kind
	Pull Pull
	// Action is GitHub's word for the event of a pull request that was pushed or closed, or of a merge group that was made
	// ([Requested]). Merged is set if it was merged.
	Action string `json:",omitempty"`
	Merged bool   `json:",omitempty"`
	// Actor is the login of the user who asks: the author of a comment, or of the merge; "" for a
	// push.
	Actor string `json:",omitempty"`
	// Push is the push that the webhook of a pull request told of; nil if none did.
	Push *github.Push `json:",omitempty"`
	// Comment is the ID of a new comment, Lines are its commands.
	Comment int64          `json:",omitempty"`
	Lines   []grammar.Line `json:",omitempty"`
	// Written is where the commands are written, of a review and of a comment on a line of a file.
	Written github.Source `json:",omitzero"`
	// Found is set if the janitor has found on GitHub what the message is about, in the repository of its ID.
	Found bool `json:",omitempty"`
	// At is the time at which the comment was written, by GitHub's clock, or at which what is [Told] was received, by ours.
	At time.Time `json:",omitzero"`
	// Lost is set for the check of a plan whose project the base branch has lost by a merge.
	Lost bool `json:",omitempty"`
	// Tip is the commit of the base branch that may have the project of the run to check again.
	Tip string `json:",omitempty"`
	// MergeGroup is the commit of a merge group.
	MergeGroup string `json:",omitempty"`
	// Head is the commit to plan, whose check run the plan is written to; that of the check runs whose button was pressed.
	Head string `json:",omitempty"`
	// Target names the run to plan, check, apply, recover or release, among those of the pull request: see
	// [Run.Target]. Attempt must equal the run's Attempt for a plan or a check, or its Try for an
	// apply: else the message is obsolete.
	Target  string `json:",omitempty"`
	Attempt int    `json:",omitempty"`
	// Answer names the ledger.Answer that waits for the result; "" if none does.
	Answer string `json:"Ask,omitempty"`
}

// Source is where the commands of a message are written; zero where nobody has written them, as they came by a button.
func (m Message) Source() github.Source {
	if m.Comment != 0 {
		return github.Source{Comment: m.Comment}
	}
	return m.Written
}

// Requested is GitHub's word for a merge group that waits for its checks.
const Requested = "checks_requested"

// Run is the key of the run to plan or apply.
func (m Message) Run() string { return m.Pull.Runs() + "/" + m.Target }

// Of returns the command that a [Rerun] is on a pull request with the commit.
func (m Message) Of(pull int) Message {
	m.ID, m.Kind, m.Pull.Number = fmt.Sprintf("%s-%d", m.ID, pull), Commanded, pull
	return m
}

const again = "-again-"

// Again returns the message under another ID, for where it may be lost: handling it twice is
// handling it once.
func (m Message) Again(name string) Message {
	m.ID = m.First() + again + name
	return m
}

// First is the ID that the message had at first.
func (m Message) First() string {
	first, _, _ := strings.Cut(m.ID, again)
	return first
}

// queues is the table of kinds of messages, each with its queue. Package dispatch has the
// handlers.
var queues = map[Kind]QueueName{
	Pushed:       Events,
	Commanded:    Events,
	Rerun:        Events,
	Closed:       Events,
	Landed:       Events,
	Grouped:      Events,
	SyncComments: Events,
	Told:         Events,
	Settled:      Events,
	ToCheck:      Plans,
	ToQueue:      Plans,
	ToPlan:       Plans,
	ToApply:      Applies,
	ToRecover:    Applies,
	ToRelease:    Applies,
}

// Heard reports whether a message may have been made of a webhook alone: nobody has held against GitHub yet that its
// repository has the ID and the name that it gives.
func (m Message) Heard() bool { return m.Event() && !m.Found }

// Event reports whether a message is about something that has happened on GitHub, and none of ours.
func (m Message) Event() bool {
	switch m.Kind {
	case Pushed, Commanded, Rerun, Closed, Grouped:
		return true
	}
	return false
}

// Kinds returns all kinds of messages.
func Kinds() []Kind { return slices.Sorted(maps.Keys(queues)) }

// Receives is the number of receives of a message before its queue takes it for dead.
func (q QueueName) Receives() int {
	if q == Applies {
		return MaxHandOvers
	}
	return MaxReceives
}

// Queue names the queue that the message belongs on.
func (m Message) Queue() QueueName {
	q, ok := queues[m.Kind]
	if !ok {
		panic(fmt.Sprintf("pipeline: %q is no kind of message", m.Kind))
	}
	return q
}

// On reports whether the message belongs on a queue; of a kind of another version nobody knows.
func (m Message) On(q QueueName) bool { return queues[m.Kind] == q }

// Group names the order of the message: messages of a queue with the same group are handled one
// after the other.
func (m Message) Group() string {
	if m.Pull.App != "" {
		return m.Pull.App + ":" + m.group()
	}
	return m.group()
}

func (m Message) group() string {
	if m.Kind == Told { // it may wait, and commands do not
		return fmt.Sprintf("%d/%d/told", m.Pull.Repo.ID, m.Pull.Number)
	}
	switch m.Queue() {
	case Plans:
		return fmt.Sprintf("%d/%d/%s", m.Pull.Repo.ID, m.Pull.Number, m.Target)
	case Applies:
		return fmt.Sprintf("%d/%s", m.Pull.Repo.ID, m.Target)
	}
	return fmt.Sprintf("%d/%d", m.Pull.Repo.ID, m.Pull.Number)
}

// Queue takes messages for [Pipeline.Handle], each for the queue and group that it
// names. A message may be handed over more than once; one that is sent twice within
// some minutes, with the same ID, may be handed over once. Those of one group are
// handed over one after the other.
type Queue interface {
	Send(ctx context.Context, m Message) error
}

// Ahead returns the number of plans of the repository of a pull request on a queue, which come before one that is sent now; 0 where the queue
// cannot tell.
func Ahead(ctx context.Context, q Queue, about Pull) (int, error) {
	if x, ok := q.(interface {
		Ahead(context.Context, Pull) (int, error)
	}); ok {
		return x.Ahead(ctx, about)
	}
	return 0, nil
}

// Send puts a message of ours about a pull request on its queue. Its ID is made of parts
// that name the thing to do, so that sending it again is sending nothing new.
func Send(ctx context.Context, q Queue, about Pull, m Message, parts ...any) error {
	m.ID = string(m.Kind)
	for _, x := range parts {
		m.ID += fmt.Sprintf("-%v", x)
	}
	m.Pull = about
	return q.Send(ctx, m)
}

// MergeQueue is the login by which GitHub's merge queue merges: somebody else has put the pull request there.
const MergeQueue = "github-merge-queue[bot]"

// IsBot reports whether a login is an App's: GitHub lets no person have brackets in a login.
func IsBot(login string) bool { return strings.HasSuffix(login, "[bot]") }
