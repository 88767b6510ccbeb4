package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// admit decides whether the commands of a message are carried out, or are too many for
// one person and pull request: then that is answered, once, and the rest gets a picture.
func (t *task) admit(ctx context.Context) (bool, error) {
	asked := runs.Asked{ID: t.message.ID, At: t.message.At}
	if asked.At.IsZero() { // a button
		asked.At = t.pull.Updated
	}
	most := t.MaxCommands
	if most == 0 {
		most = runs.MaxCommands
	}
	var p runs.Pace
	var what runs.Admission
	key := fmt.Sprintf("pace/%d/%d/%s", t.message.Pull.Repo.ID, t.message.Pull.Number, url.PathEscape(t.message.Actor))
	_, err := t.change(ctx, key, func(old []byte) ([]byte, error) {
		p = runs.Pace{}
		if old != nil {
			if err := json.Unmarshal(old, &p); err != nil {
				return nil, fmt.Errorf("the record is damaged: %w", err)
			}
		}
		p, what = p.Next(asked, most)
		return pipeline.Encode(p), nil
	})
	switch {
	case err != nil:
		return false, err
	case what == runs.Admitted:
		return true, nil
	case what == runs.Ignored:
		return false, t.react(ctx, t.message.Comment, github.Confused)
	}
	if err := t.reply(ctx, askOf(t.message), part("too many", comment.TooMany{By: t.message.Actor, Most: most, Free: p.Free()})); err != nil {
		return false, err
	}
	return false, t.tell(ctx)
}
