package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// shown notes of the plans that our comment has in it since when people can see them. The
// first time counts: the comment is written anew with each step of each project. It is the
// comment and not the check, which is there before: until then the comment shows another
// plan, and that is what people look at.
func (t *task) shown(ctx context.Context, all []stored, text string, at time.Time) error {
	for _, r := range all {
		if r.Phase != runs.Planned || r.PlanHash == "" || !strings.Contains(text, comment.PlanName(r.PlanHash)+"\n") {
			continue
		}
		_, err := t.change(ctx, r.ShownKey(), func(old []byte) ([]byte, error) {
			if old != nil {
				return nil, errAsIs
			}
			return pipeline.Encode(at), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shownAt returns since when the plan of a run is shown; the zero value if it is not.
func (t *task) shownAt(ctx context.Context, r runs.Run) (at time.Time, err error) {
	rec, err := t.Records.Get(ctx, r.ShownKey())
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &at); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return at, err
}

// onGitHub returns the hash of the plan that our check run shows, as GitHub has it; "" if it
// shows none. Records and artifacts are in one hand, what GitHub shows is in another: only
// our App writes it.
func (t *task) onGitHub(ctx context.Context, r runs.Run) (hash string, err error) {
	c, err := t.hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Head, ExternalID: externalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", nil
	}
	return comment.PlanIn(c.Summary), err
}

// nameable returns the hash of the plan that the check run of a run may name from now on.
// Only the message that has the plan made names it first. Whatever else writes the check
// keeps the name that is there: the record may be another one by then, and a check that
// followed it would be no evidence against it.
func (t *task) nameable(ctx context.Context, r runs.Run) (hash string, err error) {
	if t.message.Kind == pipeline.ToPlan || r.PlanHash == "" {
		return r.PlanHash, nil
	}
	return t.onGitHub(ctx, r)
}

// compareShown says in a request which plan our check run shows.
func (t *task) compareShown(ctx context.Context, q *runs.Request) error {
	hash, err := t.onGitHub(ctx, q.Run)
	q.OnGitHub = &hash
	return err
}

// externalID tells the check runs of a commit apart.
func externalID(r runs.Run) string { return fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()) }

// exchangedReport stands in the place of a plan's report that is not the one which was made.
var exchangedReport = fmt.Sprintf("**What is kept of this plan is not what was made.** Comment %s for a new plan.", comment.Code("lockstep plan"))
