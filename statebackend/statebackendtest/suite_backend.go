package statebackendtest

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

var backendTests = []contractTest{
	{"default is always there", func(t *testing.T, s Suite) {
		wantWorkspaces(t, s.Open(t), "default")
	}},
	{"workspaces are listed, deleted, and come again", func(t *testing.T, s Suite) {
		b := s.Open(t)
		mustPut(t, openWorkspace(t, b, "default"), `{"w":"default"}`, "")
		v := mustPut(t, openWorkspace(t, b, "staging"), `{"w":"staging"}`, "")
		mustPut(t, openWorkspace(t, b, "a.b-c_d"), `{"w":"a.b-c_d"}`, "")
		wantWorkspaces(t, b, "default", "a.b-c_d", "staging")

		err := b.DeleteWorkspace(t.Context(), "staging", "another version")
		var conflict *statebackend.ConflictError
		if !errors.As(err, &conflict) {
			t.Errorf("DeleteWorkspace of another version: %v; want a conflict", err)
		}
		if err := b.DeleteWorkspace(t.Context(), "staging", v); err != nil {
			t.Fatal(err)
		}
		wantWorkspaces(t, b, "default", "a.b-c_d")
		if got := mustGet(t, openWorkspace(t, b, "staging")); got.Bytes != nil || got.Version != "" {
			t.Errorf("deleted workspace: Get = %q, version %q", got.Bytes, got.Version)
		}
		if err := b.DeleteWorkspace(t.Context(), "staging", v); err != nil {
			t.Errorf("deleting what is gone: %v", err)
		}

		mustPut(t, openWorkspace(t, b, "staging"), `{"w":"again"}`, "")
		wantWorkspaces(t, b, "default", "a.b-c_d", "staging")
	}},
	{"a workspace is deleted under its lock", func(t *testing.T, s Suite) {
		b := s.Open(t)
		w := openWorkspace(t, b, "staging")
		id := mustLock(t, w)
		v := mustPut(t, w, `{"serial":1}`, "")
		if err := b.DeleteWorkspace(t.Context(), "staging", v); err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, w, id)
		wantWorkspaces(t, b, "default")
	}},
	{"default cannot be deleted", func(t *testing.T, s Suite) {
		b := s.Open(t)
		v := mustPut(t, openWorkspace(t, b, "default"), `{"serial":1}`, "")
		if err := b.DeleteWorkspace(t.Context(), "default", v); err == nil {
			t.Error("no error")
		}
		if got := mustGet(t, openWorkspace(t, b, "default")); got.Version != v {
			t.Error("it is gone")
		}
	}},
	{"workspaces have nothing in common", func(t *testing.T, s Suite) {
		b := s.Open(t)
		one, two := openWorkspace(t, b, "one"), openWorkspace(t, b, "two")
		id1, id2 := mustLock(t, one), mustLock(t, two)
		mustPut(t, one, `{"w":"one"}`, "")
		mustPut(t, two, `{"w":"two"}`, "")
		if got := mustGet(t, one); string(got.Bytes) != `{"w":"one"}` {
			t.Errorf("one has %s", got.Bytes)
		}
		mustUnlock(t, two, id2)
		mustUnlock(t, one, id1)
	}},
	{"names that are none", func(t *testing.T, s Suite) {
		b := s.Open(t)
		for _, name := range []string{"", ".", "..", "a/b", "../x", "a b", "ä"} {
			if _, err := b.Open(name); err == nil {
				t.Errorf("Open(%q) succeeds", name)
			}
			if err := b.DeleteWorkspace(t.Context(), name, ""); err == nil {
				t.Errorf("DeleteWorkspace(%q) succeeds", name)
			}
		}
	}},
}

func wantWorkspaces(t *testing.T, b statebackend.Backend, want ...string) {
	t.Helper()
	got, err := b.Workspaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Workspaces = %q, want %q", got, want)
	}
}
