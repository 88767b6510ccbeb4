package github

import "time"

// An Event is the content of a webhook: a [PullRequestEvent], [CommentEvent], [CommentGoneEvent],
// [ReviewEvent], [ThreadEvent], [ReportEvent], [RerunEvent], [ButtonEvent], [GroupEvent], [InstallationEvent]
// or [OtherEvent]. It says what was true when it was sent. Read the pull request again before you act.
type Event interface{ event() }

// A Subject is the pull request of an event, and the App's installation with access to it.
type Subject struct {
	Installation int64
	Repo         Repo
	Number       int    // of the pull request
	Sender       string // login of the user who caused the event
}

// A PullRequestEvent is a change of a pull request. Action is GitHub's word: "opened",
// "synchronize" (pushed to), "reopened", "closed", "edited", "ready_for_review" ...
type PullRequestEvent struct {
	Subject
	Action string
	// Before is the SHA of the head before a push; "" for other changes.
	Before string
	Head   string // SHA
	Base   string // SHA, old as in a [PullRequest]
	Merged bool
	// BaseChanged is set for an edit that changed the base branch.
	BaseChanged bool
	// At is the time of the change, in seconds of GitHub's clock.
	At time.Time
}

// A CommentEvent is a new comment on a pull request, or on a line of one of its files. Edits and deletions are
// [CommentGoneEvent] values.
type CommentEvent struct {
	Subject
	Comment int64 // its ID; 0 if it is on a line of a file, where IDs are of another kind
	Line    int64 // its ID, if it is on a line of a file
	Body    string
	At      time.Time // of writing, in seconds of GitHub's clock
	// Bot is true if the author is an App, not a person.
	Bot bool
	// Issue is set if the comment is on an issue.
	Issue bool
}

// A CommentGoneEvent is the edit or the deletion of a comment on a pull request, by anybody with the right to
// do so.
type CommentGoneEvent struct {
	Subject
	Body string // before
}

// A ReviewEvent is a review that the Sender submitted or dismissed. A review may be dismissed by other people
// than its author.
type ReviewEvent struct {
	Subject
	ID     int64
	Action string // "submitted", "dismissed"
	Review Review
	Body   string // of a submitted review, by its author; may be ""
	// Bot is true if the Sender is an App, not a person.
	Bot bool
}

// A ThreadEvent reports that a conversation about a line of a file was resolved, or reopened.
type ThreadEvent struct {
	Subject
	Action string // "resolved", "unresolved"
	Head   string // SHA
}

// A ReportEvent is a completed check run of any App, including Lockstep's, or a commit status in any state. A
// commit can belong to several pull requests, or to none.
type ReportEvent struct {
	Installation int64
	Repo         Repo
	SHA          string // of the commit
	Name         string // of the check run, or the context of the status
}

// A ButtonEvent is the press of a button of one of Lockstep's check runs. The page with the button may be out
// of date.
type ButtonEvent struct {
	Installation int64
	Repo         Repo
	Sender       string
	SHA          string // of the commit
	// Name and ExternalID belong to the check run. Identifier belongs to the button.
	Name, ExternalID, Identifier string
	// Pulls are the open pull requests with the commit as their head. GitHub leaves out pull requests from
	// forks.
	Pulls []int
}

// A RerunEvent is the request to run Lockstep's check runs again.
type RerunEvent struct {
	Installation int64
	Repo         Repo
	Sender       string
	SHA          string // of the commit
	// Name and ExternalID belong to the check run. Both are "" if the request is for all check runs of the
	// commit.
	Name, ExternalID string
	// Pulls are the open pull requests with the commit as their head. GitHub does not list pull requests from
	// forks.
	Pulls []int
}

// A GroupEvent is a merge group that waits for its checks: the base branch, with the pull request and all
// before it in the merge queue merged. SHA is the group's commit. Gone is set if the group was destroyed
// without a merge.
type GroupEvent struct {
	Subject
	SHA  string
	Gone bool
}

// An InstallationEvent is a change of the App's installation: created, removed, or its repositories or
// permissions changed.
type InstallationEvent struct {
	Installation int64
	Account      string // login
	// Action is GitHub's word for the change: "created", "deleted", "suspend", "unsuspend",
	// "new_permissions_accepted"; or "added" or "removed" if only the repositories change.
	Action         string
	Added, Removed []Repo
}

// An OtherEvent is a genuine webhook that Lockstep does not use.
type OtherEvent struct{ Name, Action string }

func (PullRequestEvent) event()  {}
func (CommentEvent) event()      {}
func (CommentGoneEvent) event()  {}
func (ReviewEvent) event()       {}
func (ThreadEvent) event()       {}
func (ReportEvent) event()       {}
func (RerunEvent) event()        {}
func (ButtonEvent) event()       {}
func (GroupEvent) event()        {}
func (InstallationEvent) event() {}
func (OtherEvent) event()        {}
