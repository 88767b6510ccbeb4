// Package localstore stores a pipeline's data in a directory of this machine: the records, artifacts and queues
// of package pipeline's interfaces.
//
//	lockstep.db            records and messages, in a SQLite database
//	artifacts/KEY          an artifact
//	audit/CHAIN/N.json     an audit record
//	states/OWNER/REPO/...  the states of projects, which the engine writes
//
// Only the owner can read the files, because saved plans and states contain secrets. Any number of processes
// may use a directory at the same time, and any of them may die at any moment. Values that were written are not
// lost, and a message that was being handled is delivered again.
//
// This package does not know the meaning of the values. Start reading at [Open]. [Queue.Work] handles
// messages, and [Queue.Drain] handles them until none are left.
package localstore

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = (*Queue)(nil)
	_ pipeline.Chains    = Chains{}
)

// A Dir is a data directory.
type Dir struct {
	Records   Records
	Artifacts Artifacts
	Queue     *Queue
	Chains    Chains
	// States is the directory for states.
	States string
}

// Open returns the data directory at path, and creates it if it does not exist. Its database is opened when it
// is first needed.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	db := &database{path: filepath.Join(path, "lockstep.db")}
	d := &Dir{
		Records:   Records{db},
		Artifacts: Artifacts{filepath.Join(path, "artifacts")},
		Queue:     &Queue{db: db, wake: make(chan struct{}, 1)},
		States:    filepath.Join(path, "states"),
		Chains:    Chains{filepath.Join(path, "audit")},
	}
	for _, dir := range []string{d.Artifacts.dir, d.States} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open data directory: %w", err)
		}
	}
	return d, nil
}

// Close closes the database. Nothing may use the database afterwards.
func (d *Dir) Close() error { return d.Queue.db.close() }
