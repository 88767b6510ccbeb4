package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// head has the head of an open pull request looked at, if nobody has, or if the look found a conflict
// with a base branch that has moved since. The message's name is the same in each round until somebody
// has looked.
func (j *Janitor) head(ctx context.Context, pull pipeline.Pull, p github.PullRequest, tips *tips, f *Found) error {
	seen, err := j.Pipeline.Ledger().LastLook(ctx, pull)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("head-%d-%d-%.12s-%.12s", pull.Repo.ID, p.Number, seen.Head, p.Head.SHA)
	if !unseen(p, seen) {
		tip, err := tips.of(ctx, p, seen)
		if err != nil || !untangled(seen, tip) {
			return err
		}
		id += fmt.Sprintf("-%.12s", tip)
	} else if seen.Head == p.Head.SHA { // reopened, or into another branch, which may happen again
		id += fmt.Sprintf("-%d", p.Updated.Unix())
	}
	if err := j.Pipeline.Queue.Send(ctx, pipeline.Message{ID: id, Kind: pipeline.Pushed, Pull: pull, Action: "synchronize", Found: true}); err != nil {
		return err
	}
	f.Heads++
	return nil
}

// tips are the present commits of base branches, each read once.
type tips struct {
	hub   Repository
	known map[string]string
}

// of returns the present commit of the base branch of a pull request whose head conflicts with it. Of
// others it is the base that was seen, at the price of no request. GitHub's list of pull requests would
// have the base of their last push.
func (t *tips) of(ctx context.Context, p github.PullRequest, seen ledger.Look) (string, error) {
	if !seen.Conflict || p.Base.Ref == "" {
		return seen.Base, nil
	}
	return t.read(ctx, p)
}

// read returns the present commit of the base branch of a pull request.
func (t *tips) read(ctx context.Context, p github.PullRequest) (string, error) {
	if tip, ok := t.known[p.Base.Ref]; ok {
		return tip, nil
	}
	tip, err := t.hub.Tip(ctx, p.Base.Ref)
	if err != nil {
		return "", err
	}
	if t.known == nil {
		t.known = map[string]string{}
	}
	t.known[p.Base.Ref] = tip
	return tip, nil
}

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

// late has the decisions about plans of merged pull requests made again that may be others by now.
func (j *Janitor) late(ctx context.Context, installation int64, repo github.Repo, now time.Time, f *Found) error {
	all, err := j.Pipeline.Records.List(ctx, pipeline.LateDir(repo.ID))
	if err != nil {
		return err
	}
	var over []pipeline.Watch
	for _, rec := range all {
		w, err := pipeline.DecodeWatch(rec)
		if err != nil {
			return err
		}
		if w.Over(now, w.Base) {
			w.Pull = pipeline.Pull{Installation: installation, Repo: repo, Number: w.Pull.Number}
			over = append(over, w)
		}
	}
	return j.decideAgain(ctx, over, now, f)
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
