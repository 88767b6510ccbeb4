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

// maxReads is the maximum number of lists of files that are kept for a project, and maxReadsBytes their maximum
// size. Each of several open pull requests may have a plan of the project.
const (
	maxReads      = 10
	maxReadsBytes = 100 << 10 // in one record
)

func readsDir(repo int64) string { return fmt.Sprintf("seen/%d", repo) }

// PutReads records the list of files that the plan of a run has read in addition to the project's own files.
// The newest list is the last in the record. If there are too many files, the list is not kept. Then all
// files that the configuration may read count as read.
func PutReads(ctx context.Context, ld Ledger, r runs.Run, s project.FilesRead) error {
	_, err := ld.Change(ctx, readsDir(r.Pull.Repo.ID)+"/"+r.Target(), func(old []byte) ([]byte, error) {
		all, err := decodeReads(old)
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && all[n-1].Hash == s.Hash {
			return nil, ErrAsIs
		}
		all = append(slices.DeleteFunc(all, func(x project.FilesRead) bool { return x.Hash == s.Hash }), s)
		all = all[max(len(all)-maxReads, 0):]
		for len(all) > 0 && len(pipeline.Encode(all)) > maxReadsBytes {
			all = all[1:]
		}
		return pipeline.Encode(all), nil
	})
	return err
}

// ReadsIn returns the files that plans of a repository's projects have read, by target.
func ReadsIn(ctx context.Context, ld Ledger, repo int64) (map[string][]project.FilesRead, error) {
	list, err := ld.Records.List(ctx, readsDir(repo))
	if err != nil {
		return nil, fmt.Errorf("list what plans have read: %w", err)
	}
	out := map[string][]project.FilesRead{}
	for _, rec := range list {
		if out[rec.Key[len(readsDir(repo))+1:]], err = decodeReads(rec.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeReads(data []byte) (all []project.FilesRead, err error) {
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read what plans have read: the record is damaged: %w", err)
	}
	return all, nil
}
