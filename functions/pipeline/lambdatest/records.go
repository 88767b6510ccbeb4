package lambdatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// TestRecords tests the contract of pipeline.Records. open returns Records that are empty, or at least contain
// nothing of earlier tests. The tests run in parallel.
func TestRecords(t *testing.T, open func(t *testing.T) pipeline.Records) {
	hold(t, open, []contract[pipeline.Records]{
		{"absent", absentRecord},
		{"versions", recordVersions},
		{"delete", recordDelete},
		{"made again", recordMadeAgain},
		{"values", recordValues},
		{"keys", recordKeys},
		{"list", recordList},
		{"long list", recordLongList},
		{"racing writers", recordRace},
		{"racing creators", recordCreators},
		{"racing deletes", recordDeletes},
		{"cancelled", recordCancelled},
	})
}

func mustPut(t *testing.T, r pipeline.Records, key, value string, prev pipeline.Version) pipeline.Version {
	t.Helper()
	v, err := r.Put(t.Context(), key, []byte(value), prev)
	if err != nil {
		t.Fatalf("Put(%.80s): %v", key, err)
	}
	if v == "" || v == prev {
		t.Fatalf("Put(%.80s): version %q after %q", key, v, prev)
	}
	return v
}

func wantRecord(t *testing.T, r pipeline.Records, key, value string, version pipeline.Version) {
	t.Helper()
	got, err := r.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("Get(%.80s): %v", key, err)
	}
	if got.Key != key || string(got.Value) != value || got.Version != version {
		t.Errorf("Get(%.80s): key %.80q, %d bytes %.80q, version %q; want %d bytes %.80q, version %q",
			key, got.Key, len(got.Value), got.Value, got.Version, len(value), value, version)
	}
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, pipeline.ErrConflict) {
		t.Errorf("%s: %v, want a conflict", what, err)
	}
}

func absentRecord(t *testing.T, r pipeline.Records) {
	wantRecord(t, r, "run/5/7/a@b", "", "")
	if list, err := r.List(t.Context(), "run/5/7"); err != nil || len(list) != 0 {
		t.Errorf("List: %v, %v", list, err)
	}
	_, err := r.Put(t.Context(), "run/5/7/a@b", []byte("x"), "a version")
	wantConflict(t, "a second value without a first", err)
	wantRecord(t, r, "run/5/7/a@b", "", "")
}

func recordVersions(t *testing.T, r pipeline.Records) {
	const key = "run/5/7/a@b"
	one := mustPut(t, r, key, "one", "")
	wantRecord(t, r, key, "one", one)
	_, err := r.Put(t.Context(), key, []byte("x"), "")
	wantConflict(t, "a second first", err)
	two := mustPut(t, r, key, "two", one)
	for _, old := range []pipeline.Version{"", one, "another"} {
		_, err := r.Put(t.Context(), key, []byte("x"), old)
		wantConflict(t, fmt.Sprintf("on top of %q", old), err)
	}
	wantRecord(t, r, key, "two", two)
	// The same value must get another version, so that a caller who has read the first one notices the write.
	three := mustPut(t, r, key, "two", two)
	if three == one {
		t.Errorf("the version %q came again", one)
	}
	wantRecord(t, r, key, "two", three)
}

func recordDelete(t *testing.T, r pipeline.Records) {
	const key = "lease/x"
	ctx := t.Context()
	if err := r.Delete(ctx, key, ""); err != nil {
		t.Errorf("nothing, deleted: %v", err)
	}
	wantConflict(t, "a version of nothing, deleted", r.Delete(ctx, key, "a version"))
	one := mustPut(t, r, key, "one", "")
	two := mustPut(t, r, key, "two", one)
	wantConflict(t, "deleted as if there were none", r.Delete(ctx, key, ""))
	wantConflict(t, "an old version, deleted", r.Delete(ctx, key, one))
	wantRecord(t, r, key, "two", two)
	if err := r.Delete(ctx, key, two); err != nil {
		t.Errorf("Delete: %v", err)
	}
	wantRecord(t, r, key, "", "")
	wantConflict(t, "deleted twice", r.Delete(ctx, key, two))
	if list, err := r.List(ctx, "lease"); err != nil || len(list) != 0 {
		t.Errorf("List: %v, %v", list, err)
	}
}

// recordMadeAgain checks that the version of a deleted record is not valid for a later record with the same
// key.
func recordMadeAgain(t *testing.T, r pipeline.Records) {
	const key = "lease/x"
	ctx := t.Context()
	old := mustPut(t, r, key, "same", "")
	if err := r.Delete(ctx, key, old); err != nil {
		t.Fatal(err)
	}
	_, err := r.Put(ctx, key, []byte("x"), old)
	wantConflict(t, "written over what was deleted", err)
	again := mustPut(t, r, key, "same", "")
	_, err = r.Put(ctx, key, []byte("x"), old)
	wantConflict(t, "written over what was made again", err)
	wantConflict(t, "deleted what was made again", r.Delete(ctx, key, old))
	wantRecord(t, r, key, "same", again)
}

func recordValues(t *testing.T, r pipeline.Records) {
	for name, value := range map[string]string{
		"empty": "", "zeros": "\x00\x00", "binary": "\xff\xfe\x00'\"\\\n", "large": strings.Repeat("0123456789abcdef", pipeline.MaxRecord/16),
	} {
		v := mustPut(t, r, "run/values/"+name, value, "")
		wantRecord(t, r, "run/values/"+name, value, v)
	}
	if _, err := r.Put(t.Context(), "run/values/nil", nil, ""); err != nil {
		t.Errorf("nil: %v", err)
	}
	if _, err := r.Put(t.Context(), "run/values/too-large", bytes.Repeat([]byte("x"), pipeline.MaxRecord+1), ""); err == nil || errors.Is(err, pipeline.ErrConflict) {
		t.Errorf("more than MaxRecord: %v", err)
	}
	// Once Put has returned, the caller may change the value.
	value := []byte("mine")
	v, err := r.Put(t.Context(), "run/values/mine", value, "")
	if err != nil {
		t.Fatal(err)
	}
	copy(value, "XXXX")
	wantRecord(t, r, "run/values/mine", "mine", v)
}

// oddKeys returns different keys that an implementation might treat as equal, or as invalid.
func oddKeys() []string {
	return []string{
		"run/5/a@b", "run/5/A@b", "run/5/a@B", "run/5/a", "run/5/a@b#1", "run/5/a%2Fb", "run/5/a%252Fb", "run/5/...", "run/5/.a", "run/5/a.",
		"run/5/-", "run/5/--", "run/5/'", `run/5/"`, `run/5/\`, "run/5/;", "run/5/*", "run/5/%", "run/5/_", "run/5/a_b", "run/5/NULL", "run/5/0",
		"run/5/00", "run/5/ä", "run/5/a\u0308", "run/5/🦊", "run/5/" + strings.Repeat("n", pipeline.MaxName), "run/" + strings.Repeat("d", pipeline.MaxDir-4) + "/n",
		"run/50/a", "run/5/a/b", "run/5/a/b/c",
	}
}

func recordKeys(t *testing.T, r pipeline.Records) {
	versions := map[string]pipeline.Version{}
	for _, key := range oddKeys() {
		versions[key] = mustPut(t, r, key, key, "")
	}
	for key, version := range versions {
		wantRecord(t, r, key, key, version)
	}
	for _, key := range []string{"run", "", "run/../x", "a//b", "run/a b"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the key %q was taken", key)
				}
			}()
			r.Get(t.Context(), key)
		}()
	}
}

// recordList checks that a list contains exactly the records one level below, and that they are ordered by the
// bytes of the keys.
func recordList(t *testing.T, r pipeline.Records) {
	for _, key := range oddKeys() {
		mustPut(t, r, key, "of "+key, "")
	}
	for dir, want := range map[string][]string{
		"run/5/a":  {"b"},
		"run/50":   {"a"},
		"run":      nil,
		"run/5/ä":  nil,
		"run/5/a@": nil,
		"run/5": {`"`, "%", "'", "*", "-", "--", "...", ".a", "0", "00", ";", "A@b", "NULL", `\`, "_", "a", "a%252Fb", "a%2Fb", "a.", "a@B", "a@b", "a@b#1",
			"a_b", "a\u0308", strings.Repeat("n", pipeline.MaxName), "ä", "🦊"},
	} {
		list, err := r.List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range list {
			got = append(got, strings.TrimPrefix(rec.Key, dir+"/"))
			if string(rec.Value) != "of "+rec.Key {
				t.Errorf("List(%s): %q has the value %q", dir, rec.Key, rec.Value)
			}
			if rec.Key == "run/5/a@b" { // the version in a list is valid for a write
				mustPut(t, r, rec.Key, "of "+rec.Key, rec.Version)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("List(%s): %s", dir, diff)
		}
	}
}

// recordLongList checks a list that is larger than one answer of DynamoDB, which has at most 1 MB.
func recordLongList(t *testing.T, r pipeline.Records) {
	const n = 8
	value := strings.Repeat("x", pipeline.MaxRecord)
	for i := range n {
		mustPut(t, r, fmt.Sprintf("run/long/%d", i), value, "")
	}
	list, err := r.List(t.Context(), "run/long")
	if err != nil || len(list) != n {
		t.Fatalf("%d records, %v", len(list), err)
	}
	for i, rec := range list {
		if rec.Key != fmt.Sprintf("run/long/%d", i) || string(rec.Value) != value || rec.Version == "" {
			t.Errorf("record %d: %s, %d bytes, version %q", i, rec.Key, len(rec.Value), rec.Version)
		}
	}
}

// recordRace checks that only one of many concurrent writes to the same version succeeds, and that no
// successful write is lost.
func recordRace(t *testing.T, r pipeline.Records) {
	const key, writers, turns = "state/race", 8, 12
	var mu sync.Mutex
	won := 0
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range turns {
				rec, err := r.Get(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				fmt.Sscan(string(rec.Value), &n)
				_, err = r.Put(t.Context(), key, fmt.Appendf(nil, "%d %d", n+1, w), rec.Version)
				switch {
				case err == nil:
					mu.Lock()
					won++
					mu.Unlock()
				case !errors.Is(err, pipeline.ErrConflict):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rec, err := r.Get(t.Context(), key)
	n := 0
	fmt.Sscan(string(rec.Value), &n)
	if err != nil || n != won || n < turns {
		t.Errorf("%d writes won, and the value counts %d (%v)", won, n, err)
	}
}

// winners calls do many times concurrently. It returns how many of the calls had no conflict.
func winners(t *testing.T, do func(i int) error) int {
	t.Helper()
	const n = 12
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, pipeline.ErrConflict) {
			t.Error(err)
		}
	}
	return won
}

func recordCreators(t *testing.T, r pipeline.Records) {
	if won := winners(t, func(i int) error {
		_, err := r.Put(t.Context(), "delivery/1", fmt.Append(nil, i), "")
		return err
	}); won != 1 {
		t.Errorf("%d made the record", won)
	}
}

func recordDeletes(t *testing.T, r pipeline.Records) {
	v := mustPut(t, r, "lease/1", "x", "")
	if won := winners(t, func(int) error { return r.Delete(t.Context(), "lease/1", v) }); won != 1 {
		t.Errorf("%d deleted the record", won)
	}
}

func recordCancelled(t *testing.T, r pipeline.Records) {
	mustPut(t, r, "run/1/x", "x", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := r.Get(ctx, "run/1/x")
	_, put := r.Put(ctx, "run/1/y", nil, "")
	_, list := r.List(ctx, "run/1")
	for what, err := range map[string]error{"Get": get, "Put": put, "List": list, "Delete": r.Delete(ctx, "run/1/x", "")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
