package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestCompare holds which files of a later checkout count, and how.
func TestCompare(t *testing.T) {
	for _, test := range []struct{ name, in, now, want string }{
		{"nothing", "net/a.tf=1", "net/a.tf=1", ""},
		{"configuration", "net/a.tf=1 net/b.tofu=1 net/c.tfvars=1", "net/a.tf=2 net/b.tofu=2 net/c.tfvars=2", "blocks net/a.tf net/b.tofu, own net/c.tfvars"},
		{"a new file, and one that is gone", "net/a.tf=1", "net/b.tf=1", "blocks net/a.tf net/b.tf"},
		{"the lock file of the project alone", "net/.terraform.lock.hcl=1 dns/.terraform.lock.hcl=1", "net/.terraform.lock.hcl=2 dns/.terraform.lock.hcl=2", "own dns/.terraform.lock.hcl"},
		{"read as text", "net/a.tf=1 net/b.tf=1 read:net/a.tf", "net/a.tf=2 net/b.tf=2", "blocks net/b.tf, own net/a.tf"},
		{"read as text later", "net/a.tf=1", "net/a.tf=2 read:net/a.tf", "own net/a.tf"},
		{"a directory that was read", "net/a.tf=1 netz/a.tf=1 read:net", "net/a.tf=2 netz/a.tf=2", "blocks netz/a.tf, own net/a.tf"},
		{"all was read", "net/a.tf=1 read:.", "net/a.tf=2", "own net/a.tf"},
		{"around", "own net/a.tf=1 x=1 y.tf=1", "own net/a.tf=2 x=2 y.tf=2", "blocks net/a.tf, around x y.tf"},
		{"around, but own by now", "own net/a.tf=1 own x=1", "own net/a.tf=1 x=2", "own x"},
		{"around, but own later", "own net/a.tf=1 x=1", "own net/a.tf=1 own x=2", "own x"},
		{"around, but read", "own net/a.tf=1 x=1 read:x", "own net/a.tf=1 x=2", "own x"},
		{"around, but read later", "own net/a.tf=1 x=1", "own net/a.tf=1 x=2 read:x", "own x"},
	} {
		m := inputs(test.in).Compare(inputs(test.now), net)
		var got []string
		for _, x := range []struct {
			name  string
			files []string
		}{{"blocks", m.Blocks}, {"own", m.Own}, {"around", m.Around}} {
			if slices.Sort(x.files); len(x.files) > 0 {
				got = append(got, x.name+" "+strings.Join(x.files, " "))
			}
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// inputs makes inputs of words FILE=HASH, after "own" of those that count without programs, and read:FILE.
func inputs(text string) Inputs {
	in, own := Inputs{Tree: project.Tree{}}, false
	for word := range strings.FieldsSeq(text) {
		name, hash, _ := strings.Cut(word, "=")
		switch read, is := strings.CutPrefix(word, "read:"); {
		case is:
			in.Read = append(in.Read, read)
		case word == "own":
			own, in.Whole = true, true
			if in.Own == nil {
				in.Own = project.Tree{}
			}
		default:
			if in.Tree[name] = hash; own {
				in.Own[name] = hash
			}
			own = false
		}
	}
	return in
}

// TestInputs holds that inputs are those that were planned, whoever may write artifacts.
func TestInputs(t *testing.T) {
	in := inputs("own net/a.tf=1 x=1 read:x read:y")
	seen := map[string]string{}
	for _, other := range []string{
		"own net/a.tf=1 x=1 read:x read:y", "own net/a.tf=2 x=1 read:x read:y", "own net/a.tf=1 own x=1 read:x read:y", "own net/a.tf=1 x=1 read:x", "net/a.tf=1 x=1 read:x read:y",
	} {
		hash := inputs(other).Hash()
		if before, is := seen[hash]; is {
			t.Errorf("%s and %s have the same hash", before, other)
		}
		seen[hash] = other
	}
	if !in.Scope().Whole || !slices.Equal(in.Scope().Read, in.Read) {
		t.Errorf("scope: %+v", in.Scope())
	}
	r := net
	r.Plan.Inputs = in.Hash()
	for value, want := range map[string]string{
		string(pipeline.Encode(in)):                   "",
		string(pipeline.Encode(inputs("net/a.tf=1"))): "it was exchanged",
		"{": "unexpected end",
		"":  "no such artifact",
	} {
		store := &memory.Store{}
		if value != "" {
			if err := store.Artifacts().Put(t.Context(), r.InputsRecord(), []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := LoadInputs(t.Context(), store.Artifacts(), r)
		if want == "" && (err != nil || got.Hash() != in.Hash()) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v, want %q", value, got, err, want)
		}
	}
}

// TestText holds that a text that is not there is empty, and one that cannot be read an error.
func TestText(t *testing.T) {
	store := &memory.Store{}
	if text, err := Text(t.Context(), store.Artifacts(), net.Report()); text != "" || err != nil {
		t.Errorf("none: %q, %v", text, err)
	}
	if err := store.Artifacts().Put(t.Context(), net.Report(), []byte("Hello.")); err != nil {
		t.Fatal(err)
	}
	if text, err := Text(t.Context(), store.Artifacts(), net.Report()); text != "Hello." || err != nil {
		t.Errorf("one: %q, %v", text, err)
	}
	down := memory.Deciding(func(memory.Effect) memory.Verdict { return memory.Verdict{Undone: errAsked} })
	if _, err := Text(t.Context(), down.Artifacts(store.Artifacts()), net.Report()); !errors.Is(err, errAsked) {
		t.Errorf("a failure: %v", err)
	}
}

// TestSweep holds which artifacts are deleted, and that a failure ends it.
func TestSweep(t *testing.T) {
	var calls []string
	artifacts := memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		calls = append(calls, strings.TrimPrefix(x.Call, "drop 5/7/net@default/"))
		if len(calls) == 12 {
			v.Undone = errAsked
		}
		return v
	}).Artifacts((&memory.Store{}).Artifacts())
	r := net
	r.Artifacts.Swept = 1
	if err := Sweep(t.Context(), artifacts, r, 3, func() pipeline.Artifact { r := r; r.Artifacts.Begun = 3; return r.Report() }()); !errors.Is(err, errAsked) {
		t.Errorf("a failure: %v", err)
	}
	want := "2/plan 2/report.md 2/full.txt 2/inputs.json 2/again 2/outputs 2/notes.json 2/result-1.md 2/result-1.txt 3/plan 3/full.txt 3/inputs.json"
	if got := strings.Join(calls, " "); got != want {
		t.Errorf("deleted: %s", got)
	}
	calls = nil
	if err := Sweep(t.Context(), artifacts, r, 1); err != nil || calls != nil {
		t.Errorf("what is swept already: %s, %v", calls, err)
	}
}

// TestAnswer reads answers.
func TestAnswer(t *testing.T) {
	a := Answer{Name: "17", Replies: []Reply{{ID: "plan-net"}, {ID: "apply-dns"}}}
	if a.Comment() != 17 || (Answer{Name: MergeAnswer}).Comment() != 0 {
		t.Errorf("comments: %d, %d", a.Comment(), Answer{Name: MergeAnswer}.Comment())
	}
	if !a.Has("apply-") || a.Has("net") || (Answer{}).Has("") {
		t.Error("replies are not found by the beginning of their IDs")
	}
	for _, reply := range []comment.Reply{comment.Pending{}, comment.Refused{}} {
		data, err := comment.MarshalReply(reply)
		if err != nil {
			t.Fatal(err)
		}
		if _, want := reply.(comment.Pending); (Reply{Data: data}).Pending() != want {
			t.Errorf("%T: pending is %t", reply, !want)
		}
	}
	if (Reply{Data: []byte("{")}).Pending() {
		t.Error("what cannot be read is pending")
	}
}

// TestReplaced holds which answers newer plans have replaced: only those about nothing but plans.
func TestReplaced(t *testing.T) {
	latest := map[string]int{"net@default": 2, "dns@default": 1}
	for ids, want := range map[string]bool{
		"":                                       false,
		"plan net@default 1":                     true,
		"plan net@default 2":                     false,
		"plan net@default 1,plan dns@default 1":  false,
		"plan net@default 1,apply net@default 1": false,
		"plan gone@default 1":                    false,
		"plan net@default":                       false,
		"0":                                      false,
	} {
		var a Answer
		for id := range strings.SplitSeq(ids, ",") {
			if id != "" {
				a.Replies = append(a.Replies, Reply{ID: id})
			}
		}
		if got := a.Replaced(latest); got != want {
			t.Errorf("%q: replaced is %t", ids, got)
		}
	}
}

// TestBusy holds until when a process may be at work.
func TestBusy(t *testing.T) {
	for stop, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Second: true} {
		b := Begun{ApplyRecord: ApplyRecord{HardStop: noon.Add(stop)}}
		if got := b.Busy(noon); got != want {
			t.Errorf("%s before its end: %t", stop, got)
		}
		if b.Rested = true; b.Busy(noon) {
			t.Errorf("%s before its end it is busy, though it rests", stop)
		}
	}
}

// TestHoldsUntilTheEnd holds that a lease ends with the time that its process has.
func TestHoldsUntilTheEnd(t *testing.T) {
	ld := Ledger{Records: &memory.Store{}}
	begun := time.Now()
	for _, hold := range []func(*Holder) error{
		func(h *Holder) error { return h.Hold(t.Context(), net) },
		func(h *Holder) error { return h.HandOver(t.Context(), net) },
	} {
		if err := hold(&Holder{Ledger: ld, Message: message("m")}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ld.Leases(t.Context())
	if err != nil || len(all) != 1 || all[0].HardStop.Before(begun) || all[0].HardStop.After(time.Now()) {
		t.Errorf("at rest: %+v, %v", all, err)
	}
	if err := (&Holder{Ledger: ld, Message: message("m")}).Hold(t.Context(), net); err != nil {
		t.Fatal(err)
	}
	all, err = ld.Leases(t.Context())
	if err != nil || len(all) != 1 || all[0].HardStop.Before(begun.Add(unlimited)) || all[0].HardStop.After(time.Now().Add(unlimited)) {
		t.Errorf("without an end: %+v, %v", all, err)
	}
	if got := fmt.Sprint(unlimited); got != "6h0m0s" {
		t.Errorf("a process without an end works for %s", got)
	}
}

// TestHoldAlone is a table of leases that a process meets when it wants to be alone with a message.
func TestHoldAlone(t *testing.T) {
	t.Parallel()
	mine, other := message("m"), message("n")
	soon, past := time.Now().UTC().Add(time.Hour), time.Now().Add(-time.Second)
	for name, c := range map[string]struct {
		there *Lease
		ends  bool // the process knows its end
		busy  bool
	}{
		"none":                            {nil, true, false},
		"of a living process":             {&Lease{mine, soon, ""}, true, true},
		"of a dead process":               {&Lease{mine, past, ""}, true, false},
		"of another message":              {&Lease{other, soon, ""}, true, false},
		"where processes have no end set": {&Lease{mine, soon, ""}, false, false},
	} {
		ld := Ledger{Records: &memory.Store{}}
		if c.there != nil {
			if _, err := ld.Records.Put(t.Context(), leaseKey(net.Key()), pipeline.Encode(*c.there), ""); err != nil {
				t.Fatal(err)
			}
		}
		ctx, h := t.Context(), &Holder{Ledger: ld, Message: mine}
		if c.ends {
			ctx = pipeline.WithHardStop(ctx, soon) // as the living process, whose lease has the same bytes
		}
		var busy *pipeline.BusyError
		err := h.HoldAlone(ctx, net)
		if errors.As(err, &busy) != c.busy || c.busy != (err != nil) || c.busy && !busy.Until.Equal(soon) {
			t.Errorf("%s: %v", name, err)
		}
		if again := h.HoldAlone(ctx, net); !c.busy && again != nil {
			t.Errorf("%s: its own lease is in its way: %v", name, again)
		}
		if err := h.LetGo(ctx); err != nil {
			t.Fatal(err)
		}
		if left, err := ld.Leases(ctx); err != nil || (len(left) == 1) != c.busy {
			t.Errorf("%s: %+v is left, %v", name, left, err)
		}
	}
}
