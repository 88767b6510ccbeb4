package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// workspace is the state of one workspace. It implements statebackend.Workspace.
type workspace struct {
	dir    string // the directory that relative paths start from
	read   string // the file to read until the first write
	out    string // the file to write, to lock, and to read after the first write
	backup string // the file for the bytes that the first write replaces, or ""

	mu       sync.Mutex
	held     *heldLock // nil: this value holds no lock
	written  bool      // out was written: read is no longer used
	backedUp bool

	dies func(step string) bool // a test's hook: see replace.go
}

// Place returns the path of the file that has the present state.
func (w *workspace) Place() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.written {
		return w.at(w.out)
	}
	return w.at(w.read)
}

// Get reads the file. It takes no lock. It holds the guard, which Lockstep's writers hold while they rewrite
// the file, so it does not see half of a write. (Stock tools rewrite the file without a guard.)
func (w *workspace) Get(ctx context.Context) (statebackend.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return statebackend.Snapshot{}, err
	}
	var held *os.File
	if w.held != nil {
		held = w.held.file
	}
	data, err := w.current(ctx, held)
	if err != nil {
		return statebackend.Snapshot{}, err
	}
	return statebackend.Snapshot{Bytes: data, Version: versionOf(data)}, nil
}

// current reads the present state; nil if there is none. out is the file to write, if it is open: see
// [workspace.visit].
func (w *workspace) current(ctx context.Context, out *os.File) (data []byte, err error) {
	err = w.visit(ctx, out, func(f *os.File, path string) error {
		data, err = readState(f, path)
		return err
	})
	return data, err
}

// stored returns the version of the present state, without reading all of it into memory.
func (w *workspace) stored(ctx context.Context, out *os.File) (v statebackend.Version, err error) {
	err = w.visit(ctx, out, func(f *os.File, path string) error {
		v, err = versionIn(f, path)
		return err
	})
	return v, err
}

// visit calls the function read with the file that has the present state. If there is no such file, it does not
// call read. out is the file to write, if it is open and guarded, or nil. If the present state is in this file,
// visit passes out to read, and opens no file.
func (w *workspace) visit(ctx context.Context, out *os.File, read func(f *os.File, path string) error) error {
	path := w.read
	if w.written {
		path = w.out
	}
	if out != nil && path == w.out {
		return read(out, w.at(path))
	}
	f, err := os.Open(w.at(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	defer f.Close()
	release, err := guard(ctx, f, shared, readerPatience)
	if err != nil {
		return err
	}
	defer release()
	return read(f, w.at(path))
}

// readState reads all of an open state file; nil if it is empty. If the file was left half-written, readState
// reads its sibling.
func readState(f *os.File, path string) ([]byte, error) {
	content, size, err := contentOf(f, path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(size, maxGuess)) + bytes.MinRead) // so that the buffer never grows
	if _, err := b.ReadFrom(content); err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	data := b.Bytes()
	if len(data) == 0 {
		return nil, nil
	}
	if data[0] == torn {
		return readSibling(path)
	}
	return data, nil
}

// maxGuess is the largest file size for which all memory is allocated before reading.
const maxGuess = 1 << 30

// versionIn returns the version of the state that readState would read from the file.
func versionIn(f *os.File, path string) (statebackend.Version, error) {
	content, _, err := contentOf(f, path)
	if err != nil {
		return "", err
	}
	var first [1]byte
	n, err := io.ReadFull(content, first[:])
	switch {
	case n == 0 && err == io.EOF:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read state: %w", err)
	case first[0] == torn:
		data, err := readSibling(path)
		return versionOf(data), err
	}
	h := sha256.New()
	h.Write(first[:])
	if _, err := io.Copy(h, content); err != nil {
		return "", fmt.Errorf("read state: %w", err)
	}
	return statebackend.Version(hex.EncodeToString(h.Sum(nil))), nil
}

// contentOf returns a reader of the whole open file, and the file's present size.
func contentOf(f *os.File, path string) (io.Reader, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read state: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("read state: %s is not a file", path)
	}
	return io.NewSectionReader(f, 0, 1<<62), info.Size(), nil
}

// versionOf returns a hash of the content. So a file that gets its earlier bytes back has its earlier
// version. The file's times are not reliable enough.
func versionOf(data []byte) statebackend.Version {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return statebackend.Version(hex.EncodeToString(sum[:]))
}

// Put rewrites the file if it still has the version prev. The lock, if held, excludes the stock tools. The
// guard makes the comparison and the write one step among Lockstep's processes, even with -lock=false. If
// the guard stays busy, a holder of the lock writes without it.
func (w *workspace) Put(ctx context.Context, data []byte, prev statebackend.Version) (statebackend.Version, error) {
	if len(data) == 0 {
		panic("local: Put of an empty state")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, release, err := w.openToWrite(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	// An earlier writer may have died in the middle.
	if err := w.heal(f, w.at(w.out)); err != nil {
		return "", err
	}
	found, err := w.stored(ctx, f)
	if err != nil {
		return "", err
	}
	next := versionOf(data)
	if found == next && (w.written || w.read == w.out) {
		return next, nil // stored by our own earlier attempt, or nothing to change
	}
	if found != prev {
		return "", &statebackend.ConflictError{Path: w.out, Want: prev, Found: found}
	}
	// A crash from here on leaves a backup that equals the state.
	if err := w.backUp(f); err != nil {
		return "", err
	}
	if err := w.replace(f, w.at(w.out), data); err != nil {
		return "", fmt.Errorf("write state: %w", err)
	}
	w.written, w.backedUp = true, true // states of this run need no backup
	return next, nil
}

// openToWrite returns the state file, open for writing, and takes its [guard]. If this workspace holds the lock of the
// state, it returns the file that the lock has open. The caller must call the returned function at the end.
func (w *workspace) openToWrite(ctx context.Context) (*os.File, func(), error) {
	path := w.at(w.out)
	if w.held != nil {
		if !sameFile(w.held.file, path) {
			return nil, nil, &statebackend.LockLostError{Path: w.out, ID: w.held.info.ID}
		}
		release, err := guard(ctx, w.held.file, exclusive, holderPatience)
		if errors.Is(err, errBusy) {
			release, err = func() {}, nil // the lock itself is enough
		}
		return w.held.file, release, err
	}
	for {
		f, created, err := create(path)
		if err != nil {
			return nil, nil, fmt.Errorf("write state: %w", err)
		}
		release, err := guard(ctx, f, exclusive, writerPatience)
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		if sameFile(f, path) {
			return f, func() {
				if created {
					removeEmpty(f, path)
				}
				release()
				f.Close()
			}, nil
		}
		// The file was created by the previous holder of the guard, who has removed it again.
		release()
		f.Close()
	}
}

// backUp saves the present state as the backup, once in the life of this value.
func (w *workspace) backUp(f *os.File) error {
	if w.backup == "" || w.backedUp {
		return nil
	}
	old, err := readState(f, w.at(w.out))
	if err != nil || old == nil {
		return err
	}
	if err := writeWhole(w.at(w.backup), old); err != nil {
		return fmt.Errorf("write state backup: %w", err)
	}
	w.backedUp = true
	return nil
}

// writeWhole replaces a file that nobody locks: it writes a new file in the same directory, and renames it to
// path. If path is a device, as with -backup=/dev/null, it writes to the device directly.
func writeWhole(path string, data []byte) error { return writeWholeAs(path, data, 0o666) }

// writeWholeAs is [writeWhole] with the permissions of a new file.
func writeWholeAs(path string, data []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, mode)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the file is replaced, not the link
	}
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// create opens the state file. If there is none, it creates an empty file, which is no state, and returns
// created true.
func create(path string) (f *os.File, created bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, err
	}
	_, err = os.Stat(path)
	created = errors.Is(err, fs.ErrNotExist)
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	return f, created, err
}

// removeEmpty removes the state file if nothing was written to it.
func removeEmpty(f *os.File, path string) {
	if info, err := f.Stat(); err == nil && info.Size() == 0 && sameFile(f, path) {
		os.Remove(path)
	}
}

// sameFile reports whether the path still names the open file.
func sameFile(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func (w *workspace) at(path string) string { return at(w.dir, path) }
