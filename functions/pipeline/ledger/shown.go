package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Shown notes of the plans that our comment has in it since when people can see them. The
// first time counts: the comment is written anew with each step of each project. It is the
// comment and not the check, which is there before: until then the comment shows another
// plan, and that is what people look at.
func (ld Ledger) Shown(ctx context.Context, all []Versioned, text string, at time.Time) error {
	for _, r := range all {
		if r.Phase != runs.Planned || r.PlanHash == "" || !strings.Contains(text, comment.PlanName(r.PlanHash)+"\n") {
			continue
		}
		_, err := ld.Change(ctx, r.ShownKey(), func(old []byte) ([]byte, error) {
			if old != nil {
				return nil, ErrAsIs
			}
			return pipeline.Encode(at), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ShownAt returns since when the plan of a run is shown; the zero value if it is not.
func (ld Ledger) ShownAt(ctx context.Context, r runs.Run) (at time.Time, err error) {
	rec, err := ld.Records.Get(ctx, r.ShownKey())
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &at); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return at, err
}
