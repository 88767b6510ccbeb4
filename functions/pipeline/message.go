package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A QueueName names one of the three queues that messages wait in.
type QueueName string

const (
	Events  QueueName = "events"  // what happened to pull requests; in order for each of them
	Plans   QueueName = "plans"   // what to plan; in order for each project of a pull request
	Applies QueueName = "applies" // what to apply; in order for each state
)

// A Kind says what a message asks for.
type Kind string

const (
	Pushed       Kind = "pushed"    // a pull request may have a new head: plan it
	Commanded    Kind = "commanded" // somebody wrote a comment with commands
	Closed       Kind = "closed"    // a pull request was merged, or closed
	SyncComments Kind = "tell"      // what is said on a pull request is not up to date any more
	ToPlan       Kind = "plan"      // plan one project
	ToApply      Kind = "apply"     // apply one saved plan
)

// A Message is one thing to do: names and parsed commands only, nothing that could be
// out of date. It may be handled twice, late, and after newer ones.
type Message struct {
	// ID is unique for what there is to do: the digest of the webhook that says so, or a
	// name made of the run and the attempt, so that sending it twice is sending it once.
	ID   string
	Kind Kind
	Pull Pull
	// Action is GitHub's word for what happened to a pull request that was pushed or
	// closed, and Merged says that it was merged.
	Action string `json:",omitempty"`
	Merged bool   `json:",omitempty"`
	// Actor is the login of who asks: the author of a comment, who merged; "" for a push.
	Actor string `json:",omitempty"`
	// Comment is the ID of a new comment, Lines what it asks for.
	Comment int64          `json:",omitempty"`
	Lines   []comment.Line `json:",omitempty"`
	// At is when the comment was written, by GitHub's clock.
	At time.Time `json:",omitzero"`
	// Target names the run that is to be planned or applied, among those of the pull
	// request: see [Run.Target]. Attempt must be the run's own, or the message is of no
	// interest any more: Attempt for a plan, Try for an apply.
	Target  string `json:",omitempty"`
	Attempt int    `json:",omitempty"`
	// Answer names the ledger.Answer that waits for the result; "" if none does.
	Answer string `json:"Ask,omitempty"`
}

// Run is the key of the run that is to be planned or applied.
func (m Message) Run() string { return m.Pull.Runs() + "/" + m.Target }

// queues is the table of kinds of messages, each with its queue. Package dispatch has the
// handlers.
var queues = map[Kind]QueueName{
	Pushed:       Events,
	Commanded:    Events,
	Closed:       Events,
	SyncComments: Events,
	ToPlan:       Plans,
	ToApply:      Applies,
}

// Kinds returns all kinds of messages.
func Kinds() []Kind { return slices.Sorted(maps.Keys(queues)) }

// Queue names the queue that the message belongs on.
func (m Message) Queue() QueueName {
	q, ok := queues[m.Kind]
	if !ok {
		panic(fmt.Sprintf("pipeline: %q is no kind of message", m.Kind))
	}
	return q
}

// Group names what happens in order: the messages of a queue with the same group are
// handled one after the other.
func (m Message) Group() string {
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
