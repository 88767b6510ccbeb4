package statebackendtest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// sidecarTests test [statebackend.Sidecar]. For a backend that keeps none, they test that it says so.
var sidecarTests = []contractTest{
	{"nothing is there at first", func(t *testing.T, s Suite) {
		w, _ := s.open(t)
		mustPut(t, w, `{"serial":1}`, "")
		if data, err := statebackend.ReadSidecar(t.Context(), w); data != nil || unsupported(t, w, err) != nil {
			t.Errorf("%q, %v", data, err)
		}
	}},
	{"another process reads the last write, and any bytes", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		mustPut(t, mine, `{"serial":1}`, "")
		for _, data := range [][]byte{[]byte("one"), []byte("two\x00\xff\n"), bytes.Repeat([]byte("three\n"), 1e5)} {
			if sidecarOf(t, mine, data) == nil {
				return
			}
			if got := sidecarOf(t, theirs, nil); !bytes.Equal(got, data) {
				t.Errorf("%d bytes were read, want %d", len(got), len(data))
			}
		}
		if got := mustGet(t, mine); string(got.Bytes) != `{"serial":1}` {
			t.Errorf("the state is now %q", got.Bytes)
		}
	}},
	{"each workspace has its own, and it goes with it", func(t *testing.T, s Suite) {
		b := s.Open(t)
		one, two := openWorkspace(t, b, "one"), openWorkspace(t, b, "two")
		v := mustPut(t, one, `{"w":1}`, "")
		mustPut(t, two, `{"w":2}`, "")
		if sidecarOf(t, one, []byte("of one")) == nil {
			return
		}
		sidecarOf(t, two, []byte("of two"))
		wantWorkspaces(t, b, "default", "one", "two")
		if err := b.DeleteWorkspace(t.Context(), "one", v); err != nil {
			t.Fatal(err)
		}
		mustPut(t, openWorkspace(t, b, "one"), `{"w":3}`, "")
		if data := sidecarOf(t, openWorkspace(t, b, "one"), nil); data != nil {
			t.Errorf("after the deletion: %q", data)
		}
		if data := sidecarOf(t, openWorkspace(t, b, "two"), nil); string(data) != "of two" {
			t.Errorf("of the other: %q", data)
		}
	}},
	{"a context that has ended writes nothing", func(t *testing.T, s Suite) {
		w, _ := s.open(t)
		mustPut(t, w, `{"serial":1}`, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := statebackend.WriteSidecar(ctx, w, []byte("late")); err == nil {
			t.Error("no error")
		}
		if data, _ := statebackend.ReadSidecar(t.Context(), w); data != nil {
			t.Errorf("%q", data)
		}
	}},
}

// sidecarOf writes the data, or reads what is there if data is nil. It returns nil for a backend that keeps no
// sidecars.
func sidecarOf(t *testing.T, w statebackend.Workspace, data []byte) []byte {
	t.Helper()
	var err error
	if data == nil {
		data, err = statebackend.ReadSidecar(t.Context(), w)
	} else if err = statebackend.WriteSidecar(t.Context(), w, data); errors.Is(err, errors.ErrUnsupported) {
		data = nil
	}
	if err = unsupported(t, w, err); err != nil {
		t.Fatal(err)
	}
	return data
}

// unsupported returns err, or nil if it says that the backend keeps no sidecars.
func unsupported(t *testing.T, w statebackend.Workspace, err error) error {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := statebackend.WriteSidecar(t.Context(), w, []byte("x")); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("nothing is read, but it is written: %v", err)
	}
	return nil
}
