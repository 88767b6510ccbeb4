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

// conditions is what is known of a server's conditions on writes. A server that ignores them lets two runs
// have one lock, and one run write over the journal of another, without a word. So each process finds out
// before it takes its first lock.
type conditions struct {
	mu     sync.Mutex
	proven bool                     // the server has shown what it does
	unfit  *statebackend.UnfitError // what that is; nil: it keeps conditions

	// looks has writes look at the object before, instead of a condition.
	looks atomic.Bool
}

// conditionsName is the name, in a state's journal, of the object on which the server shows what it does. It
// is nobody's lock, so that no attempt does harm, and it stays: later processes need one request.
const conditionsName = "conditions"

// conditionsText is what is in that object.
const conditionsText = "Lockstep finds out with this object whether the server keeps the conditions of writes.\n"

// noTag is the entity tag of no object.
const noTag = `"00000000000000000000000000000000"`

// prove finds out whether the server keeps the conditions of writes, and returns a *statebackend.UnfitError
// if it does not. The error is statebackend.ErrDenied if the object may not be written. A crash anywhere in
// it leaves the object, or nothing. Amazon S3 is known to keep them.
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

// found remembers what the server does; mu is held.
func (c *conditions) found(unfit *statebackend.UnfitError) { c.proven, c.unfit = true, unfit }

// try returns what the server does with conditions that do not hold; "" if it refuses the writes.
func (o *objects) try(ctx context.Context, key string) (fault, reason string, err error) {
	defer func() {
		if fault != "" { // the next process is to find the same
			_ = o.delete(ctx, key, "")
		}
	}()
	for n := 1; ; n++ {
		_, err := o.write(ctx, key, []byte(conditionsText), ifNoneMatch)
		switch {
		case errors.Is(err, lockfile.ErrPrecondition) && n == 1:
			return "", "", nil // there is one from an earlier process, which has tried the other condition
		case errors.Is(err, lockfile.ErrPrecondition):
			return o.tryMatch(ctx, key)
		case err != nil:
			return o.refuses(ctx, key, "If-None-Match", err)
		case n == 2:
			return "ignores If-None-Match", fmt.Sprintf("It accepted to create s3://%s/%s a second time.", o.bucket, key), nil
		}
	}
}

// tryMatch is try with the condition of those writes that replace an object.
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

// refuses tells a server that does not know a condition from one that refuses the write for another reason,
// such as a setting of encryption: that is the error.
func (o *objects) refuses(ctx context.Context, key, header string, refusal error) (fault, reason string, err error) {
	if s := status(refusal); s != http.StatusNotImplemented && s != http.StatusBadRequest {
		return "", "", refusal
	}
	if _, err := o.write(ctx, key, []byte(conditionsText), ""); err != nil {
		return "", "", refusal
	}
	return "refuses " + header, fmt.Sprintf("It accepts a write without this header, and answers one that has it with: %v.", refusal), nil
}

// unfitWrites is the error of a server without conditions; nil for no fault.
func (o *objects) unfitWrites(fault, reason string) *statebackend.UnfitError {
	if fault == "" {
		return nil
	}
	return &statebackend.UnfitError{Place: o.server(), Fault: fault,
		Reason: reason + " Without conditions on writes two runs can hold the lock at the same time, and write over the journal of each other.",
		Remedy: "Use a server that keeps If-None-Match and If-Match (Amazon S3, versitygw, gofakes3 and rclone since 1.76 do), or set dynamodb_table, without use_lockfile: its lock needs no conditions of the server. With -lock=false Lockstep works without a lock: see to it that nobody else writes the state then.",
	}
}

// CheckConditions implements statebackend.Conditional.
func (w *workspace) CheckConditions(ctx context.Context) error {
	err := w.objects.prove(ctx, JournalOf(w.key)+conditionsName)
	if errors.As(err, new(*statebackend.UnfitError)) {
		w.objects.conditions.looks.Store(true)
	}
	return err
}

// prove is the first step of a lock. A server without conditions is an error, unless the lock is in a table:
// then there is no lock object.
func (w *workspace) prove(ctx context.Context) error {
	err := w.objects.prove(ctx, JournalOf(w.key)+conditionsName)
	if errors.Is(err, statebackend.ErrDenied) {
		return nil // the lock object shows it
	}
	return w.withoutConditions(err)
}

// withoutConditions returns the error of a lock on a server without conditions; nil if there is a table.
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

// createLock creates the lock object. Where the server has not shown by then whether it keeps conditions, it
// does so here: whoever may write no object of the journal may still write this one.
func (w *workspace) createLock(ctx context.Context, info statebackend.LockInfo, lease *statebackend.Lease) error {
	c := &w.objects.conditions
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proven || w.objects.amazon {
		return w.createObject(ctx, info, lease)
	}
	if there, err := w.file.Holder(ctx); err != nil {
		return err
	} else if there != nil { // a server that ignores the condition would write over it
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
		return err // the caller releases it
	}
	c.found(w.objects.unfitWrites("ignores If-None-Match", fmt.Sprintf("It accepted to create s3://%s/%s a second time.", w.objects.bucket, w.file.Key)))
	if err := w.file.Unlock(ctx, info.ID); err != nil {
		return err
	}
	return c.unfit
}
