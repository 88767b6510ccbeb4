package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Memo remembers the `h1:` checksums of packages from one run to the next, so that
// programs are not read again before each command: for two of 17 MB each that took
// 70 ms of each run, and with a memo takes 0.3 ms; others have 800 MB.
//
// Is that safe? A checksum is looked up by a fingerprint over each file of the
// package: absolute path, device, inode, size, mode, and the times of the last change
// to its content and to its inode. The kernel alone sets the latter: exchanging or
// editing a file changes it, even if size and modification time are put back. A file
// that was changed in the last seconds is not remembered, since a second change within
// the clock's tick would not show (git calls that racily clean).
//
// The remaining risk is a forged memo. Therefore it is not in the data directory,
// which may come with a checkout of somebody else's branch, but in the user's cache
// directory: an attacker who can write there can exchange this program as well. Without
// such a directory, every run computes the checksums. A damaged memo counts as empty.
type Memo struct {
	path    string // "": it is never saved
	forgets bool
	entries map[string]string // from fingerprint to h1
	changed bool
}

// maxMemo bounds the entries. When there are more, all are forgotten: it is a cache.
const maxMemo = 500

// racyWindow is far above the granularity of any file system's clock.
const racyWindow = 3 * time.Second

// NewMemo returns a memo in the memory of this process, which is never saved: for the steps of one run, each of which
// would read all programs.
func NewMemo() *Memo { return &Memo{entries: map[string]string{}} }

// OpenMemo reads the memo in a directory. An empty name gives a memo that remembers nothing.
func OpenMemo(cacheDir string) *Memo {
	m := NewMemo()
	if cacheDir == "" {
		m.forgets = true
		return m
	}
	m.path = filepath.Join(cacheDir, "provider-checksums.json")
	if content, err := os.ReadFile(m.path); err == nil {
		if json.Unmarshal(content, &m.entries) != nil || m.entries == nil || len(m.entries) > maxMemo {
			m.entries = map[string]string{}
		}
	}
	return m
}

// hash returns the `h1:` checksum of a directory, from the memo if possible.
func (m *Memo) hash(dir string) (string, error) {
	before, steady := fingerprint(dir)
	if h1, ok := m.entries[before]; ok && steady {
		return h1, nil
	}
	h1, err := hashDir(dir)
	if err != nil || !steady || m.forgets {
		return h1, err
	}
	if after, _ := fingerprint(dir); after == before {
		m.entries[before] = h1
		m.changed = true
	}
	return h1, nil
}

// Save writes the memo if it has new entries.
func (m *Memo) Save() error {
	if !m.changed || m.path == "" {
		return nil
	}
	content, err := json.Marshal(m.entries)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(m.path), ".provider-checksums-") // for its owner only
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), m.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	m.changed = false
	return nil
}

// fingerprint identifies the files of a directory, as they are now. It is not steady,
// and must not be relied upon, if the system does not tell enough, if one of the files
// was changed a moment ago, or if there are links, whose targets it does not cover.
func fingerprint(dir string) (print string, steady bool) {
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	if target, err = filepath.Abs(target); err != nil {
		return "", false
	}
	var b bytes.Buffer
	steady = true
	now := time.Now()
	err = filepath.WalkDir(target, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		id, ok := identify(info)
		recent := max(id.modified, id.changed) > now.Add(-racyWindow).UnixNano()
		regular := info.Mode().IsRegular() || info.IsDir()
		steady = steady && ok && !recent && regular
		_, err = fmt.Fprintf(&b, "%q %d %d %d %d %d %d\n", path, id.device, id.inode, info.Size(), info.Mode(), id.modified, id.changed)
		return err
	})
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), steady && err == nil
}

// identity tells a file from a later version of it: part of its metadata.
type identity struct {
	device, inode     uint64
	modified, changed int64 // in nanoseconds
}
