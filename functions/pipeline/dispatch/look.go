package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A Look is what was found when the head of a pull request was looked at last: what the
// status says of it beside its runs.
type Look struct {
	Pull              pipeline.Pull
	Head, Base, Merge string
	// Conflict says that Head cannot be merged into Base; Problem, in Markdown, why the
	// projects are not known. Checked says that a check run of Head speaks of it, or of
	// one that is solved since.
	Conflict bool   `json:",omitempty"`
	Problem  string `json:",omitempty"`
	Checked  bool   `json:",omitempty"`
	// Notes are sentences for people, in Markdown.
	Notes []string `json:",omitempty"`
}

func lookKey(p pipeline.Pull) string { return fmt.Sprintf("pull/%d/%d", p.Repo.ID, p.Number) }

// saveLook writes what was found. Those who look at a pull request do so one after the
// other, and the last one has seen the newest.
func (t *task) saveLook(ctx context.Context, l Look) error {
	_, err := t.change(ctx, lookKey(l.Pull), func(old []byte) ([]byte, error) {
		if old != nil {
			was, err := decodeLook(pipeline.Record{Key: lookKey(l.Pull), Value: old})
			if err != nil {
				return nil, err
			}
			l.Checked = l.Checked || was.Checked && was.Head == l.Head
		}
		return pipeline.Encode(l), nil
	})
	return err
}

// checkLook has a check run say what the status says of a problem: rules that want the
// checks of projects would wait for them without a word.
func (t *task) checkLook(ctx context.Context, l Look) error {
	if !l.Checked {
		return nil
	}
	page := comment.Trouble{Body: l.Problem}
	check := github.Check{
		Name: strings.TrimSuffix(pipeline.CheckPrefix, "/"), SHA: l.Head, ExternalID: strconv.Itoa(l.Pull.Number),
		Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess,
		Title: page.Title(), Summary: page.Summary(), Text: comment.Cut(l.Problem, github.MaxCheckText),
	}
	if l.Problem != "" {
		check.Conclusion = github.ConcludedFailure
	}
	_, err := t.hub.PutCheck(ctx, 0, check)
	if errors.Is(err, github.ErrNotFound) {
		return nil // the commit is gone: nobody can look at its checks
	}
	return err
}

// LastLook returns what was found last; the zero value if nobody looked.
func (p *Pipeline) LastLook(ctx context.Context, pull pipeline.Pull) (Look, error) {
	rec, err := p.Records.Get(ctx, lookKey(pull))
	if err != nil || rec.Version == "" {
		return Look{}, err
	}
	return decodeLook(rec)
}

func decodeLook(rec pipeline.Record) (Look, error) {
	var l Look
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return l, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return l, nil
}
