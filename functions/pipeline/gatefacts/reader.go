package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// ErrGone reports that a pull request was deleted, or that Lockstep has lost access to it. Nobody can be
// informed, and another attempt does not help.
var ErrGone = errors.New("the pull request is gone")

// Look reads the pull request and the permission of the actor from GitHub. If the pull request was merged, and
// no webhook has reported it, the actor becomes the person who merged. If the merge queue has merged, that is
// the user who added the pull request to the queue.
func (e *Reader) Look(ctx context.Context) (err error) {
	e.Pull, err = e.Hub.PullRequest(ctx, e.Message.Pull.Number)
	if errors.Is(err, github.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return err
	}
	return e.looked(ctx)
}

// looked reads what belongs to a pull request that was read.
func (e *Reader) looked(ctx context.Context) (err error) {
	if err := renamed(ctx, e); err != nil {
		return err
	}
	if e.Message.Kind == pipeline.Closed && e.Message.Actor == "" {
		e.Message.Actor = e.Pull.MergedBy
	}
	if err := enqueued(ctx, e); err != nil {
		return err
	}
	if e.Message.Actor != "" {
		e.permission, err = e.permissionOf(ctx, e.Message.Actor)
	}
	return err
}

// permissionOf returns the present permission of a user. For Apps, GitHub reports none: an App that the default
// branch's settings name counts as a user with write access.
func (e *Reader) permissionOf(ctx context.Context, login string) (github.Permission, error) {
	p, err := e.Hub.Permission(ctx, login)
	if err != nil || !pipeline.IsBot(login) || p >= github.WritePermission {
		return p, err
	}
	tip, err := e.Hub.Tip(ctx, e.Pull.DefaultBranch)
	if err != nil {
		return github.NoPermission, fmt.Errorf("look who may command: %w", err)
	}
	s, _, err := e.Settings(ctx, tip)
	if err != nil {
		return github.NoPermission, err
	}
	if s.NamesBot(login) {
		return github.WritePermission, nil
	}
	return p, nil
}

// MayBeAnswered reports whether Lockstep answers the author of a command: a person, or an App that the settings
// name. Call it after [Reader.Look].
func (e *Reader) MayBeAnswered() bool {
	return !pipeline.IsBot(e.Message.Actor) || e.permission >= github.WritePermission
}

// Writes reports whether the user who gave the command has write access. Call it after [Reader.Look].
func (e *Reader) Writes() bool { return e.permission >= github.WritePermission }

// Reads reports whether the user who gave the command can read a private repository. Call it after [Reader.Look].
func (e *Reader) Reads() bool { return e.Pull.Private && e.permission >= github.ReadPermission }

// Checkout unpacks a commit into a new directory, which done removes. The error wraps github.ErrNotFound if the
// commit does not exist.
func (e *Reader) Checkout(ctx context.Context, sha string) (dir string, done func(), err error) {
	key := checkoutOf(e.Message.Pull, sha)
	dir, inodes := e.Checkouts.take(key)
	if dir == "" {
		if dir, err = os.MkdirTemp(e.Scratch, "lockstep-checkout-*"); err != nil {
			return "", nil, fmt.Errorf("check out %.7s: %w", sha, err)
		}
		u, err := e.Hub.Checkout(ctx, sha, dir)
		if err != nil {
			os.RemoveAll(dir)
			return "", nil, err
		}
		inodes = e.Checkouts.unpacked(dir, u)
	}
	done = sync.OnceFunc(func() {
		jobs.RemoveUnits(dir)
		if !e.Checkouts.put(key, dir, inodes) {
			os.RemoveAll(dir)
		}
	})
	if e.commits == nil {
		e.commits = map[string]string{}
	}
	e.commits[dir] = sha
	if err := e.findUnits(ctx, sha, dir); err != nil {
		done()
		return "", nil, fmt.Errorf("find the units of %.7s: %w", sha, err)
	}
	return dir, done, nil
}

// LastApply returns the last apply to a run's state. If another pull request has made this apply, and is not
// known to be merged, LastApply asks GitHub about it: the webhook about its merge, close or reopening may be
// late or lost.
func (e *Reader) LastApply(ctx context.Context, r runs.Run) (*runs.LastApply, error) {
	l, err := e.Ledger.LastApply(ctx, r)
	if err != nil || l == nil || l.Merged || l.Number == r.Pull.Number {
		return l, err
	}
	other, err := e.Hub.PullRequest(ctx, l.Number)
	absent, err := Absent(ctx, e, err)
	fate := runs.Closed
	switch {
	case err != nil:
		return l, err
	case absent: // it can never be merged
		fate = runs.Merged
	case other.Open:
		fate = runs.StillOpen
	case other.Merged:
		fate = runs.Merged
	}
	if l.WithFate(fate) == *l {
		return l, nil
	}
	if _, err := e.Ledger.Settle(ctx, r, l.Number, fate); err != nil {
		return nil, err
	}
	return e.Ledger.LastApply(ctx, r)
}

// Mutual reports whether two pull requests wait for each other. The pull request of last, the last apply,
// blocks the pull request of this reader. Mutual returns true if it also has a plan that waits for the latter.
func Mutual(ctx context.Context, e *Reader, last *runs.LastApply) (bool, error) {
	here := e.Message.Pull
	if last == nil || last.Settled || last.Number == here.Number {
		return false, nil
	}
	other := here
	other.Number = last.Number
	l, err := e.Ledger.LastLook(ctx, other)
	if err != nil {
		return false, err
	}
	all, err := e.Ledger.Runs(ctx, other)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		if s.Spec.Head != l.Head || s.Phase != runs.Planned || !s.Plan.Applyable {
			continue
		}
		if last, err := e.Ledger.LastApply(ctx, s.Run); err != nil || last != nil && last.Number == here.Number && !last.Settled {
			return err == nil, err
		}
	}
	return false, nil
}
