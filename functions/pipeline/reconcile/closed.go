package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// An account is the time between two looks at the records of all pull requests of a repository, which may be many.
const account = time.Hour

// maxEnds is the maximum of ends that a round has handled in a repository.
const maxEnds = 25

// ends finds the pull requests that were merged or closed while nobody was told: the App was not installed, say. They are open
// by the records, and not by open, GitHub's list, which is older: whoever handles the message looks again. The records are read
// once an hour, and before a repository without open ones is left alone. It returns their number.
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
		return len(all), nil // the next round goes on
	}
	return len(all), j.moveCursor(ctx, c, now)
}
