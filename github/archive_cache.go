package github

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

const (
	// maxKeptArchive is the length of the longest archive that is kept, and maxKeptArchives of all of them, in bytes.
	maxKeptArchive  = 8 << 20
	maxKeptArchives = 24 << 20
)

// An archiveCache has the tarballs of the commits that were checked out last. Many projects of a push are
// planned from the same two commits, and a commit does not change. They are in the memory of one process: a
// program of another pull request could exchange a file.
type archiveCache struct {
	mu   sync.Mutex
	all  []cachedArchive // the last used one last
	size int
}

type cachedArchive struct {
	key  archiveKey
	data []byte
}

// An archiveKey is a commit as a token of a scope sees it.
type archiveKey struct {
	scope tokenScope
	sha   string
}

// Get returns the tarball of a commit, nil if it is not kept.
func (a *archiveCache) Get(scope tokenScope, sha string) []byte {
	k := archiveKey{scope, sha}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.all, func(t cachedArchive) bool { return t.key == k })
	if i < 0 {
		return nil
	}
	t := a.all[i]
	a.all = append(slices.Delete(a.all, i, i+1), t)
	return t.data
}

// Put stores a tarball, and drops those that were not used for the longest time. A tarball that is too long is
// not stored.
func (a *archiveCache) Put(scope tokenScope, sha string, data []byte) {
	k := archiveKey{scope, sha}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(data) > maxKeptArchive || slices.ContainsFunc(a.all, func(t cachedArchive) bool { return t.key == k }) {
		return
	}
	a.all = append(a.all, cachedArchive{k, data})
	for a.size += len(data); a.size > maxKeptArchives; a.all = a.all[1:] {
		a.size -= len(a.all[0].data)
		a.all[0] = cachedArchive{} // its bytes are free
	}
}

// A keepingReader keeps the bytes that are read from an archive, up to a length.
type keepingReader struct {
	io.Reader
	Max  int
	data bytes.Buffer
}

// Read implements io.Reader.
func (k *keepingReader) Read(p []byte) (int, error) {
	n, err := k.Reader.Read(p)
	if k.data.Len() <= k.Max {
		k.data.Write(p[:n])
	}
	return n, err
}

// All reads the rest and returns the whole archive; nil if it is longer than Max, or cannot be read completely.
func (k *keepingReader) All() []byte {
	_, err := io.CopyN(io.Discard, k, max(0, int64(k.Max+1-k.data.Len())))
	if err != io.EOF || k.data.Len() > k.Max {
		return nil
	}
	return k.data.Bytes()
}
