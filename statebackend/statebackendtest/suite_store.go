package statebackendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

const racers = 50

var storeTests = []contractTest{
	{"what is not there is no error", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		if got := mustGet(t, mine); got.Bytes != nil || got.Version != "" {
			t.Errorf("Get = %q, version %q; want nothing", got.Bytes, got.Version)
		}
	}},
	{"what was put is got, by everybody", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		v1 := mustPut(t, mine, `{"serial":1}`, "")
		v2 := mustPut(t, mine, `{"serial":2}`, v1)
		if v1 == v2 || v1 == "" {
			t.Errorf("versions of different bytes: %q and %q", v1, v2)
		}
		for _, w := range []statebackend.Store{mine, theirs} {
			if got := mustGet(t, w); string(got.Bytes) != `{"serial":2}` || got.Version != v2 {
				t.Errorf("Get = %s, version %q; want serial 2, %q", got.Bytes, got.Version, v2)
			}
		}
	}},
	{"a shorter state leaves nothing of a longer one", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		v := mustPut(t, mine, `{"serial":1,"resources":["aaaa","bbbb"]}`, "")
		mustPut(t, mine, `{}`, v)
		if got := mustGet(t, theirs); string(got.Bytes) != `{}` {
			t.Errorf("Get = %s", got.Bytes)
		}
	}},
	{"creating over a state is a conflict", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		v := mustPut(t, theirs, `{"theirs":1}`, "")
		wantConflict(t, mine, "", v)
		if got := mustGet(t, mine); string(got.Bytes) != `{"theirs":1}` || got.Version != v {
			t.Errorf("Get = %s, version %q", got.Bytes, got.Version)
		}
	}},
	{"writing over what was not read is a conflict", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		v1 := mustPut(t, mine, `{"serial":1}`, "")
		v2 := mustPut(t, theirs, `{"serial":2}`, v1)
		wantConflict(t, mine, v1, v2)
		if got := mustGet(t, mine); string(got.Bytes) != `{"serial":2}` {
			t.Errorf("Get = %s", got.Bytes)
		}
		// After reading the new version, the writer may write.
		mustPut(t, mine, `{"serial":3}`, v2)
	}},
	{"writing over what is gone is a conflict", func(t *testing.T, s Suite) {
		b := s.Open(t)
		mine := openWorkspace(t, b, "staging")
		v := mustPut(t, mine, `{"serial":1}`, "")
		if err := b.DeleteWorkspace(t.Context(), "staging", v); err != nil {
			t.Fatal(err)
		}
		wantConflict(t, openWorkspace(t, b, "staging"), v, "")
	}},
	{"the same put again is a success", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		v1 := mustPut(t, mine, `{"serial":1}`, "")
		if again := mustPut(t, mine, `{"serial":1}`, ""); again != v1 {
			t.Errorf("version %q, then %q", v1, again)
		}
		v2 := mustPut(t, mine, `{"serial":2}`, v1)
		if again := mustPut(t, mine, `{"serial":2}`, v1); again != v2 {
			t.Errorf("version %q, then %q", v2, again)
		}
		mustPut(t, mine, `{"serial":3}`, v2)
	}},
	{"bytes are copied", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		data := []byte(`{"serial":1}`)
		if _, err := mine.Put(t.Context(), data, ""); err != nil {
			t.Fatal(err)
		}
		copy(data, "XXXXXX")
		got := mustGet(t, mine)
		copy(got.Bytes, "YYYYYY")
		for _, w := range []statebackend.Store{mine, theirs} {
			if got := mustGet(t, w); string(got.Bytes) != `{"serial":1}` {
				t.Errorf("Get = %s", got.Bytes)
			}
		}
	}},
	{"large states", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		data := append([]byte(`{"x":"`), bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)...)
		data = append(data, `"}`...)
		if _, err := mine.Put(t.Context(), data, ""); err != nil {
			t.Fatal(err)
		}
		if got := mustGet(t, theirs); !bytes.Equal(got.Bytes, data) {
			t.Errorf("got %d bytes, put %d", len(got.Bytes), len(data))
		}
	}},
	{"an empty state panics", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		mine.Put(t.Context(), nil, "")
	}},
	{"a context that ended", func(t *testing.T, s Suite) {
		mine, _ := s.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := mine.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Get: %v", err)
		}
		if _, err := mine.Put(ctx, []byte(`{}`), ""); !errors.Is(err, context.Canceled) {
			t.Errorf("Put: %v", err)
		}
		if got := mustGet(t, mine); got.Bytes != nil {
			t.Errorf("stored: %s", got.Bytes)
		}
	}},
	{"of many that create one wins", func(t *testing.T, s Suite) {
		race(t, s.Open(t), "")
	}},
	{"of many that write one wins", func(t *testing.T, s Suite) {
		b := s.Open(t)
		race(t, b, mustPut(t, openWorkspace(t, b, statebackend.DefaultWorkspace), `{"serial":0}`, ""))
	}},
	{"a reader sees one version or another", func(t *testing.T, s Suite) {
		mine, theirs := s.open(t)
		states := []string{fmt.Sprintf(`{"a":"%01000d"}`, 0), fmt.Sprintf(`{"b":"%0300000d"}`, 1)}
		v := mustPut(t, mine, states[0], "")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 1; i < 30; i++ {
				next, err := mine.Put(context.WithoutCancel(t.Context()), []byte(states[i%2]), v)
				if err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				v = next
			}
		}()
		for reading := true; reading; {
			select {
			case <-done:
				reading = false
			default:
			}
			if got := mustGet(t, theirs); !slices.Contains(states, string(got.Bytes)) {
				t.Fatalf("read %d bytes that nobody wrote: %.20q", len(got.Bytes), got.Bytes)
			}
		}
	}},
}

// wantConflict tries to replace version prev, and expects a conflict that reports the version found.
func wantConflict(t *testing.T, s statebackend.Store, prev, found statebackend.Version) {
	t.Helper()
	_, err := s.Put(t.Context(), []byte(`{"mine":1}`), prev)
	var conflict *statebackend.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("Put over version %q: %v; want a conflict", prev, err)
	}
	if conflict.Want != prev || conflict.Found != found {
		t.Errorf("conflict wants %q, found %q; want %q, %q", conflict.Want, conflict.Found, prev, found)
	}
}

// race lets many writers replace version prev at once. Exactly one must succeed.
func race(t *testing.T, b statebackend.Backend, prev statebackend.Version) {
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		w := openWorkspace(t, b, statebackend.DefaultWorkspace)
		wg.Go(func() {
			_, errs[i] = w.Put(t.Context(), fmt.Appendf(nil, `{"writer":%d}`, i), prev)
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		var conflict *statebackend.ConflictError
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Errorf("both %d and %d were told that they had written", winner, i)
		case !errors.As(err, &conflict):
			t.Errorf("writer %d: %v; want a conflict", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	got := mustGet(t, openWorkspace(t, b, statebackend.DefaultWorkspace))
	if want := fmt.Sprintf(`{"writer":%d}`, winner); string(got.Bytes) != want {
		t.Errorf("stored %s, but %d was told that it had written", got.Bytes, winner)
	}
}
