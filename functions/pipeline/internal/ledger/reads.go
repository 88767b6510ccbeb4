package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// maxReads is the maximum number of lists of files that are recorded for a project, because several open pull
// requests may have plans of it. maxReadsBytes is the maximum size of these lists.
const (
	maxReads      = 10
	maxReadsBytes = 100 << 10 // in one record
)

func readsDir(repo int64) string { return fmt.Sprintf("seen/%d", repo) }

// PutReads records which files the plan of a run has read, besides the project's own files. The newest list is
// the last in the record. If there are too many files, the list is not recorded. Every file that the
// configuration can read then counts as read.
func PutReads(ctx context.Context, ld Ledger, r runs.Run, s project.FilesRead) error {
	return Edit(ctx, ld, readsDir(r.Pull.Repo.ID)+"/"+r.Target(), func(have *[]project.FilesRead) *[]project.FilesRead {
		var all []project.FilesRead
		if have != nil {
			all = *have
		}
		if n := len(all); n > 0 && all[n-1].Hash == s.Hash {
			return nil
		}
		all = append(slices.DeleteFunc(all, func(x project.FilesRead) bool { return x.Hash == s.Hash }), s)
		all = all[max(len(all)-maxReads, 0):]
		for len(all) > 0 && len(pipeline.Encode(all)) > maxReadsBytes {
			all = all[1:]
		}
		return &all
	})
}

// ReadsIn returns the files that plans of a repository's projects have read, by target.
func ReadsIn(ctx context.Context, ld Ledger, repo int64) (map[string][]project.FilesRead, error) {
	list, err := ld.Records.List(ctx, readsDir(repo))
	if err != nil {
		return nil, fmt.Errorf("list what plans have read: %w", err)
	}
	out := map[string][]project.FilesRead{}
	for _, rec := range list {
		all, err := decode[[]project.FilesRead](rec)
		if err != nil {
			return nil, err
		}
		if all != nil {
			out[rec.Key[len(readsDir(repo))+1:]] = *all
		}
	}
	return out, nil
}
