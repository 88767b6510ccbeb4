package journaling

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// TestRecordsAsEncodingJSON: records written by hand have the bytes that encoding/json gives, and
// it reads from them the records that they were.
func TestRecordsAsEncodingJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60_000, time.UTC)
	for _, r := range []record{
		{Kind: beginning, At: at, Plan: "plan", Lineage: "lineage", State: "sum"},
		{Kind: intent, At: at, ID: "run.1", Intent: &Intent{Address: `thing.a["<&>"]`, Action: "create", Known: map[string]string{"name": "naïve \"\n\u2028", "a": ""}}},
		{Kind: intent, At: at.Truncate(time.Second), ID: "run.2", Intent: &Intent{Address: "thing.a", Deposed: "1234abcd", Action: "delete"}},
		{Kind: intent, At: at, ID: "run.4", Intent: &Intent{Address: "thing.a", Action: "invoke", Invokes: `action.thing.n["k"]`, Event: "AfterCreate", Turn: "0.1"}},
		{Kind: intent, At: at, ID: "run.3", Intent: &Intent{Address: "thing.a", Action: "create", Deposes: "1234abcd"}, Values: json.RawMessage(`[{"name":"local.a","value":{"value":"v","type":"string"}}]`)},
		{Kind: outcome, At: at, ID: "run.2", Failed: true, Problem: "no \"quota\""},
		{Kind: conflict, At: at, Conflict: &conflictAt{Addr: "thing.a", Deposed: "1234abcd", Now: "x"}},
		{Kind: conflict, At: at, Conflict: &conflictAt{Addr: `thing.a["k"]`}},
		{Kind: edited, At: at, Run: "run", Edits: []edit{
			{Addr: `thing.a["\\"]`, Deposed: "1234abcd", Was: "x"},
			{Addr: "thing.a", Was: "x", Now: "y", Needs: 2, Nodes: []node{{Number: 2, Direct: []link{{"thing.b", 1}}, Listed: []string{"thing.<c>"}}, {Number: 1}}},
		}},
	} {
		var edits []byte
		for i, e := range r.Edits {
			a := parseAddr("a")
			var o *states.Object
			if e.Now != "" {
				o = object("<1>")
				r.Edits[i].State, _ = statefile.AppendObject(nil, a, providerConfig, o)
			}
			if i > 0 {
				edits = append(edits, ',')
			}
			var err error
			if edits, err = e.append(edits, a, providerConfig, o); err != nil {
				t.Fatal(err)
			}
		}
		got := r.append(nil, edits)
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		var back record
		if err := json.Unmarshal(got, &back); err != nil || cmp.Diff(r, back) != "" {
			t.Errorf("read back: %v\n%s", err, cmp.Diff(r, back))
		}
	}
}

// unhurried is a writer whose callers are often overtaken between their two halves.
type unhurried struct {
	mu    sync.Mutex
	lines []string
}

func (u *unhurried) Append(_ bool, records ...[]byte) func(context.Context) error {
	if rand.IntN(8) == 0 {
		for range 200 {
			runtime.Gosched()
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range records {
		u.lines = append(u.lines, string(r))
	}
	return func(context.Context) error { runtime.Gosched(); return nil }
}

// TestOutcomesHaveTheirEdits: wherever a journal ends, the edit that belongs to an outcome is in it
// if the outcome is: in the same record, or in an earlier one of another call.
func TestOutcomesHaveTheirEdits(t *testing.T) {
	u := new(unhurried)
	j := New("run", u)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 200 {
				a := parseAddr(fmt.Sprintf("w%d[%d]", worker, i))
				id, _ := j.Intent(t.Context(), Intent{Address: a.Instance.String(), Action: "create"})
				j.Edit(a, providerConfig, nil, object(id))
				runtime.Gosched() // another's record may take the edit
				j.Outcome(t.Context(), id, "")
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	intents := map[string]string{}
	for _, line := range u.lines {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Edits {
			seen[e.Addr] = true
		}
		switch r.Kind {
		case intent:
			intents[r.ID] = r.Intent.Address
		case outcome:
			if addr := intents[r.ID]; !seen[addr] {
				t.Fatalf("a journal that ends with the outcome of %q lacks its object", addr)
			}
		}
	}
	if len(intents) != 1600 || !strings.HasPrefix(u.lines[0], `{"kind":"intent"`) {
		t.Fatalf("%d intents", len(intents))
	}
}

// TestIdentityIsPartOfTheDigest: an edit that only adds or changes the identity is one, however the JSON is spelt.
func TestIdentityIsPartOfTheDigest(t *testing.T) {
	t.Parallel()
	with := func(version int64, text string) string {
		return digest(&states.Object{AttrsJSON: []byte(`{}`), Identity: states.Identity{Version: version, JSON: []byte(text)}})
	}
	none := digest(&states.Object{AttrsJSON: []byte(`{}`)})
	if a := with(0, `{"name":"a"}`); a == none || a == with(1, `{"name":"a"}`) || a == with(0, `{"name":"b"}`) || a != with(0, "{\n  \"name\": \"a\"\n}") {
		t.Error("identities are not told apart by their digests")
	}
	if none != digest(&states.Object{AttrsJSON: []byte(`{}`), Identity: states.Identity{Version: 1}}) {
		t.Error("the version of an identity schema alone makes an edit")
	}
}
