package gatefacts

import (
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// Bases caches what a process has read of commits: of base branches, and the projects at commits of pull
// requests. All plans of a push need the same commits, for the addresses of all states. To read a commit,
// Lockstep must check it out and look at every directory.
//
// The cache is safe, because a commit never changes. The author of a commit decides only which projects are
// found in it. The zero value and nil are ready for use; nil caches nothing.
type Bases struct {
	// Repositories reads policies that are in other repositories. If it is nil, such policies are errors.
	Repositories Repositories

	mu    sync.Mutex
	all   latest[base]
	heads latest[jobs.Discovered]
	// found has the units of commits. The key identifies repository, commit and the terragrunt block.
	found map[string]jobs.Units
	// others caches directories of commits in other repositories. The key identifies repository, commit and
	// directory.
	others map[string]map[string][]byte
}

// maxBases is the maximum number of values of each kind in the cache. A process handles messages of only a few
// repositories and pull requests at the same time.
const maxBases = 8

// commit identifies a commit of a repository.
type commit struct {
	repo int64
	sha  string
}

// latest has cached values for the commits that were requested last. The newest is at the end.
type latest[T any] []known[T]

type known[T any] struct {
	commit
	of T
}

func (l *latest[T]) get(c commit) (of T, ok bool) {
	i := slices.IndexFunc(*l, func(k known[T]) bool { return k.commit == c })
	if i < 0 {
		return of, false
	}
	k := (*l)[i]
	*l = append(slices.Delete(*l, i, i+1), k)
	return k.of, true
}

func (l *latest[T]) put(c commit, of T) {
	*l = slices.DeleteFunc(*l, func(k known[T]) bool { return k.commit == c })
	if *l = append(*l, known[T]{c, of}); len(*l) > maxBases {
		*l = slices.Delete(*l, 0, 1)
	}
}

func (b *Bases) get(repo int64, sha string) (base, bool) {
	if b == nil {
		return base{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.get(commit{repo, sha})
}

func (b *Bases) put(repo int64, sha string, of base) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.put(commit{repo, sha}, of)
}

// head returns the projects at a commit of a pull request. It returns false if they are not cached.
func (b *Bases) head(repo int64, sha string) (jobs.Discovered, bool) {
	if b == nil {
		return jobs.Discovered{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heads.get(commit{repo, sha})
}

func (b *Bases) putHead(repo int64, sha string, found jobs.Discovered) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heads.put(commit{repo, sha}, found)
}

// otherDirectory returns a directory of another repository from the cache. It returns false if the cache does
// not have it.
func (b *Bases) otherDirectory(key string) (map[string][]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	files, ok := b.others[key]
	return files, ok
}

// keepDirectory caches a directory of another repository. If the cache has too many directories, it is emptied
// before.
func (b *Bases) keepDirectory(key string, files map[string][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil || len(b.others) == maxBases {
		b.others = map[string]map[string][]byte{}
	}
	b.others[key] = files
}
