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
	Pushed       Kind = "pushed"     // a pull request may have a new head: plan it
	Commanded    Kind = "commanded"  // somebody wrote a comment with commands
	Rerun        Kind = "rerun"      // somebody asked GitHub to rerun all check runs of a commit; GitHub names no pull request
	Closed       Kind = "closed"     // a pull request was merged or closed
	Landed       Kind = "landed"     // a head was merged before its projects were planned: plan the merge
	Grouped      Kind = "grouped"    // a merge queue waits for the check of a merge group
	SyncComments Kind = "tell"       // the comments on a pull request are out of date
	ToPlan       Kind = "plan"       // plan one project
	ToTest       Kind = "test"       // run the tests of one project
	ToQuery      Kind = "query"      // find objects by the list blocks of one project, or show parts of its state
	ToApply      Kind = "apply"      // apply one saved plan
	ToRecover    Kind = "recover"    // recover the state of one project
	ToRelease    Kind = "release"    // release the lock of an apply that was given up before its first change
	Told         Kind = "told"       // GitHub reported something that a decision about requirements may depend on: check it soon
	Settled      Kind = "settled"    // an apply to the state of one project is settled: its open plans may be out of date
	ToCheck      Kind = "check"      // check a waiting plan against the present state
	FindDrift    Kind = "find-drift" // find the projects of a repository whose turn it is, and send a ToDrift for each; without a pull request
	ToDrift      Kind = "drift"      // look for drift in one project; without a pull request
	ToShadow     Kind = "shadow"     // plan one project in shadow mode, and compare
	ToQueue      Kind = "queue"      // check a waiting plan against the commit of a merge group
)

// A Message is one task. It holds only names and parsed commands, so no part of a message becomes out of date.
// A message may be handled twice, late, or after newer messages.
type Message struct {
	// ID is unique to the task. It is the digest of the task's webhook, or a name that consists of the run and
	// the attempt. So a task that is sent twice is handled once.
	ID   string
	Kind Kind
	Pull Pull
	// Action is GitHub's word for the event of a pull request that was pushed or closed, or of a merge group
	// that was made ([Requested]). Merged is set if the pull request was merged.
	Action string `json:",omitempty"`
	Merged bool   `json:",omitempty"`
	// Actor is the login of the user who makes the request: the author of a comment, or the person who merged.
	// It is "" for a push.
	Actor string `json:",omitempty"`
	// Push is the push that the webhook of a pull request reported; nil if it reported none.
	Push *github.Push `json:",omitempty"`
	// Comment is the ID of a new comment, and Lines are the commands in it.
	Comment int64          `json:",omitempty"`
	Lines   []grammar.Line `json:",omitempty"`
	// Written is the place where the commands were written, for a review and for a comment on a line of a file.
	Written github.Source `json:",omitzero"`
	// Found is set if the janitor found the event on GitHub, in the repository with this ID.
	Found bool `json:",omitempty"`
	// At is the time of the comment or of the push, by GitHub's clock. For [Told] it is the time of receipt, by Lockstep's
	// clock.
	At time.Time `json:",omitzero"`
	// Lost is set for the check of a plan whose project a merge has removed from the base branch.
	Lost bool `json:",omitempty"`
	// Tip is a commit of the base branch. The message requests a check whether the project of the run is back
	// at that commit.
	Tip string `json:",omitempty"`
	// MergeGroup is the head commit of a merge group. Tests of it belong to the group's commit, and not to Head.
	MergeGroup string `json:",omitempty"`
	// Applied is set for a [ToShadow] if the other tool may have applied its plan. Lockstep's plan is then compared with the
	// state.
	Applied bool `json:",omitempty"`
	// Head is the commit to plan; the plan is written to the commit's check run. For a [Rerun] it is the commit
	// whose check runs were requested again.
	Head string `json:",omitempty"`
	// Shared is the number of the shared check run whose projects are to be planned again, at Head; 0 for none.
	Shared int `json:",omitempty"`
	// Generate is set if a query is to show configuration, too.
	Generate bool `json:",omitempty"`
	// Show is the command that a message of the kind [ToQuery] carries out, if it is "output" or "show".
	Show *grammar.Command `json:",omitempty"`
	// After is the number of the pull request whose apply has triggered a plan: for [FindDrift] of the projects that depend
	// on Target, for [ToDrift] of Target. It is 0 for a look at drift.
	After int `json:",omitempty"`
	// Progress is set for [SyncComments] if only the progress of applies is out of date. It says what to write: a
	// ratelimits.Extent. Target then names the run whose apply has asked for that. Earlier versions write everything.
	Progress string `json:",omitempty"`
	// Propose is set if a query is to open a pull request with the configuration.
	Propose bool `json:",omitempty"`
	// Target names the run to plan, test, query, check, apply, recover or release among the runs of the pull request: see
	// runs.ID.Target. For a plan, tests or a check, Attempt must equal the run's Attempt; for an apply, the run's Try.
	// Otherwise the message is obsolete.
	Target  string `json:",omitempty"`
	Attempt int    `json:",omitempty"`
	// Answer names the ledger.Answer that waits for the result; "" if no answer waits.
	Answer string `json:"Ask,omitempty"`
	// Cause is set if Lockstep measures.
	Cause Cause `json:",omitzero"`
}

// Source returns where the commands of a message were written. It is zero for a command that came from a
// button.
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

// ForPull turns a [Rerun], which names only a commit, into a command on one pull request with that commit.
func (m Message) ForPull(pull int) Message {
	m.ID, m.Kind, m.Pull.Number = fmt.Sprintf("%s-%d", m.ID, pull), Commanded, pull
	return m
}

const again = "-again-"

// Resend returns the message with another ID. It is for a message that the queue may have lost, or dropped as a
// repetition. Handling a message twice has the same effect as handling it once.
func (m Message) Resend(name string) Message {
	m.ID = m.FirstID() + again + name
	return m
}

// FirstID returns the ID that the message had before the first [Message.Resend].
func (m Message) FirstID() string {
	first, _, _ := strings.Cut(m.ID, again)
	return first
}

// queues lists the kinds of messages, each with its queue. Package dispatch has the handlers.
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
	FindDrift:    Events,
	ToDrift:      Plans,
	ToCheck:      Plans,
	ToQueue:      Plans,
	ToShadow:     Plans,
	ToPlan:       Plans,
	ToTest:       Plans,
	ToQuery:      Plans,
	ToApply:      Applies,
	ToRecover:    Applies,
	ToRelease:    Applies,
}

// Unverified reports whether the message may come from a webhook alone. For such a message, Lockstep has not
// yet asked GitHub whether the repository really has the ID and the name in the message.
func (m Message) Unverified() bool { return m.Event() && !m.Found }

// Event reports whether the message is about an event on GitHub. Other messages are sent by Lockstep itself.
func (m Message) Event() bool {
	switch m.Kind {
	case Pushed, Commanded, Rerun, Closed, Grouped:
		return true
	}
	return false
}

// Kinds returns all kinds of messages.
func Kinds() []Kind { return slices.Sorted(maps.Keys(queues)) }

// Receives returns the number of receives after which the queue gives up a message.
func (q QueueName) Receives() int {
	if q == Applies {
		return MaxHandOvers
	}
	return MaxReceives
}

// Queue returns the queue for the message. It panics if the kind is unknown.
func (m Message) Queue() QueueName {
	q, ok := queues[m.Kind]
	if !ok {
		panic(fmt.Sprintf("pipeline: %q is no kind of message", m.Kind))
	}
	return q
}

// On reports whether the message belongs on queue q. It is false for a kind that only another version knows.
func (m Message) On(q QueueName) bool { return queues[m.Kind] == q }

// Group returns the group of the message. Messages of a queue with the same group are handled one after the
// other.
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
	if m.Kind == ToTest || m.Kind == ToQuery { // neither they nor a plan wait for the other
		return fmt.Sprintf("%d/%d/%s/%s", m.Pull.Repo.ID, m.Pull.Number, m.Target, m.Kind)
	}
	switch m.Queue() {
	case Plans:
		return fmt.Sprintf("%d/%d/%s", m.Pull.Repo.ID, m.Pull.Number, m.Target)
	case Applies:
		return fmt.Sprintf("%d/%s", m.Pull.Repo.ID, m.Target)
	}
	return fmt.Sprintf("%d/%d", m.Pull.Repo.ID, m.Pull.Number)
}

// Queue takes messages for dispatch.Pipeline.Handle. A message goes to the queue and the group that it names.
// It may be delivered more than once. If a message is sent again with the same ID within some minutes, it is
// perhaps delivered only once. Messages of one group are delivered one after the other.
type Queue interface {
	Send(ctx context.Context, m Message) error
}

// Ahead returns how many plans of the pull request's repository wait on the queue before a plan that is sent
// now. It returns 0 if the queue cannot tell.
func Ahead(ctx context.Context, q Queue, about Pull) (int, error) {
	if x, ok := q.(interface {
		Ahead(context.Context, Pull) (int, error)
	}); ok {
		return x.Ahead(ctx, about)
	}
	return 0, nil
}

// Send sends a message that Lockstep writes to itself about a pull request. m.Kind decides the queue. The ID of
// the message consists of the kind and of parts. The parts name the task, so sending the same task twice adds
// nothing.
func Send(ctx context.Context, q Queue, about Pull, m Message, parts ...any) error {
	m.ID = string(m.Kind)
	for _, x := range parts {
		m.ID += fmt.Sprintf("-%v", x)
	}
	m.Pull = about
	return q.Send(ctx, m)
}

// MergeQueue is the login with which GitHub's merge queue merges. A person has added the pull request to the
// queue before that.
const MergeQueue = "github-merge-queue[bot]"

// IsBot reports whether a login belongs to an App. GitHub allows no brackets in the login of a person.
func IsBot(login string) bool { return strings.HasSuffix(login, "[bot]") }
