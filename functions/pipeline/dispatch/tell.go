package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// tell brings what is said on the pull request up to date with the records. Only
// messages about events do it, and those of a pull request are handled one after the
// other: so there is one writer.
func (t *task) tell(ctx context.Context) error {
	if err := t.status(ctx); err != nil {
		return err
	}
	asks, err := t.asks(ctx)
	if err != nil {
		return err
	}
	for _, a := range asks {
		if err := t.tellAnswer(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// wantTold sends the message that has what is said brought up to date, now that a run
// moved on.
func (t *task) wantTold(ctx context.Context, r runs.Run) error {
	return t.send(ctx, pipeline.Message{Kind: pipeline.Tell}, r.Plain(), r.Attempt, r.Begun, r.Try, strings.ReplaceAll(string(r.Phase), " ", "-"))
}

// tellAnswer writes an answer as it is now.
func (t *task) tellAnswer(ctx context.Context, a Ask) error {
	if len(a.Parts) == 0 {
		return nil
	}
	answer := comment.Answer{Name: a.Name}
	for _, p := range a.Parts {
		r, err := comment.UnmarshalReply(p.Reply)
		if err != nil {
			return fmt.Errorf("answer %s: %w", a.Name, err)
		}
		if p.Body.Key != "" {
			body, err := t.text(ctx, p.Body)
			if err != nil {
				return err
			}
			r = comment.WithBody(r, body)
		}
		answer.Replies = append(answer.Replies, r)
	}
	if _, _, err := t.say(ctx, comment.AnswerMarker(a.Name), answer.Markdown(github.MaxComment)); err != nil {
		return err
	}
	verdict := comment.VerdictOn(answer.Replies)
	if verdict == comment.Waiting {
		return nil
	}
	if err := t.react(ctx, a.comment(), map[comment.Verdict]github.Reaction{comment.Good: github.Rocket, comment.Bad: github.Confused}[verdict]); err != nil {
		return err
	}
	told := string(pipeline.Encode(a.Parts))
	return t.changeAsk(ctx, a.Name, func(now *Ask) { now.Told = string(pipeline.Encode(now.Parts)) == told })
}

// react puts a picture under a comment; there is none with the ID 0.
func (t *task) react(ctx context.Context, id int64, r github.Reaction) error {
	if id == 0 {
		return nil
	}
	err := t.hub.React(ctx, id, r)
	if errors.Is(err, github.ErrNotFound) {
		return nil // the comment was deleted
	}
	return err
}

// say writes a comment, or brings it up to date. Its marker is its first line, and there is
// none below: what people see there was written by others. It returns what is there to
// read, and since when.
func (t *task) say(ctx context.Context, marker, body string) (text string, at time.Time, err error) {
	body = marker + comment.Unmarked(strings.TrimPrefix(body, marker))
	// What is put in the place of a secret, or of a marker, may be longer than it.
	text = comment.Cut(t.clean(body), github.MaxComment)
	_, at, err = t.hub.PutComment(ctx, t.message.Pull.Number, marker, text)
	return text, at, err
}

// status brings the one comment about the pull request's projects up to date.
func (t *task) status(ctx context.Context) error {
	all, err := t.runs(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	l, err := t.LastLook(ctx, t.message.Pull)
	if err != nil {
		return err
	}
	s := comment.Status{Head: l.Head, Notes: l.Notes, Conflict: l.Conflict, Problem: l.Problem, Merged: t.pull.Merged, Closed: !t.pull.Open && !t.pull.Merged}
	for _, r := range all {
		if r.Head != s.Head || r.Phase == runs.Superseded {
			continue
		}
		p, err := t.standing(ctx, r.Run)
		if err != nil {
			return err
		}
		s.Projects = append(s.Projects, p)
		note, err := t.unmerged(ctx, r.Run)
		if err != nil {
			return err
		}
		if note != "" {
			s.Notes = append(slices.Clip(s.Notes), note)
		}
	}
	if err := t.checkLook(ctx, l); err != nil {
		return err
	}
	if len(s.Projects) == 0 && !s.Conflict && s.Problem == "" {
		return nil
	}
	if s.Approvals, err = t.approvals(ctx, l.Head); err != nil {
		return err
	}
	text, at, err := t.say(ctx, comment.StatusMarker, s.Markdown(github.MaxComment))
	if err != nil {
		return err
	}
	return t.shown(ctx, all, text, at)
}

// standing is how a run is put to people.
func (t *task) standing(ctx context.Context, r runs.Run) (p comment.ProjectStatus, err error) {
	p = comment.ProjectStatus{
		Name: r.Project, Standing: r.Standing(), Counts: r.Counts, Done: r.Done, Remaining: r.Remaining, Lost: r.Lost, By: r.Actor, Check: r.Check(), Plan: r.PlanHash,
	}
	switch p.Standing {
	case comment.Queued, comment.Planning, comment.Overtaken:
		return p, nil
	case comment.Applied, comment.ApplyFailed:
		p.Body, err = t.text(ctx, r.Result())
		if p.Body != "" || err != nil {
			return p, err
		}
	}
	p.Body, err = t.text(ctx, r.Report())
	if p.Body != "" && r.Reported != "" && runs.HashOf([]byte(p.Body)) != r.Reported {
		p.Body = exchangedReport
	}
	if r.Full && t.Where != nil && r.Phase != runs.Dropped {
		p.Whole = t.Where(r.FullReport())
	}
	return p, err
}

// approvals are the logins of who approved the head.
func (t *task) approvals(ctx context.Context, head string) ([]string, error) {
	reviews, err := t.hub.Reviews(ctx, t.message.Pull.Number)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range reviews {
		if r.State == github.Approved && r.SHA == head {
			out = append(out, r.Author)
		}
	}
	return out, nil
}

// unmerged is what to know about a state that another pull request was applied to.
func (t *task) unmerged(ctx context.Context, r runs.Run) (string, error) {
	if r.Phase == runs.Dropped {
		return "", nil
	}
	l, err := t.inTheWay(ctx, r)
	if err != nil || l == nil || l.Settled || l.Number == r.Pull.Number {
		return "", err
	}
	return fmt.Sprintf("#%d was applied to %s and is not merged yet: until it is, this plan shows its changes as to be undone, and cannot be applied.", l.Number, comment.Code(r.Project)), nil
}
