package lockfile

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// script is a store of one object, in which something happens before each
// request but the first.
type script struct {
	data   []byte // nil: there is no object
	events []func(s *script)
	asked  int
}

func (s *script) next() {
	if s.asked > 0 && s.asked <= len(s.events) {
		s.events[s.asked-1](s)
	}
	s.asked++
}

func (s *script) tag() string { return fmt.Sprintf("%q", s.data) }

func (s *script) Get(context.Context, string) ([]byte, string, error) {
	s.next()
	if s.data == nil {
		return nil, "", nil
	}
	return s.data, s.tag(), nil
}

func (s *script) Put(_ context.Context, _ string, data []byte, tag string) (string, error) {
	s.next()
	if s.data != nil && tag != s.tag() || s.data == nil && tag != "" {
		return "", ErrPrecondition
	}
	s.data = data
	return s.tag(), nil
}

func (s *script) Delete(_ context.Context, _, tag string) error {
	s.next()
	if s.data == nil || s.tag() != tag {
		return ErrPrecondition
	}
	s.data = nil
	return nil
}

var (
	mine   = statebackend.LockInfo{ID: "mine", Who: "me@here"}
	theirs = statebackend.LockInfo{ID: "theirs", Who: "they@there"}
)

func release(s *script)    { s.data = nil }
func takeTheirs(s *script) { s.data = theirs.Marshal() }

func TestLock(t *testing.T) {
	for _, test := range []struct {
		name   string
		data   []byte
		events []func(*script)
		holder string // of a *LockedError; "": success
	}{
		{"free", nil, nil, ""},
		{"held", theirs.Marshal(), nil, "theirs"},
		{"our own echo", mine.Marshal(), nil, ""},
		{"released before we look", theirs.Marshal(), []func(*script){release}, ""},
		{"released before we look, and taken again", theirs.Marshal(), []func(*script){release, takeTheirs}, "theirs"},
	} {
		s := &script{data: test.data, events: test.events}
		err := (&File{Objects: s, Key: "k"}).Lock(t.Context(), mine)
		var locked *statebackend.LockedError
		switch {
		case test.holder == "" && (err != nil || string(s.data) != string(mine.Marshal())):
			t.Errorf("%s: %v, stored %s", test.name, err, s.data)
		case test.holder != "" && (!errors.As(err, &locked) || locked.Info.ID != test.holder):
			t.Errorf("%s: %v, want the lock of %s", test.name, err, test.holder)
		}
	}
}

// A deleted version stays in the way, on some servers.
func TestLockThatCannotBeCreated(t *testing.T) {
	s := &script{}
	err := (&File{Objects: refusing{s}, Key: "k.tflock"}).Lock(t.Context(), mine)
	var locked *statebackend.LockedError
	if err == nil || errors.As(err, &locked) {
		t.Errorf("%v; want an error that names no holder", err)
	}
}

type refusing struct{ *script }

func (refusing) Put(context.Context, string, []byte, string) (string, error) {
	return "", ErrPrecondition
}

// TestHolder is a table of lock objects, and of the holders that they name.
func TestHolder(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		want string // the ID of the holder, "none"
	}{
		{"free", nil, "none"},
		{"held", theirs.Marshal(), "theirs"},
		{"unreadable", []byte("x"), ""},
	} {
		held, err := (&File{Objects: &script{data: test.data}, Key: "k"}).Holder(t.Context())
		got := "none"
		if held != nil {
			got = held.Info.ID
			if held.Kind != statebackend.ObjectLock {
				t.Errorf("%s: a lock of the kind %v", test.name, held.Kind)
			}
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.name, got, test.want, err)
		}
	}
	broken := errors.New("no connection")
	if held, err := (&File{Objects: unreachable{&script{}, broken}, Key: "k"}).Holder(t.Context()); held != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", held, err)
	}
}

type unreachable struct {
	*script
	err error
}

func (u unreachable) Get(context.Context, string) ([]byte, string, error) { return nil, "", u.err }

func TestUnlock(t *testing.T) {
	for _, test := range []struct {
		name   string
		data   []byte
		events []func(*script)
		want   string // "ok", "not locked" or the other holder
		left   []byte
	}{
		{"ours", mine.Marshal(), nil, "ok", nil},
		{"nobody's", nil, nil, "not locked", nil},
		{"theirs", theirs.Marshal(), nil, "theirs", theirs.Marshal()},
		{"unreadable", []byte("x"), nil, "", []byte("x")},
		{"released by another before we delete", mine.Marshal(), []func(*script){release}, "not locked", nil},
		{"passed on before we delete", mine.Marshal(), []func(*script){takeTheirs}, "theirs", theirs.Marshal()},
	} {
		s := &script{data: test.data, events: test.events}
		err := (&File{Objects: s, Key: "k"}).Unlock(t.Context(), mine.ID)
		var mismatch *statebackend.LockMismatchError
		switch {
		case test.want == "ok" && err != nil,
			test.want == "not locked" && !errors.Is(err, statebackend.ErrNotLocked),
			test.want != "ok" && test.want != "not locked" && (!errors.As(err, &mismatch) || mismatch.Held[0].Info.ID != test.want):
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if string(s.data) != string(test.left) {
			t.Errorf("%s: left %s", test.name, s.data)
		}
	}
}
