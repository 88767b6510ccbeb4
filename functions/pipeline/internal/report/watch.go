package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// watch writes the record of the watch, as long as plans at a head wait for requirements. It removes the record
// when no plan waits.
func watch(ctx context.Context, rp *Reporter, head string) error {
	if head == "" {
		return nil
	}
	now, are := gatefacts.WatchOf(rp.Facts)
	if !are || now.Head != head {
		return unwatch(ctx, rp, pipeline.Watch{Pull: rp.Facts.Message.Pull, Head: head}.Key())
	}
	_, err := rp.Ledger.Change(ctx, now.Key(), func(old []byte) ([]byte, error) {
		now.Merge = merges(pipeline.Record{Key: now.Key(), Value: old})
		value := pipeline.Encode(now)
		if string(old) == string(value) {
			return nil, ledger.ErrAsIs
		}
		return value, nil
	})
	return err
}

// watchLate lists a merged pull request in [pipeline.LateDir], as long as plans of it wait. It removes the pull
// request from the list when no plan waits.
func watchLate(ctx context.Context, rp *Reporter, head string, all []comment.ProjectStatus) error {
	if !rp.Facts.Pull.Merged {
		return nil
	}
	now, are := gatefacts.WatchOf(rp.Facts)
	if are = are && now.Head == head; !are {
		now = pipeline.Watch{Pull: rp.Facts.Message.Pull, Head: head, At: time.Now().UTC().Truncate(time.Hour)}
	}
	if !are && !slices.ContainsFunc(all, func(p comment.ProjectStatus) bool { return p.Late }) {
		return unwatch(ctx, rp, now.LateKey())
	}
	_, err := rp.Ledger.Change(ctx, now.LateKey(), func(old []byte) ([]byte, error) {
		value := pipeline.Encode(now)
		if string(old) == string(value) {
			return nil, ledger.ErrAsIs
		}
		return value, nil
	})
	return err
}

// merges reports whether a record of a watch is also for a merge. Such a watch is kept as long as the pull
// request has the same head.
func merges(rec pipeline.Record) bool {
	w, err := pipeline.DecodeWatch(rec)
	return err == nil && w.Merge
}

func unwatch(ctx context.Context, rp *Reporter, key string) error {
	rec, err := rp.Ledger.Records.Get(ctx, key)
	if err != nil || rec.Version == "" || merges(rec) {
		return err
	}
	if err = rp.Ledger.Records.Delete(ctx, key, rec.Version); errors.Is(err, pipeline.ErrConflict) {
		err = nil // the process that changed it has decided since
	}
	return err
}
