package workdir

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestWriteOnlyWhatDiffers writes states one after the other: the bytes are stored if the content is
// another one than that of the stored state, whoever has written that.
func TestWriteOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	one, two, three := withObject(t, "t.a"), withObject(t, "t.b"), withObject(t, "t.c")
	for _, c := range []struct {
		name   string
		stored string // "" is none; else SERIAL LINEAGE, in the layout of Write, or a text
		next   *states.State
		want   string // the members of the stored state after it, "" if nothing was written
	}{
		{"nothing, and nothing stored", "", states.Empty(), ""},
		{"the first state", "", one, `"serial": 1,`},
		{"the same", "7 x", one, ""},
		{"another one", "7 x", two, `"serial": 8,`},
		{"nothing any more", "7 x", states.Empty(), `"serial": 8,`},
		{"the same in another layout", "{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":7,\"lineage\":\"x\",\"outputs\":{},\"resources\":[]}", states.Empty(), `"serial": 8,`},
	} {
		b := new(statebackendtest.Fake)
		s, ds := OpenState(b, "default")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		switch {
		case c.stored == "":
		case c.stored == "7 x":
			if err := s.Replace(t.Context(), one.With("x", 7)); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := s.Workspace.Put(t.Context(), []byte(c.stored), ""); err != nil {
				t.Fatal(err)
			}
		}
		if ds := s.Read(t.Context()); ds.HasErrors() {
			t.Fatal(ds)
		}
		var put []byte
		s.BeforePut = func(_ context.Context, data []byte) error { put = data; return nil }
		if err := s.Write(t.Context(), c.next); err != nil {
			t.Fatal(err)
		}
		if (put != nil) != (c.want != "") || !strings.Contains(string(put), c.want) {
			t.Errorf("%s: stored %q", c.name, put)
		}
		if put != nil && s.Sum() != fmt.Sprintf("%x", sha256.Sum256(put)) {
			t.Errorf("%s: the sum %s is not that of the bytes that were announced", c.name, s.Sum())
		}
		if again := reread(t, s.Workspace); again.Sum() != s.Sum() {
			t.Errorf("%s: the sum %s after the write, %s when it is read", c.name, s.Sum(), again.Sum())
		}
		// Once more, with bytes that were written and not read.
		announced := put
		put = nil
		if err := s.Write(t.Context(), c.next); err != nil || put != nil {
			t.Errorf("%s: the same again stored %q, %v", c.name, put, err)
		}
		if err := s.Write(t.Context(), three); err != nil || put == nil || string(put) == string(announced) {
			t.Errorf("%s: another one after it stored %q, %v", c.name, put, err)
		}
	}
}

// reread returns the state of a workspace, read by another.
func reread(t *testing.T, w statebackend.Workspace) *State {
	t.Helper()
	s := &State{Workspace: w}
	if ds := s.Read(t.Context()); ds.HasErrors() {
		t.Fatal(ds)
	}
	return s
}

// withObject returns a state of one object.
func withObject(t *testing.T, address string) *states.State {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(address)
	if err != nil {
		t.Fatal(err)
	}
	e := states.Empty().Edit()
	e.SetObject(addrs.ResourceInstanceObject{Instance: a}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, &states.Object{Status: states.Ready, AttrsJSON: []byte(`{"id":"1"}`)})
	return e.State()
}
