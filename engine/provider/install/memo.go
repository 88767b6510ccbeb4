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

// A Memo remembers the `h1:` checksums of packages between runs, so that programs are not read again before
// each command. For two programs of 17 MB each, reading took 70 ms of each run; with a memo it takes 0.3 ms.
// Other programs have 800 MB.
//
// It is safe for this reason. A checksum is looked up by a fingerprint over each file of the package:
// absolute path, device, inode, size, mode, and the times of the last change to its content and to its inode.
// Only the kernel sets the last of these times: replacing or editing a file changes it, even if size and
// modification time are put back. A file that was changed in the last seconds is not remembered, since a
// second change within the same tick of the clock would not show (git calls that racily clean).
//
// The remaining risk is a forged memo. Therefore the memo is not in the data directory, which may come with a
// checkout of somebody else's branch. It is in the user's cache directory: an attacker who can write there
// can also replace this program. Without such a directory, every run computes the checksums. A damaged memo
// counts as empty.
type Memo struct {
	path    string // "": it is never saved
	forgets bool
	entries map[string]string // from fingerprint to h1
	changed bool
}

// maxMemo is the largest number of entries. If there are more, all are removed: it is only a cache.
const maxMemo = 500

// racyWindow is a time far longer than the granularity of any file system's clock.
const racyWindow = 3 * time.Second

// NewMemo returns a memo that is only in the memory of this process. With it, the steps of one run compute the
// checksum of each package only once, and need not read the provider programs again.
func NewMemo() *Memo { return &Memo{entries: map[string]string{}} }

// OpenMemo reads the memo in a directory. If cacheDir is "", the memo remembers nothing.
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

// fingerprint identifies the present files of a directory. If steady is false, the fingerprint must not be
// used: the system has not enough metadata, or a file was changed a moment ago, or there are links, whose
// targets the fingerprint does not cover.
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

// identity is the part of a file's metadata that distinguishes the file from a later version of it.
type identity struct {
	device, inode     uint64
	modified, changed int64 // in nanoseconds
}
