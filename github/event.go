package github

import "time"

// An Event is what a webhook tells: one of [PullRequestEvent], [CommentEvent],
// [ReviewEvent], [RerunEvent], [InstallationEvent] and [OtherEvent]. What it says about
// a pull request is a hint only, true when it was sent: read the pull request again.
type Event interface{ event() }

// A Subject says what an event is about, and on whose behalf to act on it.
type Subject struct {
	Installation int64
	Repo         Repo
	Number       int    // of the pull request
	Sender       string // login of who caused the event
}

// A PullRequestEvent says that a pull request changed. Action is GitHub's word:
// "opened", "synchronize" (pushed to), "reopened", "closed", "edited",
// "ready_for_review" ...
type PullRequestEvent struct {
	Subject
	Action string
	Head   string // SHA
	Base   string // SHA, old as in a [PullRequest]
	Merged bool
	// BaseChanged says, of an edit, that it is to be merged into another branch now.
	BaseChanged bool
}

// A CommentEvent says that somebody wrote a new comment on a pull request. Edits and
// deletions of comments are no such events.
type CommentEvent struct {
	Subject
	Comment int64 // its ID
	Body    string
	At      time.Time // when it was written, in seconds of GitHub's clock
	// Bot says that the author is an App, not a person.
	Bot bool
}

// A ReviewEvent says that a pull request was reviewed, or a review dismissed. The
// Sender did that: who dismisses a review is not its author.
type ReviewEvent struct {
	Subject
	Action string // "submitted", "dismissed"
	Review Review
}

// A RerunEvent says that somebody asked for check runs of ours to be made again.
type RerunEvent struct {
	Installation int64
	Repo         Repo
	Sender       string
	SHA          string // of the commit
	// Name and ExternalID are those of the check run; both "" where all of the commit's
	// were asked for.
	Name, ExternalID string
	// Pulls are the pull requests that GitHub knows to have the commit as their head;
	// none of forks are among them.
	Pulls []int
}

// An InstallationEvent says that the App was installed somewhere, or removed, or that
// it was given other repositories or rights.
type InstallationEvent struct {
	Installation int64
	Account      string // login of where it is installed
	// Action is GitHub's word: "created", "deleted", "suspend", "unsuspend",
	// "new_permissions_accepted"; "added" and "removed" of repositories.
	Action         string
	Added, Removed []Repo
}

// An OtherEvent is a true webhook that says nothing of interest here.
type OtherEvent struct{ Name, Action string }

func (PullRequestEvent) event()  {}
func (CommentEvent) event()      {}
func (ReviewEvent) event()       {}
func (RerunEvent) event()        {}
func (InstallationEvent) event() {}
func (OtherEvent) event()        {}
