package journaling

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// The notation: a state is words, "a=1 b=2 a!d=3", the objects of thing.a and thing.b with their
// values, d the key of a deposed one. A journal is written by steps:
//
//	begin STATE         a run starts: from the stored state, whose plan has this prior state
//	create a            an intent; likewise update, delete
//	invoke a            an intent to invoke an action for a; done invoke a is its outcome
//	a=1, a!d=1, a=gone  an edit
//	done a              the outcome of the last intent of a; failed a likewise
//	flush               edits without a call
//	save                the state with all edits so far is stored
//	announce            only the record of it is written
//	foreign STATE       a stock tool stores this
//	reduce              the folded state is stored, and the journal keeps what a person has to settle
//
// After each test in testdata/fold.txt the stored state is folded with the journal, and what
// came of it is compared: the state, "open a create", "conflict a", "foreign".
type notation struct {
	t       *testing.T
	stored  *states.State
	now     *states.Editor
	journal *Journal
	lines   [][]byte
	ids     map[string]string
	runs    int
	plan    string        // of the runs
	prior   *states.State // of the last
}

func newNotation(t *testing.T, stored string) *notation {
	n := &notation{t: t, ids: map[string]string{}}
	n.stored = n.state(stored)
	return n
}

func parseAddr(word string) addrs.ResourceInstanceObject {
	name, deposed, _ := strings.Cut(word, "!")
	a, err := addrs.ParseAbsResourceInstance("thing." + name)
	if err != nil {
		panic(err)
	}
	return addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(deposed)}
}

var providerConfig, _ = addrs.ParseAbsProviderConfig(`provider["registry.terraform.io/acme/thing"]`)

func object(value string) *states.Object {
	if value == "gone" {
		return nil
	}
	return &states.Object{Status: states.Ready, AttrsJSON: fmt.Appendf(nil, `{"v":%q}`, value), Private: []byte("p")}
}

func (n *notation) state(words string) *states.State {
	e := states.Empty().With("lineage", 1).Edit()
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		e.SetObject(parseAddr(name), providerConfig, object(value))
	}
	return e.State()
}

func show(s *states.State) string {
	var words []string
	for a := range each(s) {
		_, value, _ := strings.Cut(string(s.Object(a).AttrsJSON), `"v":"`)
		name := strings.TrimPrefix(a.Instance.String(), "thing.")
		if a.Deposed != addrs.NotDeposed {
			name += "!" + string(a.Deposed)
		}
		words = append(words, name+"="+strings.Trim(value, `"} `))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func sumOf(s *states.State) string {
	text, err := statefile.Write(s)
	if err != nil {
		panic(err)
	}
	return SHA256(text)
}

func (n *notation) Append(_ bool, records ...[]byte) func(context.Context) error {
	n.lines = append(n.lines, records...)
	return func(context.Context) error { return nil }
}

// kept is a writer that keeps which records are to be durable.
type kept struct{ durable []bool }

func (k *kept) Append(durable bool, _ ...[]byte) func(context.Context) error {
	k.durable = append(k.durable, durable)
	return func(context.Context) error { return nil }
}

// TestInnerIntents: the intent for an object that is in the state only need not be durable; any other must.
func TestInnerIntents(t *testing.T) {
	k := new(kept)
	j := New("run", k)
	for _, inner := range []bool{false, true} {
		if _, err := j.Intent(t.Context(), Intent{Address: "thing.a", Action: "create", Inner: inner}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []bool{true, false}; !slices.Equal(k.durable, want) {
		t.Errorf("durable: %v, want %v", k.durable, want)
	}
}

// groups is a writer that keeps how many records came together, and whether they are to be durable.
type groups struct{ all []string }

func (g *groups) Append(durable bool, records ...[]byte) func(context.Context) error {
	g.all = append(g.all, fmt.Sprintf("%d %t", len(records), durable))
	return func(context.Context) error { return nil }
}

// TestFirstRecords: the start of a run is stored with its first record, durably, and not without one.
func TestFirstRecords(t *testing.T) {
	g := new(groups)
	j := New("run", g)
	if err := j.Begin(Start{Stored: states.Empty(), Prior: states.Empty()}); err != nil {
		t.Fatal(err)
	}
	if err := j.Flush(t.Context()); err != nil || len(g.all) > 0 {
		t.Fatalf("%v: %v", g.all, err)
	}
	for range 2 {
		if _, err := j.Intent(t.Context(), Intent{Address: "thing.a", Action: "create", Inner: true}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"2 true", "1 false"}; !slices.Equal(g.all, want) {
		t.Errorf("%q, want %q", g.all, want)
	}
}

// failing is a writer that cannot write.
type failing struct{ error }

func (f failing) Append(bool, ...[]byte) func(context.Context) error {
	return func(context.Context) error { return f.error }
}

func (n *notation) step(text string) {
	n.t.Helper()
	verb, rest, _ := strings.Cut(text, " ")
	ctx := n.t.Context()
	var err error
	switch verb {
	case "begin":
		n.runs++
		n.journal = New(fmt.Sprint("run", n.runs), n)
		n.prior = n.state(rest)
		n.now = n.prior.Edit()
		err = n.journal.Begin(Start{Plan: n.plan, Stored: n.stored, Prior: n.now.Current(), Sum: sumOf(n.stored), Lineage: "lineage"})
		n.lines = append(n.lines, n.journal.first) // by itself, as a crash of a run with many records could leave it
		n.journal.first = nil
	case "invoke": // ends by "done invoke a"
		n.ids["invoke "+rest], err = n.journal.Intent(ctx, InvocationIntent(invocation(rest)))
	case "create", "update", "delete":
		n.ids[rest], err = n.journal.Intent(ctx, Intent{Address: parseAddr(rest).Instance.String(), Action: verb})
	case "done", "failed":
		problem := map[string]string{"failed": "refused"}[verb]
		err = n.journal.Outcome(ctx, n.ids[rest], problem)
	case "flush":
		err = n.journal.Flush(ctx)
	case "save", "announce":
		s := n.now.State().With("lineage", n.stored.Serial+1)
		n.now = s.Edit()
		text, werr := statefile.Write(s)
		if err = errors.Join(werr, n.journal.Saving(ctx, text)); verb == "save" {
			n.stored = s
		}
	case "reduce":
		f := n.fold()
		n.stored, n.lines = f.State, nil
		for _, o := range f.Open {
			n.lines = append(n.lines, o.Record)
		}
		for _, c := range f.Conflicts {
			n.lines = append(n.lines, c.Record)
		}
	case "foreign":
		n.stored = n.state(rest).With("lineage", n.stored.Serial+1)
	default:
		name, value, ok := strings.Cut(verb, "=")
		if !ok {
			n.t.Fatalf("step %q", text)
		}
		a := parseAddr(name)
		was := n.now.Current().Object(a)
		n.journal.Edit(a, providerConfig, was, object(value))
		n.now.SetObject(a, providerConfig, object(value))
	}
	if err != nil {
		n.t.Fatalf("%s: %v", text, err)
	}
}

// invocation is an action for an object.
func invocation(word string) *plans.Invocation {
	action, err := addrs.ParseAction("action.thing.n")
	if err != nil {
		panic(err)
	}
	return &plans.Invocation{Addr: action, Caller: parseAddr(word).Instance, Event: config.AfterCreate, Trigger: 1}
}

func (n *notation) fold() Folded {
	n.t.Helper()
	f, err := Fold(n.stored, sumOf(n.stored), n.lines)
	if err != nil {
		n.t.Fatalf("Fold: %v", err)
	}
	return f
}

func outcomeOf(f Folded) string {
	words := []string{show(f.State)}
	for _, o := range f.Open {
		words = append(words, "open "+strings.TrimPrefix(o.Address, "thing.")+" "+o.Action)
	}
	for _, c := range f.Conflicts {
		words = append(words, "conflict "+strings.TrimPrefix(c.Address, "thing."))
	}
	if f.Foreign {
		words = append(words, "foreign")
	}
	return strings.TrimPrefix(strings.Join(words, "; "), "; ")
}

func TestFold(t *testing.T) {
	file, err := os.Open("testdata/fold.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var name string
	var n *notation
	tests := 0
	for scan := bufio.NewScanner(file); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		head, rest, _ := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
			if line != "" {
				name = line
			}
		case head == "stored" || line == "stored:":
			n = newNotation(t, rest)
		case head == "steps":
			for step := range strings.SplitSeq(rest, ";") {
				n.step(strings.TrimSpace(step))
			}
		case head == "folded" || line == "folded:":
			tests++
			got := outcomeOf(n.fold())
			if want := strings.TrimSuffix(rest, ":"); got != want {
				t.Errorf("%s\n got  %s\n want %s", name, got, want)
			}
		default:
			t.Fatalf("line %q", line)
		}
	}
	if tests < 15 {
		t.Fatalf("only %d tests", tests)
	}
}

// TestCrashAnywhere lets random runs die after each of their records, and at each save before
// and after the state is stored: folding gives the objects of that moment, and the creations
// under way are open. Folding again, and folding what was folded, changes nothing.
func TestCrashAnywhere(t *testing.T) {
	for seed := range uint64(100) {
		crashAnywhere(t, rand.New(rand.NewPCG(seed, 1)))
	}
}

func crashAnywhere(t *testing.T, r *rand.Rand) {
	n := newNotation(t, "a=0 b=0")
	n.step("begin a=0 b=0")
	truth := map[string]string{"a": "0", "b": "0"}
	open := map[string]string{}
	for i := range 30 {
		name := string('a' + rune(r.IntN(5)))
		switch verb := open[name]; {
		case r.IntN(6) == 0:
			n.step([]string{"save", "announce"}[r.IntN(2)])
		case verb == "" && truth[name] == "":
			open[name] = "create"
			n.step("create " + name)
		case verb == "":
			open[name] = []string{"update", "delete"}[r.IntN(2)]
			n.step(open[name] + " " + name)
		default:
			value := fmt.Sprint(i)
			if verb == "delete" {
				value = "gone"
			}
			n.step(name + "=" + value)
			n.step("done " + name)
			truth[name] = value
			if value == "gone" {
				delete(truth, name)
			}
			delete(open, name)
		}
		f := n.fold()
		var words []string
		for name, value := range truth {
			words = append(words, name+"="+value)
		}
		slices.Sort(words)
		if got := show(f.State); got != strings.Join(words, " ") {
			t.Fatalf("after step %d the state is %s, want %s", i, got, words)
		}
		var left []string
		for _, o := range f.Open {
			left = append(left, strings.TrimPrefix(o.Address, "thing."))
		}
		if slices.Sort(left); !slices.Equal(left, slices.Sorted(maps.Keys(open))) {
			t.Fatalf("after step %d open are %v, want %v", i, left, open)
		}
		again, err := Fold(f.State, sumOf(f.State), n.lines)
		if err != nil || again.Changed || len(again.Conflicts) > 0 {
			t.Fatalf("folded again after step %d: changed %v, conflicts %v (%v)", i, again.Changed, again.Conflicts, err)
		}
	}
}

func TestFoldRefuses(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"another lineage": {`{"kind":"begin","lineage":"other"}`, `record 1 of the journal: the journal belongs to a state of lineage "other", and the state has lineage "lineage"`},
		"a newer kind":    {`{"kind":"resume"}`, `record 1 of the journal: its kind is "resume", which this version of Lockstep does not know: use the version that wrote it, or a newer one`},
		"no JSON":         {`{"kind":`, `record 1 of the journal: unexpected end of JSON input`},
		"no conflict":     {`{"kind":"conflict"}`, `record 1 of the journal: a conflict without content`},
		"no intent":       {`{"kind":"intent","id":"1"}`, `record 1 of the journal: an intent without content`},
		"no address":      {`{"kind":"edits","edits":[{"addr":"?"}]}`, `the journal names "?": `},
		"another object":  {`{"kind":"edits","edits":[{"addr":"thing.b","now":"x","state":{"version":4,"serial":0,"lineage":""}}]}`, `the journal's object thing.b is that of another address`},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNotation(t, "a=1")
			_, err := Fold(n.stored, sumOf(n.stored), [][]byte{[]byte(test.line)})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("the error is %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestNothingIsBegunWithoutItsRecord: where an intent cannot be written the caller hears of it.
func TestNothingIsBegunWithoutItsRecord(t *testing.T) {
	full := errors.New("disk full")
	j := New("run", failing{full})
	if _, err := j.Intent(t.Context(), Intent{Address: "thing.a", Action: plans.Create.String()}); !errors.Is(err, full) {
		t.Fatalf("Intent returned %v", err)
	}
}

// TestNoJournal: without one everything is allowed and nothing is written.
func TestNoJournal(t *testing.T) {
	var j *Journal
	id, err := j.Intent(t.Context(), Intent{})
	j.Edit(parseAddr("a"), providerConfig, nil, object("1"))
	if err = errors.Join(err, j.Begin(Start{}), j.Outcome(t.Context(), id, ""), j.Flush(t.Context()), j.Saving(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
}
