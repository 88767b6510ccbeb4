package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/lockfile"
)

// conditions remembers whether a server obeys the conditions of writes. A server that ignores them lets two
// runs have one lock, and lets one run overwrite the journal of another, without an error. So each process
// finds out before it takes its first lock.
type conditions struct {
	mu     sync.Mutex
	proven bool                     // the server's behaviour is known
	unfit  *statebackend.UnfitError // the error if the server ignores conditions; nil: it obeys them

	// looks makes each write first read the object to compare it, instead of sending a condition to the server.
	looks atomic.Bool
}

// conditionsName is the name of a test object in a state's journal. Writes of this object show whether the
// server obeys conditions. It is not a lock, so the attempts do no harm. The object stays, so later processes
// need only one request.
const conditionsName = "conditions"

// conditionsText is the content of the test object [conditionsName].
const conditionsText = "Lockstep finds out with this object whether the server keeps the conditions of writes.\n"

// noTag is an entity tag that no object has.
const noTag = `"00000000000000000000000000000000"`

// prove finds out whether the server obeys the conditions of writes. If not, the error is a
// *statebackend.UnfitError. If the test object may not be written, the error is statebackend.ErrDenied. A crash
// in prove leaves the object, or nothing. For Amazon S3, which obeys conditions, prove makes no request.
func (o *objects) prove(ctx context.Context, key string) error {
	c := &o.conditions
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.proven && !o.amazon {
		fault, reason, err := o.try(ctx, key)
		if err != nil {
			return err
		}
		c.found(o.unfitWrites(fault, reason))
	}
	if c.unfit == nil {
		return nil
	}
	return c.unfit
}

// found remembers whether the server obeys conditions: it does if unfit is nil. The caller holds mu.
func (c *conditions) found(unfit *statebackend.UnfitError) { c.proven, c.unfit = true, unfit }

// try writes the object with conditions that are false. fault says how the server treats them; "" means that
// it refuses the writes, as it should.
func (o *objects) try(ctx context.Context, key string) (fault, reason string, err error) {
	defer func() {
		if fault != "" { // remove the object, so that the next process finds the same fault
			_ = o.delete(ctx, key, "")
		}
	}()
	for n := 1; ; n++ {
		_, err := o.write(ctx, key, []byte(conditionsText), ifNoneMatch)
		switch {
		case errors.Is(err, lockfile.ErrPrecondition) && n == 1:
			return "", "", nil // the object is from an earlier process, which has tested the other condition
		case errors.Is(err, lockfile.ErrPrecondition):
			return o.tryMatch(ctx, key)
		case err != nil:
			return o.refuses(ctx, key, "If-None-Match", err)
		case n == 2:
			return "ignores If-None-Match", fmt.Sprintf("It accepted to create s3://%s/%s a second time.", o.bucket, key), nil
		}
	}
}

// tryMatch does the same as try, with the condition for replacing an object: If-Match.
func (o *objects) tryMatch(ctx context.Context, key string) (fault, reason string, err error) {
	_, err = o.write(ctx, key, []byte(conditionsText), noTag)
	switch {
	case errors.Is(err, lockfile.ErrPrecondition):
		return "", "", nil
	case err != nil:
		return o.refuses(ctx, key, "If-Match", err)
	}
	return "ignores If-Match", fmt.Sprintf("It accepted to replace s3://%s/%s on condition of an entity tag that the object does not have.", o.bucket, key), nil
}

// refuses finds out why the server refused a write with a condition. If the server accepts the write without
// the condition, fault says so. Otherwise there is another reason, such as a setting of encryption, and
// refuses returns refusal as the error.
func (o *objects) refuses(ctx context.Context, key, header string, refusal error) (fault, reason string, err error) {
	if s := status(refusal); s != http.StatusNotImplemented && s != http.StatusBadRequest {
		return "", "", refusal
	}
	if _, err := o.write(ctx, key, []byte(conditionsText), ""); err != nil {
		return "", "", refusal
	}
	return "refuses " + header, fmt.Sprintf("It accepts a write without this header, and answers one that has it with: %v.", refusal), nil
}

// unfitWrites returns the error for a server without conditions; nil if fault is "".
func (o *objects) unfitWrites(fault, reason string) *statebackend.UnfitError {
	if fault == "" {
		return nil
	}
	return &statebackend.UnfitError{Place: o.server(), Fault: fault,
		Reason: reason + " Without conditions on writes two runs can hold the lock at the same time, and write over the journal of each other.",
		Remedy: "Use a server that keeps If-None-Match and If-Match (Amazon S3, versitygw, gofakes3 and rclone since 1.76 do), or set dynamodb_table, without use_lockfile: its lock needs no conditions of the server. With -lock=false Lockstep works without a lock: see to it that nobody else writes the state then.",
	}
}

// CheckConditions implements statebackend.Conditional: it finds out whether the server obeys the conditions
// of writes.
func (w *workspace) CheckConditions(ctx context.Context) error {
	err := w.objects.prove(ctx, JournalOf(w.key)+conditionsName)
	if errors.As(err, new(*statebackend.UnfitError)) {
		w.objects.conditions.looks.Store(true)
	}
	return err
}

// prove is the first step of taking a lock. It returns an error if the server ignores conditions, unless only
// the lock in the table is needed.
func (w *workspace) prove(ctx context.Context) error {
	err := w.objects.prove(ctx, JournalOf(w.key)+conditionsName)
	if errors.Is(err, statebackend.ErrDenied) {
		return nil // creating the lock object finds out
	}
	return w.withoutConditions(err)
}

// withoutConditions returns the error of a lock on a server that ignores conditions. It returns nil, with a
// note, if the block names a table and does not ask for a lock object: then no lock object is used.
func (w *workspace) withoutConditions(err error) error {
	var unfit *statebackend.UnfitError
	if !errors.As(err, &unfit) || w.items == nil || w.useLockfile {
		return err
	}
	if !w.objects.conditions.looks.Swap(true) {
		w.options.Note(fmt.Sprintf("%s %s. The state is protected by the lock in the DynamoDB table %s alone: there is no lock object, so that tools which do not use this table are not kept away", unfit.Place, unfit.Fault, w.items.Table))
	}
	return nil
}

// createLock creates the lock object. If it is not yet known whether the server obeys conditions, createLock
// finds out with the lock object: a role without the permission to write the journal may still write this
// object.
func (w *workspace) createLock(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) error {
	c := &w.objects.conditions
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proven || w.objects.amazon {
		return w.createObject(ctx, info, lease)
	}
	if there, err := w.file.Holder(ctx); err != nil {
		return err
	} else if there != nil { // a server that ignores the condition would replace the object
		return &statebackend.LockedError{HeldLock: *there}
	}
	if err := w.createObject(ctx, info, lease); err != nil {
		return err
	}
	_, err := w.objects.write(ctx, w.file.Key, info.Marshal(), ifNoneMatch)
	switch {
	case errors.Is(err, lockfile.ErrPrecondition):
		c.found(nil)
		return nil
	case err != nil:
		return err // the caller releases the lock
	}
	c.found(w.objects.unfitWrites("ignores If-None-Match", fmt.Sprintf("It accepted to create s3://%s/%s a second time.", w.objects.bucket, w.file.Key)))
	if err := w.file.Unlock(ctx, info.ID); err != nil {
		return err
	}
	return c.unfit
}
