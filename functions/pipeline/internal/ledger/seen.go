package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Limits of what is kept of a project: pull requests that are open at the same time each have a plan of it.
const (
	maxSeen      = 10
	maxSeenBytes = 100 << 10 // of one record
)

func seenDir(repo int64) string { return fmt.Sprintf("seen/%d", repo) }

// Saw records what the plan of a run has read beside the project's own files, the last one last. What would be too much is not
// kept: then everything counts that the configuration may read.
func Saw(ctx context.Context, ld Ledger, r runs.Run, s project.Seen) error {
	_, err := ld.Change(ctx, seenDir(r.Pull.Repo.ID)+"/"+r.Target(), func(old []byte) ([]byte, error) {
		all, err := decodeSeen(old)
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && all[n-1].Hash == s.Hash {
			return nil, ErrAsIs
		}
		all = append(slices.DeleteFunc(all, func(x project.Seen) bool { return x.Hash == s.Hash }), s)
		all = all[max(len(all)-maxSeen, 0):]
		for len(all) > 0 && len(pipeline.Encode(all)) > maxSeenBytes {
			all = all[1:]
		}
		return pipeline.Encode(all), nil
	})
	return err
}

// SeenIn returns what plans of a repository's projects have read, by target.
func SeenIn(ctx context.Context, ld Ledger, repo int64) (map[string][]project.Seen, error) {
	list, err := ld.Records.List(ctx, seenDir(repo))
	if err != nil {
		return nil, fmt.Errorf("list what plans have read: %w", err)
	}
	out := map[string][]project.Seen{}
	for _, rec := range list {
		if out[rec.Key[len(seenDir(repo))+1:]], err = decodeSeen(rec.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeSeen(data []byte) (all []project.Seen, err error) {
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read what plans have read: the record is damaged: %w", err)
	}
	return all, nil
}
