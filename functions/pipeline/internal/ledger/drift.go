package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Drift says what is known about the drift of one project.
type Drift struct {
	// Issue is the number of the issue about it; 0 if there was never one. Open is set while there is drift. Hash is
	// the hash of the issue's text.
	Issue int    `json:",omitempty"`
	Open  bool   `json:",omitempty"`
	Hash  string `json:",omitempty"`
	// Since is the time at which Lockstep first saw the present drift.
	Since time.Time `json:",omitzero"`
	// Told is set once notifications have reported the present drift.
	Told bool `json:",omitempty"`
	// Failures is how many of the latest looks have failed, one after the other.
	Failures int `json:",omitempty"`
}

// A DriftRound says when drift was last looked for in a repository, and when the next round begins.
type DriftRound struct{ Last, Next time.Time }

// LongestPause is the longest time between two rounds in a repository.
const LongestPause = 6 * time.Hour

// Due reports whether it is time for the next round. A round that is further away than LongestPause was recorded by a clock
// that was ahead, and does not count.
func (r DriftRound) Due(now time.Time) bool {
	return !now.Before(r.Next) || r.Next.Sub(now) > LongestPause
}

func driftKey(p pipeline.Pull, target string) string {
	return fmt.Sprintf("drift/%d/%s", p.Repo.ID, target)
}

// DriftOf returns what is known about the drift of a project of a repository. target is its runs.ID.Target.
func (ld Ledger) DriftOf(ctx context.Context, p pipeline.Pull, target string) (Drift, error) {
	return Get[Drift](ctx, ld, driftKey(p, target))
}

// SaveDrift records the drift of a project.
func (ld Ledger) SaveDrift(ctx context.Context, p pipeline.Pull, target string, d Drift) error {
	return Edit(ctx, ld, driftKey(p, target), func(*Drift) *Drift { return &d })
}

// OpenDrifts returns the targets of a repository with an open issue about drift.
func (ld Ledger) OpenDrifts(ctx context.Context, p pipeline.Pull) (targets []string, err error) {
	dir := fmt.Sprintf("drift/%d", p.Repo.ID)
	list, err := ld.Records.List(ctx, dir)
	for _, rec := range list {
		d, err := decode[Drift](rec)
		if err != nil {
			return nil, err
		}
		if d != nil && d.Open {
			targets = append(targets, strings.TrimPrefix(rec.Key, dir+"/"))
		}
	}
	return targets, err
}

// driftRoundKey is the key of the round of a repository. Every target contains an @, and this key does not.
func driftRoundKey(repo int64) string { return fmt.Sprintf("drift/%d/round", repo) }

// DriftRound returns the last round in a repository.
func (ld Ledger) DriftRound(ctx context.Context, p pipeline.Pull) (DriftRound, error) {
	return Get[DriftRound](ctx, ld, driftRoundKey(p.Repo.ID))
}

// SaveDriftRound records a round.
func (ld Ledger) SaveDriftRound(ctx context.Context, p pipeline.Pull, r DriftRound) error {
	return Edit(ctx, ld, driftRoundKey(p.Repo.ID), func(*DriftRound) *DriftRound { return &r })
}

// PutIssue records that an issue about the project target takes commands. It does nothing if the number is 0.
func (ld Ledger) PutIssue(ctx context.Context, p pipeline.Pull, number int, target string) error {
	if p.Number = number; number == 0 {
		return nil
	}
	return Edit(ctx, ld, pipeline.IssueKey(p), func(*Issue) *Issue { return &Issue{Target: target} })
}

// An Issue is an issue that Lockstep has opened about the project with a target, and that takes commands.
type Issue struct{ Target string }

// IssueOf returns the issue whose number is p.Number. Its target is "" if Lockstep has not opened that issue.
func (ld Ledger) IssueOf(ctx context.Context, p pipeline.Pull) (Issue, error) {
	return Get[Issue](ctx, ld, pipeline.IssueKey(p))
}
