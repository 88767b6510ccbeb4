package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// An Effect is something that is done to the world, as it is noted in the records
// before it is done, and again afterwards.
type Effect struct {
	Key    string
	Kind   string // "status", "answer", "reaction", "apply"
	Target string // what it is done to
	Done   bool
	// Outcome is what became of an apply.
	Outcome *Outcome `json:",omitempty"`
}

// ErrUnknownOutcome says that something was begun before, and nobody knows how it
// ended.
var ErrUnknownOutcome = errors.New("it was begun before, and did not come to its end")

// begin notes an effect that must not be begun twice.
func (t *task) begin(ctx context.Context, e Effect) (Version, error) {
	version, err := t.Records.Put(ctx, e.Key, encode(e), "")
	if errors.Is(err, ErrConflict) {
		return "", fmt.Errorf("%s: %w", e.Kind, ErrUnknownOutcome)
	}
	return version, err
}

// end notes that an effect is done.
func (t *task) end(ctx context.Context, e Effect, begun Version) error {
	e.Done = true
	_, err := t.Records.Put(ctx, e.Key, encode(e), begun)
	return err
}

// effect does something that may be done twice, and notes it.
func (t *task) effect(ctx context.Context, kind, target, content string, do func() error) error {
	sum := sha256.Sum256([]byte(target + "\x00" + content))
	e := Effect{Kind: kind, Target: target, Key: fmt.Sprintf("effect/%s/%s-%s", t.message.ID, kind, hex.EncodeToString(sum[:8]))}
	begun, err := t.begin(ctx, e)
	if err != nil && !errors.Is(err, ErrUnknownOutcome) {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if begun == "" {
		return nil
	}
	return t.end(ctx, e, begun)
}

// react puts a picture under the comment that is being handled.
func (t *task) react(ctx context.Context, r github.Reaction) error {
	id := t.message.Comment
	err := t.effect(ctx, "reaction", fmt.Sprintf("comment %d", id), string(r), func() error { return t.hub.React(ctx, id, r) })
	if errors.Is(err, github.ErrNotFound) {
		return nil // the comment was deleted
	}
	return err
}

// answer replies to the comment that is being handled, or, after a push, to the pull
// request.
func (t *task) answer(ctx context.Context, replies []comment.Reply) error {
	if len(replies) == 0 {
		return nil
	}
	a := comment.Answer{Comment: t.message.Comment, Replies: replies}
	return t.comment(ctx, "answer", comment.AnswerMarker(a.Comment), a.Markdown(github.MaxComment))
}

// status brings the one comment about the pull request's projects up to date.
func (t *task) status(ctx context.Context) error {
	runs, err := t.runs(ctx)
	if err != nil {
		return err
	}
	s := comment.Status{Head: t.pull.Head.SHA}
	for _, r := range runs {
		if r.Head != s.Head || r.Phase == Dropped {
			continue
		}
		p := comment.ProjectStatus{Name: r.Project, Standing: r.standing(), Counts: r.Counts, By: r.Actor}
		if r.Report != "" && r.Phase != Planning {
			report, err := t.Artifacts.Get(ctx, r.artifact(r.Report))
			if err != nil && !errors.Is(err, ErrNoArtifact) {
				return err
			}
			p.Body = string(report)
		}
		s.Projects = append(s.Projects, p)
		note, err := t.unmerged(ctx, r)
		if err != nil {
			return err
		}
		if note != "" {
			s.Notes = append(s.Notes, note)
		}
	}
	if len(s.Projects) == 0 {
		return nil
	}
	return t.comment(ctx, "status", comment.StatusMarker, s.Markdown(github.MaxComment))
}

// unmerged is what to know about a state that another pull request was applied to.
func (t *task) unmerged(ctx context.Context, r stored) (string, error) {
	l, _, err := t.lastApply(ctx, r.Run)
	if err != nil || l == nil || l.Settled || l.Number == r.Pull.Number {
		return "", err
	}
	return fmt.Sprintf("#%d was applied to %s and is not merged yet: until it is, this plan shows its changes as to be undone, and cannot be applied.", l.Number, comment.Code(r.Project)), nil
}

// clean takes our own secrets out of a text.
func (t *task) clean(text string) string {
	for _, s := range t.Secrets {
		text = s.Redact(text)
	}
	return text
}

func (t *task) comment(ctx context.Context, kind, marker, body string) error {
	body = t.clean(body)
	n := t.message.Pull.Number
	return t.effect(ctx, kind, fmt.Sprintf("%s#%d", t.message.Pull.Repo, n), body, func() error {
		_, err := t.hub.PutComment(ctx, n, marker, body)
		return err
	})
}
