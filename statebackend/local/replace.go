package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// torn is the first byte of a state file while it is being rewritten. No state begins with it, so nobody can
// mistake a half-written file for a state.
const torn = 0

// replace rewrites an open state file with new bytes. At each moment the complete old state or the complete
// new state can be read from the disk. The caller holds the guard.
//
// replace first writes the new bytes, after a line with their hash, to a sibling file. It then reserves the
// space for them in the state file. Only after that does it change the state file, which carries the mark
// [torn] from the first change to the last. Each step is on the disk (fsync) before the next one begins.
func (w *workspace) replace(f *os.File, path string, data []byte) error {
	// If the disk is full, this step fails, and the state file is unchanged. A crash here leaves a sibling
	// that does not match its hash; the next writer removes it.
	err := w.step("sibling", func() error { return writeSibling(f, path, data) })
	if err == nil {
		// If the disk is full, this step may fail as well, and the state file is then unchanged. (If space
		// cannot be reserved, a later step may fail, with the effect of a crash.) A crash from here on leaves a
		// complete sibling beside the complete old state. Nobody was told that the new state is stored, so the
		// next writer removes the sibling.
		err = w.step("reserve", func() error { return reserve(f, int64(len(data))) })
	}
	if err != nil {
		if !errors.Is(err, errStopped) {
			os.Remove(siblingOf(path))
		}
		return err
	}
	return w.rewrite(f, path, data)
}

// rewrite is the second half of replace, after all of data is in the sibling.
func (w *workspace) rewrite(f *os.File, path string, data []byte) error {
	// A crash from here on leaves a state file with the mark, and a complete sibling. Readers read the
	// sibling, and the next writer repeats the rewrite from here.
	err := w.step("mark", func() error { return writeAt(f, []byte{torn}, 0) })
	if err == nil {
		err = w.step("body", func() error {
			return errors.Join(writeAt(f, data[1:], 1), f.Truncate(int64(len(data))), f.Sync())
		})
	}
	if err == nil {
		err = w.step("unmark", func() error { return writeAt(f, data[:1], 0) })
	}
	if err != nil {
		return fmt.Errorf("%w (the whole of the new state is in %s)", err, siblingOf(path))
	}
	// A crash here leaves the new state, and a sibling that the next writer removes. An error of the removal
	// has the same effect, so it is ignored.
	if err := w.step("forget", func() error { return os.Remove(siblingOf(path)) }); errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// step runs one step, unless a test stops the process before it.
func (w *workspace) step(name string, do func() error) error {
	if w.dies != nil && w.dies(name) {
		return errStopped
	}
	return do()
}

// errStopped reports that a test simulates a death of the process: nothing is cleaned up.
var errStopped = errors.New("stopped by a test")

// heal completes the write of a writer that died. If the file begins with the mark [torn], heal writes the
// new state from the sibling file into it. Otherwise it only removes the sibling, if there is one. The
// caller holds the guard or the lock.
func (w *workspace) heal(f *os.File, path string) error {
	var first [1]byte
	if n, _ := f.ReadAt(first[:], 0); n == 0 || first[0] != torn {
		err := os.Remove(siblingOf(path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the temporary file of an earlier write: %w", err)
		}
		return nil
	}
	data, err := readSibling(path)
	if err != nil {
		return err
	}
	if err := w.rewrite(f, path, data); err != nil {
		return fmt.Errorf("complete an interrupted write of the state: %w", err)
	}
	return nil
}

// siblingOf returns the path of the file with the new state. It is named as Terraform names the lock's
// description: .terraform.tfstate.next.
func siblingOf(path string) string { return hidden(path, "next") }

func hidden(path, suffix string) string {
	dir, name := filepath.Split(path)
	if name != "" && name[0] == '.' {
		name = name[1:]
	}
	return dir + "." + name + "." + suffix
}

// The sibling is a line with the SHA-256 of the rest, and the rest.

func writeSibling(f *os.File, path string, data []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	s, err := os.OpenFile(siblingOf(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = s.WriteString(hex.EncodeToString(sum[:]) + "\n")
	if err == nil {
		_, err = s.Write(data)
	}
	if err == nil {
		err = s.Sync()
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path)) // the name of the sibling, and of the state file if that is new
}

func readSibling(path string) ([]byte, error) {
	name := siblingOf(path)
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s was left half-written, and the whole state that was to be in it cannot be read: %w", path, err)
	}
	want, data, _ := bytes.Cut(content, []byte("\n"))
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != string(want) {
		return nil, fmt.Errorf("%s was left half-written, and %s is damaged", path, name)
	}
	return data, nil
}

// writeAt writes b and waits until b is on the disk.
func writeAt(f *os.File, b []byte, offset int64) error {
	if _, err := f.WriteAt(b, offset); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes new and removed names in a directory durable. On file systems that cannot do this, it has no
// effect.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	d.Sync()
	return d.Close()
}
