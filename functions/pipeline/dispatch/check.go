package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

func standingDir(r runs.Run) string { return fmt.Sprintf("sha/%d/%s", r.Pull.Repo.ID, r.Head) }

func standingKey(r runs.Run) string {
	return fmt.Sprintf("%s/%d.%s", standingDir(r), r.Pull.Number, r.Target())
}

// putCheck brings the check run of a run up to date, and those of other pull requests
// whose conclusion follows from it.
func (t *task) putCheck(ctx context.Context, r runs.Run) error {
	if r.Head == "" {
		return nil
	}
	status, conclusion := runs.Conclude(r.Standing())
	if _, err := t.change(ctx, standingKey(r), func(old []byte) ([]byte, error) {
		s, err := decodeStanding(old)
		s.Pull, s.Key, s.Check, s.Status, s.Conclusion = r.Pull, r.Key(), r.Check(), status, conclusion
		return pipeline.Encode(s), err
	}); err != nil {
		return err
	}
	all, err := t.standings(ctx, r)
	if err != nil {
		return err
	}
	if err := t.writeCheck(ctx, r, all); err != nil {
		return err
	}
	for _, s := range all {
		shown := s.Conclusion
		if w := runs.Worse(s, all); w != nil {
			shown = w.Conclusion
		}
		if s.Key == r.Key() || s.Check != r.Check() || s.Status != github.CheckCompleted || s.Shown == shown {
			continue
		}
		other, err := t.read(ctx, s.Key)
		if err != nil {
			return err
		}
		if other.Head != r.Head {
			continue // its check here is history
		}
		if err := t.writeCheck(ctx, other.Run, all); err != nil {
			return err
		}
	}
	return nil
}

// standings are those of all runs at the head of r.
func (t *task) standings(ctx context.Context, r runs.Run) ([]runs.Standing, error) {
	list, err := t.Records.List(ctx, standingDir(r))
	if err != nil {
		return nil, fmt.Errorf("list checks: %w", err)
	}
	var all []runs.Standing
	for _, rec := range list {
		s, err := decodeStanding(rec.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func decodeStanding(value []byte) (s runs.Standing, err error) {
	if value == nil {
		return s, nil
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("read a check: the record is damaged: %w", err)
	}
	return s, nil
}

// writeCheck writes the check run of a run.
func (t *task) writeCheck(ctx context.Context, r runs.Run, all []runs.Standing) error {
	i := slices.IndexFunc(all, func(s runs.Standing) bool { return s.Key == r.Key() })
	if i < 0 {
		return nil // its record is gone with the retention
	}
	own := all[i]
	p, err := t.standing(ctx, r)
	if err != nil {
		return err
	}
	if p.Plan, err = t.nameable(ctx, r); err != nil {
		return err
	}
	page := comment.Check{ProjectStatus: p}
	shown := own.Conclusion
	if w := runs.Worse(own, all); w != nil && own.Status == github.CheckCompleted {
		shown = w.Conclusion
		page.Others = fmt.Sprintf("%s on #%d", w.Conclusion, w.Pull.Number)
	}
	check := github.Check{
		Name: r.Check(), SHA: r.Head, ExternalID: externalID(r),
		Status: own.Status, Conclusion: shown,
		Title: page.Title(github.MaxCheckTitle), Summary: comment.Cut(t.clean(page.Summary(github.MaxCheckText)), github.MaxCheckText),
		Text: comment.Cut(t.clean(page.Text(github.MaxCheckText)), github.MaxCheckText),
	}
	id, err := t.hub.PutCheck(ctx, own.ID, check)
	if errors.Is(err, github.ErrNotFound) {
		return nil // the commit is gone: nobody can look at its checks
	}
	if err != nil {
		return err
	}
	_, err = t.change(ctx, standingKey(r), func(old []byte) ([]byte, error) {
		s, err := decodeStanding(old)
		if old == nil || s.ID == id && s.Shown == shown {
			return nil, errAsIs
		}
		s.ID, s.Shown = id, shown
		return pipeline.Encode(s), err
	})
	return err
}
