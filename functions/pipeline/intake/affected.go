package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// facts are GitHub's words for those changes of a pull request on which requirements can depend.
var facts = []string{"labeled", "unlabeled", "ready_for_review", "converted_to_draft"}

// affected returns messages for a webhook that may change a decision about requirements for waiting plans.
// Their handlers write the comments and checks of these plans once more, once for several such webhooks. Most
// webhooks of this kind change no decision. So a webhook costs only one read of a record if nothing depends on
// it.
func (p *Intake) affected(ctx context.Context, d github.Delivery) ([]pipeline.Message, error) {
	m := pipeline.Message{ID: d.Digest[:messageDigits], Kind: pipeline.Told, At: time.Now().UTC()}
	switch e := d.Event.(type) {
	case github.PullRequestEvent:
		if slices.Contains(facts, e.Action) {
			return p.watched(ctx, m, pullOf(e.Subject), e.Head)
		}
	case github.ThreadEvent:
		return p.watched(ctx, m, pullOf(e.Subject), e.Head)
	case github.ReportEvent:
		return p.reported(ctx, m, e)
	case github.CommentEvent:
		if e.Issue {
			return p.onIssue(ctx, m, e)
		}
		m.ID += "-told" // it may have a plan of another tool
		return p.watched(ctx, m, pullOf(e.Subject), pipeline.ShadowHead)
	case github.CommentGoneEvent:
		m.ID += "-edited"
		return p.watched(ctx, m, pullOf(e.Subject), pipeline.ShadowHead)
	}
	return nil, nil
}

// onIssue returns the message for a comment with commands on an issue. Lockstep reads comments only on issues about drift
// that it has opened itself. Its record says which these are: anybody can write an issue with the same text.
func (p *Intake) onIssue(ctx context.Context, m pipeline.Message, e github.CommentEvent) ([]pipeline.Message, error) {
	if !p.Serves.Decide(e.Repo, Known{}).Allowed() {
		return nil, nil
	}
	m.Kind, m.Pull, m.Comment, m.Actor, m.Lines, m.At = pipeline.Commanded, pullOf(e.Subject), e.Comment, e.Sender, CommandsIn(e.Body, e.Bot), e.At
	if len(m.Lines) == 0 {
		return nil, nil
	}
	rec, err := p.Records.Get(ctx, pipeline.IssueKey(m.Pull))
	if err != nil || rec.Version == "" {
		return nil, err
	}
	return []pipeline.Message{m}, nil
}

// watched returns a message if Lockstep watches facts of a pull request at the given head; otherwise none.
func (p *Intake) watched(ctx context.Context, m pipeline.Message, about pipeline.Pull, head string) ([]pipeline.Message, error) {
	if !p.Serves.Decide(about.Repo, Known{}).Allowed() {
		return nil, nil
	}
	rec, err := p.Records.Get(ctx, pipeline.Watch{Pull: about, Head: head}.Key())
	if err != nil || rec.Version == "" {
		return nil, err
	}
	m.Pull = about
	return []pipeline.Message{m}, nil
}

// reported returns a message for each pull request for which a check run or status of the commit matters.
func (p *Intake) reported(ctx context.Context, m pipeline.Message, e github.ReportEvent) (out []pipeline.Message, err error) {
	if _, _, ours := pipeline.ReadCheck(e.Name); ours || !p.Serves.Decide(e.Repo, Known{}).Allowed() {
		return nil, nil
	}
	all, err := p.Records.List(ctx, pipeline.WatchDir(e.Repo.ID, e.SHA))
	if err != nil {
		return nil, err
	}
	for _, rec := range all {
		w, err := pipeline.DecodeWatch(rec)
		if err != nil {
			return nil, err
		}
		if !w.DependsOn(e.Name) {
			continue
		}
		one := m
		one.ID = fmt.Sprintf("%s-%d", m.ID, w.Pull.Number)
		one.Pull = pipeline.Pull{Installation: e.Installation, Repo: e.Repo, Number: w.Pull.Number}
		out = append(out, one)
	}
	return out, nil
}
