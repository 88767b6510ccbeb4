package pagedata

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// RecentLife is how old the lists of [Recent] may be.
const RecentLife = 10 * time.Second

// maxRecent is the maximum size of all lists that a Recent keeps, in bytes.
const maxRecent = 64 << 20

// Recent returns the records all with a cache for lists about a whole repository, such as all its pull requests. A list
// from the cache is at most [RecentLife] old. A repository may have thousands of pull requests and states, and a reader
// opens several pages of it in a row. Records about a single pull request are never from the cache. Nobody may write to
// the result.
func Recent(all pipeline.Records) pipeline.Records {
	return &recent{Records: all, lists: map[string]recentList{}}
}

type recent struct {
	pipeline.Records
	mu    sync.Mutex
	lists map[string]recentList // by directory
	size  int
}

type recentList struct {
	records []pipeline.Record
	at      time.Time
}

// List implements pipeline.Records.
func (r *recent) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	if strings.Count(dir, "/") != 1 {
		return r.Records.List(ctx, dir)
	}
	r.mu.Lock()
	have, ok := r.lists[dir]
	r.mu.Unlock()
	if ok && time.Since(have.at) < RecentLife {
		return have.records, nil
	}
	at := time.Now()
	list, err := r.Records.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, rec := range list {
		size += len(rec.Key) + len(rec.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += size; r.size > maxRecent {
		clear(r.lists)
		r.size = size
	}
	if size <= maxRecent {
		r.lists[dir] = recentList{list, at}
	}
	return list, nil
}
