package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// A Standing is how one run stands at its head: all runs with the same check at the
// same commit, of whichever pull requests, are looked at together, since GitHub shows
// that commit's check on each of them.
type Standing struct {
	Pull   Pull
	Key    string // of the run
	Check  string // its name
	ID     int64  // of the check run, 0 if it is not known yet
	Status github.CheckStatus
	// Conclusion is the run's own, Shown what its check run says.
	Conclusion, Shown github.Conclusion
}

func standingDir(r Run) string { return fmt.Sprintf("sha/%d/%s", r.Pull.Repo.ID, r.Head) }

func standingKey(r Run) string {
	return fmt.Sprintf("%s/%d.%s", standingDir(r), r.Pull.Number, r.Target())
}

// conclude says how the check of a run stands.
func conclude(s comment.Standing) (github.CheckStatus, github.Conclusion) {
	switch s {
	case comment.Queued, comment.ApplyQueued:
		return github.CheckQueued, ""
	case comment.Planning, comment.Applying:
		return github.CheckInProgress, ""
	case comment.Ready, comment.OnMerge, comment.NoChanges, comment.Applied:
		return github.CheckCompleted, github.ConcludedSuccess
	case comment.PlanFailed, comment.ApplyFailed:
		return github.CheckCompleted, github.ConcludedFailure
	case comment.OutOfDate, comment.NotApplied:
		return github.CheckCompleted, github.ConcludedActionRequired
	case comment.Overtaken, comment.GivenUp:
		return github.CheckCompleted, github.ConcludedCancelled
	}
	panic(fmt.Sprintf("run: there is no standing %q", s))
}

// worst are the conclusions from the worst on; those that are not listed are good.
var worst = []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired}

// worse returns, of the standings with one check at one commit, the one that is worse
// than own, nil if none is. What is under way has no conclusion and is left out.
func worse(own Standing, all []Standing) *Standing {
	rank := func(c github.Conclusion) int {
		if i := slices.Index(worst, c); i >= 0 {
			return i
		}
		return len(worst)
	}
	var found *Standing
	at := rank(own.Conclusion)
	for i, s := range all {
		if s.Key != own.Key && s.Check == own.Check && rank(s.Conclusion) < at {
			found, at = &all[i], rank(s.Conclusion)
		}
	}
	return found
}

// putCheck brings the check run of a run up to date, and those of other pull requests
// whose conclusion follows from it.
func (t *task) putCheck(ctx context.Context, r Run) error {
	if r.Head == "" {
		return nil
	}
	status, conclusion := conclude(r.Standing())
	if _, err := t.change(ctx, standingKey(r), func(old []byte) ([]byte, error) {
		s, err := decodeStanding(old)
		s.Pull, s.Key, s.Check, s.Status, s.Conclusion = r.Pull, r.key(), r.Check(), status, conclusion
		return encode(s), err
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
		if w := worse(s, all); w != nil {
			shown = w.Conclusion
		}
		if s.Key == r.key() || s.Check != r.Check() || s.Status != github.CheckCompleted || s.Shown == shown {
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
func (t *task) standings(ctx context.Context, r Run) ([]Standing, error) {
	list, err := t.Records.List(ctx, standingDir(r))
	if err != nil {
		return nil, fmt.Errorf("list checks: %w", err)
	}
	var all []Standing
	for _, rec := range list {
		s, err := decodeStanding(rec.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func decodeStanding(value []byte) (s Standing, err error) {
	if value == nil {
		return s, nil
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("read a check: the record is damaged: %w", err)
	}
	return s, nil
}

// writeCheck writes the check run of a run.
func (t *task) writeCheck(ctx context.Context, r Run, all []Standing) error {
	i := slices.IndexFunc(all, func(s Standing) bool { return s.Key == r.key() })
	if i < 0 {
		return nil // its record is gone with the retention
	}
	own := all[i]
	p, err := t.standing(ctx, r)
	if err != nil {
		return err
	}
	page := comment.Check{ProjectStatus: p}
	shown := own.Conclusion
	if w := worse(own, all); w != nil && own.Status == github.CheckCompleted {
		shown = w.Conclusion
		page.Others = fmt.Sprintf("%s on #%d", w.Conclusion, w.Pull.Number)
	}
	check := github.Check{
		Name: r.Check(), SHA: r.Head, ExternalID: fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()),
		Status: own.Status, Conclusion: shown,
		Title: t.clean(page.Title(github.MaxCheckTitle)), Summary: t.clean(page.Summary(github.MaxCheckText)), Text: t.clean(page.Text(github.MaxCheckText)),
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
		return encode(s), err
	})
	return err
}
