package operation

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// killed leaves a state with the lineage "lineage", and the journal of an apply on it that was
// killed in a creation.
func killed(t *testing.T) (journaled, *statebackendtest.Log) {
	log := new(statebackendtest.Log)
	b := journaled{new(statebackendtest.Fake), log}
	s := states.Empty().With("lineage", 1)
	text, err := statefile.Write(s)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Put(t.Context(), text, ""); err != nil {
		t.Fatal(err)
	}
	writer, _, err := journal.Open(t.Context(), b.log, "run")
	if err != nil {
		t.Fatal(err)
	}
	j := journaling.New("run", writer)
	if err := j.Begin(journaling.Start{Stored: s, Prior: s, Sum: journaling.SHA256(text), Lineage: "lineage"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Saving(t.Context(), text); err != nil { // a group of its own, before the intent's
		t.Fatal(err)
	}
	if _, err := j.Intent(t.Context(), journaling.Intent{Address: "thing.a", Action: plans.Create.String()}); err != nil {
		t.Fatal(err)
	}
	return b, log
}

// TestBadJournals: a journal that cannot be used stops whoever could write with a message that has
// a remedy, whoever only reads is warned, and neither state nor journal is touched.
func TestBadJournals(t *testing.T) {
	t.Parallel()
	edit := func(n int, old, new string) func([]statebackend.Segment) []statebackend.Segment {
		return func(s []statebackend.Segment) []statebackend.Segment {
			s[n].Data = bytes.Replace(s[n].Data, []byte(old), []byte(new), 1)
			return s
		}
	}
	const copied = "Nothing was changed. If you have an undamaged copy of the journal, put it back. Otherwise compare the state with the real objects, import those that it lacks, and move the journal away."
	for _, test := range []struct {
		name   string
		change func([]statebackend.Segment) []statebackend.Segment
		want   string
	}{
		{"cut short", func(s []statebackend.Segment) []statebackend.Segment {
			s[2].Data = s[2].Data[:len(s[2].Data)-5]
			return s
		}, "damaged at record group 3: record 1 is not a line of JSON. " + copied},
		{"begun later", func(s []statebackend.Segment) []statebackend.Segment { return s[1:] }, "damaged at record group 2: the groups before it are missing. " + copied},
		{"a group is missing", func(s []statebackend.Segment) []statebackend.Segment { return slices.Delete(s, 1, 2) }, "damaged at record group 3: the group before it is missing. " + copied},
		{"edited", edit(1, `"begin"`, `"edits"`), "damaged at record group 3: the group before it is not the one that it was written after. " + copied},
		{"a newer format", edit(2, `"format":1`, `"format":2`), "has format 2, and this version of Lockstep reads formats up to 1: use the version that wrote it, or a newer one. Nothing was changed."},
		{"a newer record", edit(2, `"kind":"intent"`, `"kind":"pause"`), `its kind is "pause", which this version of Lockstep does not know: use the version that wrote it, or a newer one. Nothing was changed.`},
		{"another lineage", func(s []statebackend.Segment) []statebackend.Segment {
			// written whole: the sums are right
			log := new(statebackendtest.Log)
			w, _, _ := journal.Open(t.Context(), log, "run")
			j := journaling.New("run", w)
			j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "other"})
			j.Saving(t.Context(), nil)
			other, _ := log.Segments(t.Context(), nil)
			return other
		}, `the journal belongs to a state of lineage "other", and the state has lineage "lineage". Nothing was changed. The journal has the results of an interrupted apply to the state with the first lineage. Put that state back. If you know all objects of the journal, you can move the journal away instead.`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, log := killed(t)
			log.Edit(test.change)
			before := contents(t, b)
			for _, lock := range []*Lock{nil, {Operation: "OperationTypeApply"}} {
				o := Operation{Journaled: true}
				ds := o.OpenState(t.Context(), b, statebackend.DefaultWorkspace, lock)
				if text := texts(ds); !strings.Contains(text, "The journal beside the state cannot be used") || !strings.Contains(text, test.want) {
					t.Errorf("locked %t: %s\nwant %s", lock != nil, text, test.want)
				}
				if ds.HasErrors() != (lock != nil) {
					t.Errorf("locked %t: errors are %t", lock != nil, ds.HasErrors())
				}
				if now := contents(t, b); now != before {
					t.Errorf("locked %t: state or journal have changed:\n%s\nwere:\n%s", lock != nil, now, before)
				}
			}
		})
	}
}

// texts are all diagnostics, warnings too.
func texts(ds diags.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
	}
	return b.String()
}

func contents(t *testing.T, b journaled) string {
	t.Helper()
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	segments, err := b.log.Segments(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%v", snap.Bytes, segments)
}

// TestRefusedRequests has S3 refuse all writes of one kind, in the middle of an apply or before it:
// a person reads the place, nothing is lost, and the next apply ends with the whole state.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind   string // the key's part
		status int
		want   string
	}{
		{"terraform.tfstate.tflock", 409, "Error acquiring the state lock"},
		{"terraform.tfstate.tflock", 412, "Error acquiring the state lock"},
		{"terraform.tfstate.tflock", 503, "Error acquiring the state lock"},
		{"00000000000000000001", 409, "Error opening the journal"},
		{"00000000000000000001", 412, "Error opening the journal"},
		{"00000000000000000001", 503, "Error opening the journal"},
		{"00000000000000000002", 409, "Failed to write the journal"},
		{"00000000000000000002", 412, "Failed to write the journal"},
		{"00000000000000000002", 503, "Failed to write the journal"},
		{"/terraform.tfstate", 409, "Failed to save state"},
		{"/terraform.tfstate", 412, "Failed to save state"},
		{"/terraform.tfstate", 503, "Failed to save state"},
	} {
		t.Run(fmt.Sprintf("%d for %s", test.status, test.kind), func(t *testing.T) {
			t.Parallel()
			fake := new(statebackendtest.S3).Start(t)
			var refusing atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				at := strings.Contains(r.URL.Path, test.kind)
				if test.kind[0] == '/' {
					at = strings.HasSuffix(r.URL.Path, test.kind)
				}
				if refusing.Load() && r.Method == http.MethodPut && at {
					w.WriteHeader(test.status)
					return
				}
				fake.ServeHTTP(w, r)
			}))
			defer server.Close()
			backend, err := s3.Open(t.Context(), inBucket(server.URL), s3.Options{})
			if err != nil {
				t.Fatal(err)
			}
			refusing.Store(true)
			if text := texts(create(t, backend, 5, false)); !strings.Contains(text, test.want) {
				t.Errorf("the apply ended with %s\nwant %s", text, test.want)
			}
			if data, _ := fake.Object("states/terraform.tfstate"); test.kind != "00000000000000000002" && len(data) > 0 {
				t.Errorf("a state was stored: %s", data)
			}
			refusing.Store(false)
			if ds := create(t, backend, 5, false); ds.HasErrors() {
				t.Fatalf("the next apply: %s", ds)
			}
			data, _ := fake.Object("states/terraform.tfstate")
			if n := strings.Count(string(data), `"input"`); n != 5 {
				t.Errorf("%d objects are in the state in the end, want 5", n)
			}
		})
	}
}

// TestAJournalThatMayNotBeWritten holds that an apply whose rights do not suffice for a journal goes on without, and says so.
func TestAJournalThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	fake := (&statebackendtest.S3{Deny: func(method, key string) bool {
		return method == http.MethodPut && strings.Contains(key, s3.JournalPrefix)
	}}).Start(t)
	backend, err := s3.Open(t.Context(), inBucket(fake.URL), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ds := create(t, backend, 5, false); ds.HasErrors() || strings.Count(texts(ds), "No journal is kept") != 1 {
		t.Errorf("the apply ended with %s", texts(ds))
	}
	data, _ := fake.Object("states/terraform.tfstate")
	if n := strings.Count(string(data), `"input"`); n != 5 {
		t.Errorf("%d objects are in the state, want 5", n)
	}
}
