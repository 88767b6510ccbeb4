package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// ErrNotFound is returned if there is no such pull request, or no such plan.
var ErrNotFound = errors.New("there is no such pull request or plan")

// A Site provides the content. Its methods may be called at the same time.
type Site interface {
	// Pulls returns all pull requests, the most important first. Content of a pull request's own
	// page may be missing.
	Pulls(ctx context.Context) ([]Pull, error)
	// Pull returns one pull request, or ErrNotFound.
	Pull(ctx context.Context, id PullID) (Pull, error)
	// Plan returns the whole text of a plan by its name, or ErrNotFound.
	Plan(ctx context.Context, id PullID, name string) (string, error)
	// Changed waits until the site's version differs from since, or ctx has ended, and returns the
	// present version. Versions only grow, from 1.
	Changed(ctx context.Context, since uint64) uint64
}

// An Actor is a Site on which people can act.
type Actor interface {
	// Act carries out an action. A *RefusedError is meant for the user; any other error is ours.
	Act(ctx context.Context, d Action) error
}

// A RefusedError tells the user why an action was refused.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// An Action is taken by somebody on a pull request.
type Action struct {
	Pull PullID
	// As is the login of the actor, one of the pull request's Speakers.
	As string
	// Name is [Comment], [Press], or the name of one of the pull request's Offers.
	Name string
	// Text is the text of a Comment. Lines end in "\n".
	Text string
	// Check and Button are the check and the identifier of the button of a Press.
	Check  int64
	Button string
}

// Comment is the name of the action that every pull request with Speakers allows.
const Comment = "comment"

// Press is the name of the action that presses a button of a check.
const Press = "press"

// A PullID names a pull request.
type PullID struct {
	Owner, Name string
	Number      int
}

// Path returns the path of the pull request's page.
func (id PullID) Path() string {
	return fmt.Sprintf("/%s/%s/pull/%d", url.PathEscape(id.Owner), url.PathEscape(id.Name), id.Number)
}

// PlanPath returns the path of the page with the whole plan of a project.
func (id PullID) PlanPath(project string) string {
	return id.Path() + "/plan/" + url.PathEscape(project)
}

// A Pull is a pull request.
type Pull struct {
	PullID
	Title, Author string // may be empty
	Standing      string // "open", "merged", "closed", or empty
	From, Into    string // branches; may be empty
	Head          string // the full name of a commit
	URL           string // its page elsewhere; may be empty
	// Words are the standing of its head, with a tone, if that is none of the projects; Report, in Markdown, tells of the pull
	// request as a whole. All may be empty.
	Words  string
	Tone   Tone
	Report string

	Projects []Project
	// Checks, Files and Entries are nil if they are unknown.
	Checks  []Check
	Files   []File
	Entries []Entry
	// Speakers are the users to act as, Offers the actions besides Comment; none if the pull
	// request can only be read.
	Speakers []Speaker
	Offers   []Offer
}

// An Entry is a part of the conversation: a comment, or another event.
type Entry struct {
	ID     string // unique in the conversation: letters, digits and dashes
	Who    string
	Bot    bool
	At     time.Time
	Edited bool
	// Body is a comment, in Markdown; Event another event ("pushed …"), as text. One of them is
	// empty.
	Body, Event string
	Reactions   []Reaction
}

// A Reaction is a picture under a comment.
type Reaction struct {
	Content string // as GitHub names it: "eyes"
	By      string
}

// A Check is a check run.
type Check struct {
	ID         int64
	Name       string
	Status     string // "queued", "in_progress", "completed"
	Conclusion string // of a completed one: "success", ...
	Title      string
	// Summary and Text are Markdown.
	Summary, Text string
	// Buttons are those that GitHub shows at the top of the check's page; none if the pull request can only be read.
	Buttons []Button
}

// A Button of a check.
type Button struct {
	Identifier         string // for Lockstep
	Label, Description string // for people
}

// A File is one of those that a pull request changes.
type File struct {
	Path string
	Diff string // the hunks of a unified diff; empty if none can be shown
}

// A Project is one with its plan for the pull request.
type Project struct {
	Name, Dir, Workspace string
	Standing             string // in words
	Tone                 Tone
	Summary              string // "2 to add, …"; may be empty
	By                   string // login of the user who requested the last action; may be empty
	Head                 string // the commit that was planned; may be empty
	Report               string // Markdown; may be empty
	Plan                 string // the name of its plan among those of the pull request
	HasPlan              bool   // Site.Plan has the whole plan
	State                string // the existing objects, as text; may be empty
}

// A Tone tells what a standing means for the reader.
type Tone string

const (
	Quiet   Tone = "quiet"   // nothing to do
	Busy    Tone = "busy"    // something is under way
	Waiting Tone = "waiting" // a person has to act
	Good    Tone = "good"
	Bad     Tone = "bad"
)

// A Speaker is a user to act as.
type Speaker struct {
	Login string
	May   string // "may write"
}

// An Offer is an action that can be taken.
type Offer struct {
	Name  string
	Label string
	Grave bool // it ends something
}
