package demo

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// lockedByObjects returns a backend with local state files that are locked as on S3: the lock is an object
// (here, a file) beside the state, and remains when a process dies. A file lock of the operating system would
// not remain. If unplug is set, the machine loses its power when the next lock is taken.
func lockedByObjects(states executor.BackendFunc, dir string, unplug *atomic.Bool) executor.BackendFunc {
	return func(ctx context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		b, ds := states(ctx, j, s)
		if ds.HasErrors() {
			return nil, ds
		}
		return objectLocks{b, filepath.Join(dir, j.Project+"-"+j.Workspace), unplug}, ds
	}
}

type objectLocks struct {
	statebackend.Backend
	at     string // the path of the state's lock, without its ending
	unplug *atomic.Bool
}

// Open implements statebackend.Backend.
func (o objectLocks) Open(name string) (statebackend.Workspace, error) {
	w, err := o.Backend.Open(name)
	if err != nil {
		return nil, err
	}
	key := o.at + lockfile.Suffix
	return lockedState{w, &lockfile.File{Objects: files{}, Key: key}, key, o.unplug}, nil
}

// A lockedState is a state whose lock is an object beside it.
type lockedState struct {
	statebackend.Workspace
	lock   *lockfile.File
	path   string
	unplug *atomic.Bool
}

// Lock implements statebackend.Locker.
func (s lockedState) Lock(ctx context.Context, info statebackend.LockInfo) (string, error) {
	info.Path = filepath.Base(s.path)
	if err := s.lock.Lock(ctx, info); err != nil {
		return "", err
	}
	if s.unplug.CompareAndSwap(true, false) {
		return "", errors.New("the machine lost its power when it had the lock")
	}
	return info.ID, nil
}

// Unlock implements statebackend.Locker.
func (s lockedState) Unlock(ctx context.Context, id string) error { return s.lock.Unlock(ctx, id) }

// Locks implements statebackend.Locker.
func (s lockedState) Locks(ctx context.Context) ([]statebackend.HeldLock, error) {
	held, err := s.lock.Holder(ctx)
	if err != nil || held == nil {
		return nil, err
	}
	return []statebackend.HeldLock{*held}, nil
}

// files stores lock objects in files.
type files struct{}

// Get implements lockfile.Objects.
func (files) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	data, err = os.ReadFile(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return data, tagOf(data), err
}

func tagOf(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// Put implements lockfile.Objects. These locks have no leases, so an object is never replaced.
func (files) Put(ctx context.Context, key string, data []byte, tag string) (string, error) {
	if tag != "" {
		return "", fmt.Errorf("replace %s: %w", key, errors.ErrUnsupported)
	}
	if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(key, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %w", lockfile.ErrPrecondition, err)
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return tagOf(data), errors.Join(err, f.Close())
}

// Delete implements lockfile.Objects.
func (o files) Delete(ctx context.Context, key, tag string) error {
	_, have, err := o.Get(ctx, key)
	if err == nil && have != tag {
		err = lockfile.ErrPrecondition
	}
	if err != nil {
		return err
	}
	return os.Remove(key)
}
