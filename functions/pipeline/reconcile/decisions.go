package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// maxDecisions is the number of pull requests of a repository whose decisions are made again in a round: each costs some
// requests to GitHub.
const maxDecisions = 10

// watched adds the watch over an open pull request whose decision about requirements may be another one by now: GitHub sends
// no webhook of the end of a freeze, of settings that have changed, or of a right that somebody has lost.
func (j *Janitor) watched(ctx context.Context, p pipeline.Pull, pull github.PullRequest, tips *tips, now time.Time, over []pipeline.Watch) ([]pipeline.Watch, error) {
	rec, err := j.Pipeline.Records.Get(ctx, pipeline.Watch{Pull: p, Head: pull.Head.SHA}.Key())
	if err != nil || rec.Version == "" {
		return over, err
	}
	w, err := pipeline.DecodeWatch(rec)
	if err != nil {
		return over, err
	}
	tip, err := tips.read(ctx, pull)
	if err != nil {
		return over, err
	}
	if w.Over(now, tip) {
		w.Pull, w.Base = p, tip
		over = append(over, w)
	}
	return over, nil
}

// decideAgain has the comments and checks of pull requests made again, of some in each round, the others' turn being in the
// next ones.
func (j *Janitor) decideAgain(ctx context.Context, over []pipeline.Watch, now time.Time, f *Found) error {
	for _, w := range inTurn(over, maxDecisions, now) {
		m := pipeline.Message{Kind: pipeline.SyncComments, Pull: w.Pull}
		m.ID = fmt.Sprintf("decided-%d-%d-%d-%d-%.12s", w.Pull.Repo.ID, w.Pull.Number, now.Unix()/3600, w.Until.Unix(), w.Base)
		if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
			return err
		}
		f.Decisions++
	}
	return nil
}

// inTurn returns so many of a list, beginning with another one in each minute.
func inTurn[T any](list []T, most int, now time.Time) []T {
	if len(list) <= most {
		return list
	}
	at := int(now.Unix()/60) % len(list)
	return append(list[at:len(list):len(list)], list[:at]...)[:most]
}
