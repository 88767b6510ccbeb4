package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// ErrNotFound says that there is no such pull request, or no such plan.
var ErrNotFound = errors.New("there is no such thing here")

// A Site is what there is to show. Its methods may be called at the same time.
type Site interface {
	// Pulls returns all pull requests, those that matter most first. What only a
	// pull request's own page shows may be missing.
	Pulls(ctx context.Context) ([]Pull, error)
	// Pull returns one pull request, or ErrNotFound.
	Pull(ctx context.Context, id PullID) (Pull, error)
	// Plan returns the whole text of the plan of a name, or ErrNotFound.
	Plan(ctx context.Context, id PullID, name string) (string, error)
	// Changed returns when the site is not any more as it was at version since, or ctx
	// has ended, with the version that it is at now. Versions only grow, from 1.
	Changed(ctx context.Context, since uint64) uint64
}

// An Actor is a Site on which something can be done.
type Actor interface {
	// Act does something. A *RefusedError is for the one who asked; any other error is
	// ours.
	Act(ctx context.Context, d Deed) error
}

// A RefusedError says to the one who asked why something was not done.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// A Deed is something that somebody does on a pull request.
type Deed struct {
	Pull PullID
	// As is who does it, a login among the pull request's Speakers.
	As string
	// Name is [Comment], or the name of one of the pull request's Offers.
	Name string
	// Text is what is said; for Comment only. Lines end in "\n".
	Text string
}

// Comment is the name of the deed that every pull request takes which has Speakers.
const Comment = "comment"

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
	URL           string // where else it can be seen; may be empty

	Projects []Project
	// Checks, Files and Entries are nil if they are not known here.
	Checks  []Check
	Files   []File
	Entries []Entry
	// Speakers are who can be spoken as, Offers what can be done; none if the pull
	// request can only be looked at.
	Speakers []Speaker
	Offers   []Offer
}

// An Entry is one in the conversation: a comment, or something that was done.
type Entry struct {
	ID     string // unique in the conversation: letters, digits and dashes
	Who    string
	Bot    bool
	At     time.Time
	Edited bool
	// Body is a comment, in Markdown; Event what was done otherwise ("pushed …"), as
	// text. One of them is empty.
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
	Name       string
	Status     string // "queued", "in_progress", "completed"
	Conclusion string // of a completed one: "success", ...
	Title      string
	// Summary and Text are Markdown.
	Summary, Text string
}

// A File is one that a pull request changes.
type File struct {
	Path string
	Diff string // the hunks of a unified diff; empty if nothing of it can be shown
}

// A Project is what the pull request's plan does to one project.
type Project struct {
	Name, Dir, Workspace string
	Standing             string // in words
	Tone                 Tone
	Summary              string // "2 to add, …"; may be empty
	By                   string // who asked for what was done last; may be empty
	Head                 string // the commit that was planned; may be empty
	Report               string // Markdown; may be empty
	Plan                 string // the name of its plan among those of the pull request
	HasPlan              bool   // that Site.Plan has the whole of it
	State                string // what exists, as text; may be empty
}

// A Tone is what a standing means for whoever looks.
type Tone string

const (
	Quiet   Tone = "quiet"   // nothing to do
	Busy    Tone = "busy"    // something is under way
	Waiting Tone = "waiting" // for a person
	Good    Tone = "good"
	Bad     Tone = "bad"
)

// A Speaker is somebody who can be spoken as.
type Speaker struct {
	Login string
	May   string // "may write"
}

// An Offer is something that can be done.
type Offer struct {
	Name  string
	Label string
	Grave bool // it ends something
}
