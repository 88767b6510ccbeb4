package github

import (
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// decode returns the Event of a webhook whose signature is verified.
func decode(name string, body []byte) (Event, error) {
	switch name {
	case "":
		return nil, fmt.Errorf("the webhook has no %s header", EventHeader)
	case "pull_request", "issue_comment", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "check_run", "check_suite", "status", "merge_group", "installation", "installation_repositories":
	default:
		return OtherEvent{Name: name}, nil
	}
	parsed, err := parsePayload(name, body)
	if err != nil {
		return nil, fmt.Errorf("the payload of the %s webhook is not readable: %w", name, err)
	}
	e, err := eventOf(name, parsed)
	if err != nil {
		return nil, fmt.Errorf("the %s webhook cannot be used: %w", name, err)
	}
	return e, checkShape(name, body)
}

func eventOf(name string, parsed any) (Event, error) {
	switch e := parsed.(type) {
	case *gh.PullRequestEvent:
		return pullRequestEvent(e)
	case *gh.IssueCommentEvent:
		return issueCommentEvent(e)
	case *gh.PullRequestReviewEvent:
		return reviewEvent(e)
	case *gh.PullRequestReviewCommentEvent:
		return lineCommentEvent(e)
	case *gh.PullRequestReviewThreadEvent:
		return threadEvent(e)
	case *statusEvent:
		return reportEvent(e.Installation, e.Repository, e.SHA, e.Context)
	case *checkEvent:
		return checksEvent(name, e)
	case *groupEvent:
		return mergeGroupEvent(e)
	case *gh.InstallationEvent:
		if e.GetAction() == "deleted" {
			return installationEvent(e.Installation, e.GetAction(), nil, e.Repositories)
		}
		return installationEvent(e.Installation, e.GetAction(), e.Repositories, nil)
	case *gh.InstallationRepositoriesEvent:
		return installationEvent(e.Installation, e.GetAction(), e.RepositoriesAdded, e.RepositoriesRemoved)
	}
	panic(fmt.Sprintf("github: no case for %T", parsed))
}

func pullRequestEvent(e *gh.PullRequestEvent) (Event, error) {
	s, err := subject(e.Installation, e.Repo, e.GetNumber(), e.Sender)
	p := e.PullRequest
	return PullRequestEvent{
		Subject: s, Action: e.GetAction(), Merged: p.GetMerged(), Before: e.GetBefore(),
		Head: p.GetHead().GetSHA(), Base: p.GetBase().GetSHA(),
		BaseChanged: e.Changes != nil && e.Changes.Base != nil, At: p.GetUpdatedAt().Time,
	}, err
}

// issueCommentEvent returns the event of a comment on a pull request, or of a new comment on an issue. GitHub sends
// the same webhook for both.
func issueCommentEvent(e *gh.IssueCommentEvent) (Event, error) {
	switch a := e.GetAction(); {
	case e.Issue == nil:
	case a == "created":
		return commentEvent(e)
	case e.Issue.IsPullRequest() && (a == "edited" || a == "deleted"):
		return commentGoneEvent(e)
	}
	return OtherEvent{"issue_comment", e.GetAction()}, nil
}

func commentEvent(e *gh.IssueCommentEvent) (Event, error) {
	s, err := subject(e.Installation, e.Repo, e.GetIssue().GetNumber(), e.Sender)
	if err == nil {
		err = byAuthor(s, e.GetComment().GetUser(), "comment")
	}
	return CommentEvent{
		Subject: s, Comment: e.GetComment().GetID(), Body: e.GetComment().GetBody(), At: e.GetComment().GetCreatedAt().Time,
		Bot: e.GetSender().GetType() != "User", Issue: !e.GetIssue().IsPullRequest(),
	}, err
}

func commentGoneEvent(e *gh.IssueCommentEvent) (Event, error) {
	s, err := subject(e.Installation, e.Repo, e.GetIssue().GetNumber(), e.Sender)
	was := e.GetComment().GetBody()
	if e.GetAction() == "edited" {
		was = e.GetChanges().GetBody().GetFrom()
	}
	return CommentGoneEvent{s, was}, err
}

func lineCommentEvent(e *gh.PullRequestReviewCommentEvent) (Event, error) {
	if a := e.GetAction(); a != "created" {
		return OtherEvent{"pull_request_review_comment", a}, nil
	}
	s, err := subject(e.Installation, e.Repo, e.GetPullRequest().GetNumber(), e.Sender)
	if err == nil {
		err = byAuthor(s, e.GetComment().GetUser(), "comment")
	}
	return CommentEvent{
		Subject: s, Line: e.GetComment().GetID(), Body: e.GetComment().GetBody(), At: e.GetComment().GetCreatedAt().Time, Bot: e.GetSender().GetType() != "User",
	}, err
}

func reviewEvent(e *gh.PullRequestReviewEvent) (Event, error) {
	if a := e.GetAction(); a != "submitted" && a != "dismissed" {
		return OtherEvent{"pull_request_review", a}, nil
	}
	s, err := subject(e.Installation, e.Repo, e.GetPullRequest().GetNumber(), e.Sender)
	r := ReviewEvent{Subject: s, ID: e.GetReview().GetID(), Action: e.GetAction(), Review: reviewOf(e.Review), Bot: e.GetSender().GetType() != "User"}
	if r.Action == "submitted" {
		r.Body = e.GetReview().GetBody()
	}
	if err == nil && r.Body != "" {
		err = byAuthor(s, e.GetReview().GetUser(), "review")
	}
	return r, err
}

func threadEvent(e *gh.PullRequestReviewThreadEvent) (Event, error) {
	s, err := subject(e.Installation, e.Repo, e.GetPullRequest().GetNumber(), e.Sender)
	head := e.GetPullRequest().GetHead().GetSHA()
	return ThreadEvent{s, e.GetAction(), head}, errors.Join(err, checkSHA(head))
}

// checksEvent returns the event of a check run or a check suite; name is the webhook's name.
func checksEvent(name string, e *checkEvent) (Event, error) {
	switch run := name == "check_run"; {
	case run && e.Action == "completed":
		return reportEvent(e.Installation, e.Repository, e.Run.SHA, e.Run.Name)
	case e.Action == "rerequested":
		return rerunEvent(name, e)
	case run && e.Action == "requested_action":
		return buttonEvent(e)
	}
	return OtherEvent{name, e.Action}, nil
}

func mergeGroupEvent(e *groupEvent) (Event, error) {
	gone := e.Action == "destroyed" && e.Reason != "merged"
	if e.Action != "checks_requested" && !gone {
		return OtherEvent{"merge_group", e.Action}, nil
	}
	s, err := subject(e.Installation, e.Repository, pullOfGroup(e.Group.HeadRef), e.Sender)
	return GroupEvent{s, e.Group.HeadSHA, gone}, errors.Join(err, checkSHA(e.Group.HeadSHA))
}

func buttonEvent(p *checkEvent) (Event, error) {
	e, err := rerunEvent("check_run", p)
	if err != nil {
		return nil, err
	}
	r := e.(RerunEvent)
	if p.Button.Identifier == "" {
		return nil, errors.New("it names no button")
	}
	return ButtonEvent{r.Installation, r.Repo, r.Sender, r.SHA, r.Name, r.ExternalID, p.Button.Identifier, r.Pulls}, nil
}

func reportEvent(in *gh.Installation, r *gh.Repository, sha, name string) (Event, error) {
	e := ReportEvent{Installation: in.GetID(), Repo: repoOf(r), SHA: sha, Name: name}
	if e.Installation <= 0 {
		return nil, errNoInstallation
	}
	return e, errors.Join(e.Repo.check(), checkSHA(e.SHA))
}

// byAuthor returns an error unless the sender of the webhook is the author of the text. kind is the kind of
// text, such as "comment".
func byAuthor(s Subject, author *gh.User, kind string) error {
	if author.GetLogin() != s.Sender {
		return fmt.Errorf("the sender of the %s is not its author", kind)
	}
	return nil
}

func rerunEvent(name string, p *checkEvent) (Event, error) {
	of := p.Suite
	if name == "check_run" {
		of = p.Run
	}
	e := RerunEvent{
		Installation: p.Installation.GetID(), Repo: repoOf(p.Repository), Sender: p.Sender.GetLogin(),
		SHA: of.SHA, Name: of.Name, ExternalID: of.ExternalID,
	}
	for _, x := range of.Pulls {
		e.Pulls = append(e.Pulls, x.Number)
	}
	switch {
	case e.Installation <= 0:
		return nil, errNoInstallation
	case e.Sender == "":
		return nil, errNoSender
	}
	return e, errors.Join(e.Repo.check(), checkSHA(e.SHA))
}

func installationEvent(in *gh.Installation, action string, added, removed []*gh.Repository) (Event, error) {
	e := InstallationEvent{Installation: in.GetID(), Account: in.GetAccount().GetLogin(), Action: action}
	if e.Installation <= 0 {
		return nil, errNoInstallation
	}
	for list, from := range map[*[]Repo][]*gh.Repository{&e.Added: added, &e.Removed: removed} {
		for _, x := range from {
			// The payload does not contain the owner of these repositories.
			r := Repo{ID: x.GetID(), Name: x.GetName()}
			r.Owner, _, _ = strings.Cut(x.GetFullName(), "/")
			if err := r.check(); err != nil {
				return nil, err
			}
			*list = append(*list, r)
		}
	}
	return e, nil
}

var (
	errNoInstallation = errors.New("it names no installation of the App: it is meant for the App's webhook, not a repository's")
	errNoSender       = errors.New("it names no sender")
)

func subject(in *gh.Installation, r *gh.Repository, number int, sender *gh.User) (Subject, error) {
	s := Subject{Installation: in.GetID(), Repo: repoOf(r), Number: number, Sender: sender.GetLogin()}
	switch {
	case s.Installation <= 0:
		return s, errNoInstallation
	case s.Number <= 0:
		return s, errors.New("it names no pull request")
	case s.Sender == "":
		return s, errNoSender
	}
	return s, s.Repo.check()
}

func repoOf(r *gh.Repository) Repo {
	return Repo{ID: r.GetID(), Owner: r.GetOwner().GetLogin(), Name: r.GetName(), OwnerID: r.GetOwner().GetID()}
}
