package runlocal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/run"
)

func open(t *testing.T) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRecords(t *testing.T) {
	ctx, r := t.Context(), open(t).Records
	if rec, err := r.Get(ctx, "run/5/7/a@b"); err != nil || rec.Version != "" || rec.Value != nil {
		t.Errorf("no record: %+v, %v", rec, err)
	}
	v1, err := r.Put(ctx, "run/5/7/a@b", []byte("one"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Put(ctx, "run/5/7/a@b", []byte("x"), ""); !errors.Is(err, run.ErrConflict) {
		t.Errorf("a second first: %v", err)
	}
	v2, err := r.Put(ctx, "run/5/7/a@b", []byte("two"), v1)
	if err != nil || v2 == v1 {
		t.Fatal(v1, v2, err)
	}
	for _, old := range []run.Version{"", v1} {
		if _, err := r.Put(ctx, "run/5/7/a@b", []byte("x"), old); !errors.Is(err, run.ErrConflict) {
			t.Errorf("on top of %q: %v", old, err)
		}
	}
	for _, key := range []string{"run/5/7/a@c", "run/5/70/a@b", "run/5/7", "run/5/7/a@b/more"} {
		if _, err := r.Put(ctx, key, []byte(key), ""); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	list, err := r.List(ctx, "run/5/7")
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range list {
		got[rec.Key] = string(rec.Value)
	}
	if diff := cmp.Diff(map[string]string{"run/5/7/a@b": "two", "run/5/7/a@c": "run/5/7/a@c"}, got); diff != "" {
		t.Error(diff)
	}
	rec, err := r.Get(ctx, "run/5/7/a@c")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []run.Version{"", "77"} {
		if err := r.Delete(ctx, rec.Key, wrong); !errors.Is(err, run.ErrConflict) {
			t.Errorf("delete at %q: %v", wrong, err)
		}
	}
	for _, prev := range []run.Version{rec.Version, ""} {
		if err := r.Delete(ctx, rec.Key, prev); err != nil {
			t.Errorf("delete at %q: %v", prev, err)
		}
	}
	if list, err := r.List(ctx, "run/5/7"); err != nil || len(list) != 1 {
		t.Errorf("after a deletion: %v, %v", list, err)
	}
	if v, err := r.Put(ctx, rec.Key, []byte("anew"), ""); err != nil || v == rec.Version {
		t.Errorf("after a deletion: %q, %v", v, err)
	}
	if list, err := r.List(ctx, "nothing"); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestRacingWriters holds that of many writers to one version one wins, and that no
// value is lost on the way to the last one.
func TestRacingWriters(t *testing.T) {
	ctx, r := t.Context(), open(t).Records
	const writers, turns = 8, 20
	var won atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range turns {
				rec, err := r.Get(ctx, "k")
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				fmt.Sscan(string(rec.Value), &n)
				_, err = r.Put(ctx, "k", fmt.Appendf(nil, "%d %d", n+1, w), rec.Version)
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, run.ErrConflict):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rec, err := r.Get(ctx, "k")
	n := 0
	fmt.Sscan(string(rec.Value), &n)
	if err != nil || int64(n) != won.Load() || n < turns {
		t.Errorf("%d writes won, and the value counts %d (%v)", won.Load(), n, err)
	}
}

func TestArtifacts(t *testing.T) {
	ctx, a := t.Context(), open(t).Artifacts
	if _, err := a.Get(ctx, run.Artifact{Key: "plan/x"}); !errors.Is(err, run.ErrNoArtifact) {
		t.Errorf("error: %v", err)
	}
	for _, text := range []string{"one", "two"} {
		if err := a.Put(ctx, run.Artifact{Key: "plan/x"}, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := a.Get(ctx, run.Artifact{Key: "plan/x"}); err != nil || string(data) != "two" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(a.dir, "plan", "x")); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for range 2 {
		if err := a.Delete(ctx, run.Artifact{Key: "plan/x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Get(ctx, run.Artifact{Key: "plan/x"}); !errors.Is(err, run.ErrNoArtifact) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestQueue(t *testing.T) {
	ctx, d := t.Context(), open(t)
	for i := range 12 { // more than nine: numbers, not names, are in order
		if err := d.Queue.Send(ctx, run.Message{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	n, err := d.Queue.Drain(ctx, func(ctx context.Context, m run.Message) error {
		if m.ID == "3" && len(got) == 3 {
			got = append(got, "failed")
			return fs.ErrInvalid
		}
		got = append(got, m.ID)
		if m.ID == "10" {
			return d.Queue.Send(ctx, run.Message{ID: "more"})
		}
		return nil
	})
	if n != 3 || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := d.Queue.Drain(ctx, func(_ context.Context, m run.Message) error { got = append(got, m.ID); return nil }); n != 9 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	want := []string{"0", "1", "2", "failed", "3", "4", "5", "6", "7", "8", "9", "10", "11"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestKeysStayInside holds that a key which is no path is our bug.
func TestKeysStayInside(t *testing.T) {
	for _, key := range []string{"../x", "/x", "a//b", "a/../b", "", "."} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the key %q was taken", key)
				}
			}()
			open(t).Artifacts.Get(t.Context(), run.Artifact{Key: key})
		}()
	}
}
