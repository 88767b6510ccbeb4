package statebackend

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLockInfoJSON(t *testing.T) {
	info := LockInfo{ID: "i", Operation: "o", Info: `<a href="x">&`, Who: "w@h", Version: "1.11.4", Path: "b/k"}
	const head = `{"ID":"i","Operation":"o","Info":"\u003ca href=\"x\"\u003e\u0026","Who":"w@h","Version":"1.11.4","Created":"`
	for _, test := range []struct {
		created time.Time
		want    string
	}{
		{time.Date(2026, 11, 20, 10, 11, 12, 0, time.UTC), "2026-11-20T10:11:12Z"},
		{time.Date(2026, 11, 20, 10, 11, 12, 120_000_000, time.UTC), "2026-11-20T10:11:12.12Z"},
		{time.Date(2026, 11, 20, 10, 11, 12, 123456789, time.UTC), "2026-11-20T10:11:12.123456789Z"},
		{time.Date(2026, 11, 20, 10, 11, 12, 100, time.FixedZone("", 2*3600)), "2026-11-20T08:11:12.0000001Z"},
	} {
		info.Created = test.created
		want := head + test.want + `","Path":"b/k"}`
		text := info.Marshal()
		if string(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		// What another tool makes of it is the same text.
		again, err := ParseLockInfo(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(again.Marshal())); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzParseLockInfo(f *testing.F) {
	f.Add([]byte(`{"ID":"i","Operation":"o","Info":"<>","Who":"w","Version":"v","Created":"2026-11-20T10:11:12.120Z","Path":"p"}`))
	f.Add([]byte(`{"Created":"0000-01-01T00:00:00+23:59"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := ParseLockInfo(text)
		if err != nil || info.Created.UTC().Year() > 9999 || info.Created.UTC().Year() < 0 {
			return
		}
		once := info.Marshal()
		again, err := ParseLockInfo(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := again.Marshal(); string(twice) != string(once) {
			t.Errorf("%s\nbecomes %s", once, twice)
		}
	})
}

func TestNewLockInfo(t *testing.T) {
	a, b := NewLockInfo("OperationTypePlan", "1.2.3"), NewLockInfo("OperationTypePlan", "1.2.3")
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if !uuid.MatchString(a.ID) || a.ID == b.ID {
		t.Errorf("IDs %s, %s", a.ID, b.ID)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := strings.CutSuffix(a.Who, "@"+host); !ok || name == "" || a.Operation != "OperationTypePlan" || a.Version != "1.2.3" || a.Created.Location() != time.UTC {
		t.Errorf("%+v", a)
	}
}

func TestCheckWorkspaceName(t *testing.T) {
	for name, ok := range map[string]bool{
		"default": true, "a-b_c.d~e": true, "42": true, "a:b": true,
		"": false, ".": false, "..": false, "a/b": false, "a b": false, "a%": false, "ä": false, "a\n": false,
	} {
		if err := CheckWorkspaceName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestLockErrors is a table of locks in the way, and their texts.
func TestLockErrors(t *testing.T) {
	held := HeldLock{Kind: TableLock, Info: LockInfo{ID: "i", Who: "w@h", Operation: "o", Created: time.Date(2026, 11, 20, 10, 11, 12, 0, time.UTC)}}
	noted := held
	noted.Info.Info = "run 7"
	for _, test := range []struct {
		err  error
		want string
	}{
		{&LockedError{HeldLock: held}, "the state is locked: DynamoDB lock item i, held by w@h since 2026-11-20T10:11:12Z for o"},
		{&LockedError{HeldLock: noted}, "the state is locked: DynamoDB lock item i, held by w@h since 2026-11-20T10:11:12Z for o (run 7)"},
		{&LockedError{HeldLock: HeldLock{Kind: ObjectLock}, Err: errors.New("unreadable")}, "the state is locked: lock object of an unknown holder: unreadable"},
		{&LockMismatchError{ID: "x", Held: []HeldLock{held, {Kind: ObjectLock}}}, `lock ID "x" is not the existing lock's: DynamoDB lock item i, held by w@h since 2026-11-20T10:11:12Z for o; lock object of an unknown holder`},
		{&ConflictError{Path: "p", Found: "1"}, "p: another state was stored there in the meantime"},
		{&ConflictError{Path: "p", Want: "1"}, "p: the state was deleted in the meantime"},
		{&ConflictError{Path: "p", Want: "1", Found: "2"}, "p: the state was changed in the meantime, by a writer that did not hold the lock"},
		{&LockLostError{Path: "p", ID: "i"}, "p: the state lock i was released by somebody else while it was in use"},
	} {
		if diff := cmp.Diff(test.want, test.err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}
