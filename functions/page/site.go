package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// ErrNotFound reports that a pull request or a plan does not exist.
var ErrNotFound = errors.New("there is no such pull request or plan")

// A Site provides the content of the pages. Its methods must be safe for concurrent use.
type Site interface {
	// Pulls returns all pull requests, the most important first. Content that only a pull request's own page
	// shows may be missing.
	Pulls(ctx context.Context) ([]Pull, error)
	// Pull returns one pull request, or ErrNotFound.
	Pull(ctx context.Context, id PullID) (Pull, error)
	// Text returns the whole text of a kind about a project, or ErrNotFound. name is the project's name.
	Text(ctx context.Context, id PullID, kind TextKind, name string) (string, error)
	// Changed waits until the site's version differs from since, or until ctx ends, and returns the present
	// version. Versions only grow, from 1. A site that does not announce changes returns 0 at once, always.
	Changed(ctx context.Context, since uint64) uint64
}

// An Actor is a Site on which users can act, such as the demo.
type Actor interface {
	// Act performs an action. A *RefusedError is shown to the user; any other error is an internal one.
	Act(ctx context.Context, d Action) error
}

// A RefusedError tells the user why an action was refused.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// An Action is something that a user does on a pull request.
type Action struct {
	Pull PullID
	// As is the login of the user who acts: one of the pull request's Speakers.
	As string
	// Name is [Comment], [Press], or the name of one of the pull request's Offers.
	Name string
	// Text is the text of a Comment. Lines end in "\n".
	Text string
	// Check and Button are set for a Press: the ID of the check, and the Identifier of the button.
	Check  int64
	Button string
}

// Comment is the Name of the action that writes a comment. It is possible on every pull request with Speakers.
const Comment = "comment"

// Press is the Name of the action that presses a button of a check.
const Press = "press"

// A PullID identifies a pull request.
type PullID struct {
	Owner, Name string
	Number      int
}

// Path returns the path of the pull request's page.
func (id PullID) Path() string {
	return fmt.Sprintf("/%s/%s/pull/%d", url.PathEscape(id.Owner), url.PathEscape(id.Name), id.Number)
}

// TextPath returns the path of the page with a whole text about a project.
func (id PullID) TextPath(kind TextKind, project string) string {
	return id.Path() + "/" + string(kind) + "/" + url.PathEscape(project)
}

// A TextKind is a kind of text about a project that has a page of its own. It is a part of the page's address.
type TextKind string

const (
	WholePlan   TextKind = "plan"
	StepOutputs TextKind = "steps" // what the programs of steps wrote
)

// A Pull is a pull request with the content of its pages.
type Pull struct {
	PullID
	Title, Author string // may be empty
	Standing      string // "open", "merged", "closed", or empty
	From, Into    string // branches; may be empty
	Head          string // the full name of a commit
	URL           string // its page elsewhere; may be empty
	// Words say in which state the pull request is, if it has no projects. Tone is the colour of these words.
	// Report is Markdown about the pull request as a whole. All three may be empty.
	Words  string
	Tone   Tone
	Report string

	Projects []Project
	// Checks, Files and Entries are nil if they are not known.
	Checks  []Check
	Files   []File
	Entries []Entry
	// Speakers are the people as whom the user can act. Offers are the actions that are possible besides
	// Comment. Both are empty if users cannot act on this site.
	Speakers []Speaker
	Offers   []Offer
}

// An Entry is an item of the conversation: a comment, or an event such as a push.
type Entry struct {
	ID     string // unique in the conversation: letters, digits and dashes
	Who    string
	Bot    bool
	At     time.Time
	Edited bool
	// Body is the Markdown of a comment. Event is the text of an entry that is not a comment ("pushed …"). One
	// of them is empty.
	Body, Event string
	Reactions   []Reaction
}

// A Reaction is an emoji under a comment.
type Reaction struct {
	Content string // as GitHub names it: "eyes"
	By      string
}

// A Check is a check run of the pull request's head.
type Check struct {
	ID         int64
	Name       string
	Status     string // "queued", "in_progress", "completed"
	Conclusion string // of a completed one: "success", ...
	Title      string
	// Summary and Text are Markdown.
	Summary, Text string
	// Buttons are the buttons that GitHub shows at the top of the check's page. They are empty if users cannot
	// act on this site.
	Buttons []Button
}

// A Button is a button of a check.
type Button struct {
	Identifier         string // for Lockstep
	Label, Description string // for people
}

// A File is a file that a pull request changes.
type File struct {
	Path string
	Diff string // the hunks of a unified diff; empty if none can be shown
}

// A Project is a project that a pull request affects, with its plan.
type Project struct {
	Name, Dir, Workspace string
	Standing             string // in words
	Tone                 Tone
	Summary              string // "2 to add, …"; may be empty
	By                   string // login of the user who requested the last action; may be empty
	Head                 string // the commit that was planned; may be empty
	Report               string // Markdown; may be empty
	Plan                 string // the plan's name, unique in the pull request
	HasPlan              bool   // Site.Text has the whole plan
	HasSteps             bool   // Site.Text has the outputs of steps
	State                string // the existing objects, as text; may be empty
	Log                  string // what the providers of the last plan or apply have logged, as text; may be empty
}

// A Tone says in which colour a state is shown: as good, bad, in progress and so on.
type Tone string

const (
	Quiet   Tone = "quiet"   // nothing to do
	Busy    Tone = "busy"    // something is in progress
	Waiting Tone = "waiting" // a person has to act
	Good    Tone = "good"
	Bad     Tone = "bad"
)

// A Speaker is a person as whom the user of the page can act.
type Speaker struct {
	Login string
	May   string // "may write"
}

// An Offer is an action that the user can choose, besides writing a comment.
type Offer struct {
	Name  string
	Label string
	Grave bool // it ends something
}
