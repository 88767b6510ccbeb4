package evidence

import (
	"slices"
	"sync"
)

// Bases are the commits of base branches that a process read last. Each plan of a push needs the same
// one, for the addresses of all states; reading it costs a checkout and a look at every directory. Commits do
// not change, and base branches are trusted. Its zero value and nil are ready for use; nil remembers nothing.
type Bases struct {
	// Repositories reads the policies of other repositories; nil: nobody can.
	Repositories Repositories

	mu  sync.Mutex
	all []knownBase // the last used one last
	// others are directories of other repositories' commits, by a text with all that distinguishes them.
	others map[string]map[string][]byte
}

// maxBases is the maximum number of them: a process handles messages of few repositories at a time.
const maxBases = 8

type knownBase struct {
	repo int64
	sha  string
	base base
}

func (b *Bases) get(repo int64, sha string) (base, bool) {
	if b == nil {
		return base{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.all, func(k knownBase) bool { return k.repo == repo && k.sha == sha })
	if i < 0 {
		return base{}, false
	}
	k := b.all[i]
	b.all = append(slices.Delete(b.all, i, i+1), k)
	return k.base, true
}

func (b *Bases) put(repo int64, sha string, known base) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(k knownBase) bool { return k.repo == repo && k.sha == sha })
	if b.all = append(b.all, knownBase{repo, sha, known}); len(b.all) > maxBases {
		b.all = slices.Delete(b.all, 0, 1)
	}
}

// other returns a directory of another repository, if it is known.
func (b *Bases) other(key string) (map[string][]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	files, ok := b.others[key]
	return files, ok
}

// keep keeps one. They are small, and few: when there are too many, all are forgotten.
func (b *Bases) keep(key string, files map[string][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil || len(b.others) == maxBases {
		b.others = map[string]map[string][]byte{}
	}
	b.others[key] = files
}
