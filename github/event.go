package github

import (
	"errors"
	"fmt"

	gh "github.com/google/go-github/v60/github"
)

// An Event is what a webhook tells: one of [PullRequestEvent], [CommentEvent] and
// [OtherEvent]. What it says about a pull request is a hint only, true when it was
// sent: read the pull request again.
type Event interface{ event() }

// A Subject says what an event is about, and on whose behalf to act on it.
type Subject struct {
	Installation int64
	Repo         Repo
	Number       int    // of the pull request
	Sender       string // login of who caused the event
}

// A PullRequestEvent says that a pull request changed. Action is GitHub's word:
// "opened", "synchronize" (pushed to), "reopened", "closed", "edited" ...
type PullRequestEvent struct {
	Subject
	Action string
	Head   string // SHA
	Base   string // SHA
	Merged bool
}

// A CommentEvent says that somebody wrote a new comment on a pull request. Edits and
// deletions of comments are no such events.
type CommentEvent struct {
	Subject
	Comment int64 // its ID
	Body    string
	// Bot says that the author is an App, not a person.
	Bot bool
}

// An OtherEvent is a true webhook that says nothing of interest here.
type OtherEvent struct{ Name, Action string }

func (PullRequestEvent) event() {}
func (CommentEvent) event()     {}
func (OtherEvent) event()       {}

// decode makes an event of a verified payload.
func decode(name string, body []byte) (Event, error) {
	if name == "" {
		return nil, fmt.Errorf("the webhook has no %s header", EventHeader)
	}
	switch name {
	case "pull_request", "issue_comment":
	default:
		return OtherEvent{Name: name}, nil
	}
	parsed, err := gh.ParseWebHook(name, body)
	if err != nil {
		return nil, fmt.Errorf("the payload of the %s webhook is not readable: %w", name, err)
	}
	switch e := parsed.(type) {
	case *gh.PullRequestEvent:
		s, err := subject(e.Installation, e.Repo, e.GetNumber(), e.Sender)
		p := e.PullRequest
		return PullRequestEvent{
			Subject: s, Action: e.GetAction(), Merged: p.GetMerged(),
			Head: p.GetHead().GetSHA(), Base: p.GetBase().GetSHA(),
		}, about(name, err)
	case *gh.IssueCommentEvent:
		if e.GetAction() != "created" || e.Issue == nil || !e.Issue.IsPullRequest() {
			return OtherEvent{Name: name, Action: e.GetAction()}, nil
		}
		s, err := subject(e.Installation, e.Repo, e.GetIssue().GetNumber(), e.Sender)
		if err == nil && e.GetComment().GetUser().GetLogin() != s.Sender {
			err = errors.New("who sent a comment is not its author")
		}
		return CommentEvent{
			Subject: s, Comment: e.GetComment().GetID(), Body: e.GetComment().GetBody(),
			Bot: e.GetSender().GetType() != "User",
		}, about(name, err)
	}
	panic(fmt.Sprintf("github: no case for %T", parsed))
}

func subject(in *gh.Installation, r *gh.Repository, number int, sender *gh.User) (Subject, error) {
	s := Subject{Installation: in.GetID(), Repo: repoOf(r), Number: number, Sender: sender.GetLogin()}
	switch {
	case s.Installation <= 0:
		return s, errors.New("it names no installation of the App")
	case s.Number <= 0:
		return s, errors.New("it names no pull request")
	case s.Sender == "":
		return s, errors.New("it names no sender")
	}
	return s, s.Repo.check()
}

func about(name string, err error) error {
	if err != nil {
		return fmt.Errorf("the %s webhook cannot be used: %w", name, err)
	}
	return nil
}

func repoOf(r *gh.Repository) Repo {
	return Repo{ID: r.GetID(), Owner: r.GetOwner().GetLogin(), Name: r.GetName()}
}
