package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// account is the time between two readings of the records of all pull requests of a repository. The time is
// long because a repository can have many pull requests.
const account = time.Hour

// maxEnds is the maximum number of ended pull requests of a repository that one round handles.
const maxEnds = 25

// ends finds pull requests that were merged or closed without a webhook, for example while the App was not
// installed, and sends a message for each. The records say that these pull requests are open, but GitHub's list
// (the parameter open) does not contain them. The list may be older than the records, so the handler of the
// message reads the pull request again. The records are read once an hour. They are also read before the
// janitor stops examining a repository because it has no open pull requests. ends returns how many such pull
// requests it found.
func (j *Janitor) ends(ctx context.Context, open []github.PullRequest, pull func(int) pipeline.Pull, idle bool, now time.Time, f *Found) (found int, err error) {
	repo := pull(0).Repo.ID
	c, err := j.cursor(ctx, fmt.Sprintf("repo/%d/ends", repo), now)
	if err != nil || !c.fresh && !idle && now.Before(c.since.Add(account)) {
		return 0, err
	}
	looks, err := ledger.Looks(ctx, j.Pipeline.Ledger(), repo)
	if err != nil {
		return 0, err
	}
	all := ended(looks, open)
	for _, n := range inTurn(all, maxEnds, now) {
		m := pipeline.Message{ID: fmt.Sprintf("closed-%d-%d-%d", repo, n, now.Unix()/3600), Kind: pipeline.Closed, Pull: pull(n), Found: true}
		if err := j.Pipeline.Queue.Send(ctx, m); err != nil {
			return 0, err
		}
		f.Closed++
	}
	if len(all) > maxEnds {
		return len(all), nil // the next round continues
	}
	return len(all), j.moveCursor(ctx, c, now)
}
