package github

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

const (
	// maxKeptArchive is the size limit of one archive in memory, and maxKeptArchives the limit for all of them,
	// in bytes.
	maxKeptArchive  = 8 << 20
	maxKeptArchives = 24 << 20
)

// An archiveCache stores the tarballs of the most recently used commits. Many projects of a push are planned
// from the same two commits, and a commit does not change. The tarballs are in the memory of one process: on
// disk, the program of another pull request could exchange a file.
type archiveCache struct {
	mu   sync.Mutex
	all  []cachedArchive // the most recently used one last
	size int
}

type cachedArchive struct {
	key  archiveKey
	data []byte
}

// An archiveKey identifies a cached tarball: the commit, and the scope of the token that read it.
type archiveKey struct {
	scope tokenScope
	sha   string
}

// Get returns the tarball of a commit; nil if it is not cached.
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

// Put stores a tarball, and drops the least recently used ones. A tarball that is too long is not stored.
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
		a.all[0] = cachedArchive{} // so that its memory is freed
	}
}

// A keepingReader is a reader of an archive that keeps a copy of the bytes read, up to Max bytes.
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

// All reads the rest of the archive and returns the whole; nil if it is longer than Max or cannot be read.
func (k *keepingReader) All() []byte {
	_, err := io.CopyN(io.Discard, k, max(0, int64(k.Max+1-k.data.Len())))
	if err != io.EOF || k.data.Len() > k.Max {
		return nil
	}
	return k.data.Bytes()
}
