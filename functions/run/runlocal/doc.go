// Package runlocal keeps what a pipeline has to remember in a directory of this
// machine: records, artifacts and the queue behind package run's interfaces.
//
//	records/KEY/#N         the Nth value of a record, written once and never changed
//	artifacts/KEY          an artifact
//	queue/N                a message that is not handled yet
//	states/OWNER/REPO/...  the states of projects, which the engine's side keeps
//
// All of it is readable by its owner only: saved plans and states hold secrets. The
// package refuses to know what the values mean. Start at [Open].
package runlocal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// A Dir is a data directory. Any number of processes may use its records and
// artifacts; its queue is for one.
type Dir struct {
	Records   Records
	Artifacts Artifacts
	Queue     *Queue
	// States is the directory for states.
	States string
}

// Open returns the data directory at path, making it if it is not there.
func Open(path string) (*Dir, error) {
	d := &Dir{
		Records:   Records{filepath.Join(path, "records")},
		Artifacts: Artifacts{filepath.Join(path, "artifacts")},
		Queue:     &Queue{dir: filepath.Join(path, "queue")},
		States:    filepath.Join(path, "states"),
	}
	for _, dir := range []string{d.Records.dir, d.Artifacts.dir, d.Queue.dir, d.States} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open data directory: %w", err)
		}
	}
	return d, nil
}

// writeNew writes a file that must not be there yet; it appears when it is complete.
// If there is one the error is fs.ErrExist.
func writeNew(path string, data []byte) error {
	return write(path, data, os.Link)
}

// replace writes a file, in the place of one that may be there.
func replace(path string, data []byte) error {
	return write(path, data, os.Rename)
}

func write(path string, data []byte, settle func(from, to string) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return settle(f.Name(), path)
}

// numbers returns the numbers that the files of a directory are named by, with a
// prefix, unsorted. A directory that is not there has none.
func numbers(dir, prefix string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		if name := e.Name(); len(name) > len(prefix) && name[:len(prefix)] == prefix {
			if n, err := strconv.Atoi(name[len(prefix):]); err == nil {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// keyPath returns the file of a key below dir. Keys come from us; one that is no
// clean path is our bug.
func keyPath(dir, key string) string {
	if !fs.ValidPath(key) || key == "." {
		panic(fmt.Sprintf("runlocal: the key %q is not a path", key))
	}
	return filepath.Join(dir, filepath.FromSlash(key))
}
