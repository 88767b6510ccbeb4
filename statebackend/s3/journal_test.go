package s3

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func openLog(t *testing.T, attributes map[string]any) *journalObjects {
	t.Helper()
	w, err := open(t, attributes, Options{}).Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w.(statebackend.Journaled).Journal().(*journalObjects)
}

func TestJournal(t *testing.T) {
	t.Parallel()
	s, _, _ := fakeServers(t)
	journalConformance(t, s)
}

func TestJournalOnRealServers(t *testing.T) {
	t.Parallel()
	journalConformance(t, servers{statebackendtest.StartVersitygw(t), statebackendtest.StartDynoxide(t)})
}

func journalConformance(t *testing.T, s servers) {
	statebackendtest.RunLog(t, func(t *testing.T) func() statebackend.Log {
		attributes := s.attributes()
		return func() statebackend.Log { return openLog(t, attributes) }
	})
}

// TestJournalsAreApart holds that no state's journal is below another's, by their keys.
func TestJournalsAreApart(t *testing.T) {
	t.Parallel()
	keys := []string{"net", "net/terraform.tfstate", "net/", "net%2Fterraform.tfstate", "net.journal", "../net", "env:/blue/net"}
	for _, end := range []string{"a", "b", "/a"} {
		long := strings.Repeat("k", 100) + end
		keys = append(keys, long, strings.Trim(strings.TrimPrefix(JournalOf(long), JournalPrefix), "/"))
	}
	for _, a := range keys {
		for _, b := range keys {
			if a != b && strings.HasPrefix(JournalOf(b), JournalOf(a)) {
				t.Errorf("the journal of %s, %s, has that of %s, %s, in it", a, JournalOf(a), b, JournalOf(b))
			}
		}
	}
}

// TestJournalKeys are keys of journals that exist: other versions must find them by the same names.
func TestJournalKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"net/terraform.tfstate": ".lockstep/journal/net%2Fterraform.tfstate/",
		strings.Repeat("k", 80): ".lockstep/journal/" + strings.Repeat("k", 80) + "/",
		strings.Repeat("k", 81): ".lockstep/journal/" + strings.Repeat("k", 40) + "!163f6a3740ab11b44432de8bd109ffe8/",
	} {
		if got := JournalOf(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// TestJournalIsNotExclusive holds that the writer of a journal in S3 never relies on its lock alone: the
// lock can be released while its holder sleeps, so that a number stays taken.
func TestJournalIsNotExclusive(t *testing.T) {
	t.Parallel()
	s, _, _ := fakeServers(t)
	if openLog(t, s.attributes()).Exclusive() {
		t.Error("the log takes its lock for one that ends with its process")
	}
}

// TestRefusedWithoutAnObject holds that a server which refuses to create an object, as if there were
// one, and has none, is no other writer.
func TestRefusedWithoutAnObject(t *testing.T) {
	t.Parallel()
	s3 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusPreconditionFailed)
			w.Write([]byte("<Error><Code>PreconditionFailed</Code></Error>"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
	}))
	defer s3.Close()
	l := openLog(t, servers{s3.URL, new(statebackendtest.DynamoDB).Start(t).URL}.attributes(map[string]any{"max_retries": 0}))
	var taken *statebackend.TakenError
	if err := l.Append(t.Context(), 1, []byte("a"), true); err == nil || errors.As(err, &taken) || !strings.Contains(err.Error(), "does not have it") {
		t.Errorf("%v", err)
	}
}

// TestJournalFaults loses each write of an append and a drop, with its answer or alone.
func TestJournalFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []statebackendtest.Fault{statebackendtest.Failed, statebackendtest.Persisted, statebackendtest.Conflict} {
		for at := range 3 {
			faults := &statebackendtest.Faults{Decide: func(n int, _ string) statebackendtest.Fault {
				if n == at {
					return fault
				}
				return statebackendtest.None
			}}
			s3 := (&statebackendtest.S3{Faults: faults}).Start(t)
			l := openLog(t, servers{s3.URL, new(statebackendtest.DynamoDB).Start(t).URL}.attributes(map[string]any{"max_retries": 0}))
			for _, do := range []func() error{
				func() error { return l.Append(t.Context(), 1, []byte("a"), true) },
				func() error { return l.Append(t.Context(), 2, []byte("b"), true) },
				func() error { return l.Drop(t.Context(), 2) },
				func() error { return l.Append(t.Context(), 3, []byte("c"), true) },
			} {
				if err := do(); err != nil {
					if err := do(); err != nil {
						t.Fatalf("write %d %s: again: %v", at, fault, err)
					}
				}
			}
			segments, err := l.Segments(t.Context(), from(2))
			if err != nil || len(segments) != 2 || string(segments[0].Data)+string(segments[1].Data) != "bc" {
				t.Fatalf("write %d %s: there are %v (%v)", at, fault, segments, err)
			}
		}
	}
}

// from recognizes the segment with that number as the first that counts.
func from(number uint64) func(statebackend.Segment) bool {
	return func(s statebackend.Segment) bool { return s.Number == number }
}

// TestOldSegmentsAreRemoved holds that dropped segments stay while somebody may still sleep.
func TestOldSegmentsAreRemoved(t *testing.T) {
	t.Parallel()
	s, s3, _ := fakeServers(t)
	l := openLog(t, s.attributes())
	for n := range uint64(3) {
		if err := l.Append(t.Context(), n+1, []byte("x"), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Drop(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if n := len(s3.Keys()); n != 3 {
		t.Fatalf("%d objects after a drop, want 3 segments: %v", n, s3.Keys())
	}
	l.now = func() time.Time { return time.Now().Add(keptFor + time.Hour) }
	if err := l.Drop(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if n := len(s3.Keys()); n != 1 {
		t.Fatalf("%d objects after %s, want a segment: %v", n, keptFor, s3.Keys())
	}
}
