package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

var (
	pull  = pipeline.Pull{Installation: 3, Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 7}
	net   = runs.Run{ID: runs.ID{Pull: pull, Project: "net", Workspace: "default"}, Phase: runs.Planned, Spec: runs.Spec{Dir: "net", Head: "h"}, Asked: runs.Asked{Attempt: 2, Try: 1}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Hash: "abcdefabcdef"}}, Artifacts: runs.Artifacts{Begun: 2}}
	dns   = runs.Run{ID: runs.ID{Pull: pull, Project: "dns", Workspace: "default"}, Phase: runs.Applying, Spec: runs.Spec{Dir: "dns", Head: "h"}, Asked: runs.Asked{Try: 4}}
	noon  = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	begun = ApplyRecord{Nonce: "first", Begun: noon, Commit: "c", Fence: 2, HardStop: noon, Progress: comment.Progress{Done: 1, Of: 3}, Idle: 1}
)

// records are all that a use finds.
var records = map[string]any{
	net.Key():              net,
	dns.Key():              dns,
	net.StateKey():         runs.LastApply{Number: 7, Head: "h", By: "ann", Settled: true},
	dns.StateKey():         runs.LastApply{Number: 8, Head: "g", By: "bob"},
	applyRecordKey(net):    begun,
	leaseKey(net.Key()):    Lease{Message: pipeline.Message{ID: "m", Kind: pipeline.ToPlan}, HardStop: noon},
	stopKey(dns.Key()):     Stop{Verb: comment.Apply, Number: 4, By: "zoe", At: noon},
	lookKey(pull):          Look{Pull: pull, Head: "h", Display: Display{Heads: []string{"g", "h"}}},
	net.ShownKey():         noon,
	AnswerDir(pull) + "/9": Answer{Pull: pull, Name: "9"},
	"message/one":          json.RawMessage("try 2"), // no JSON, but stored as it is

	runs.AddressKey(5, dns.Target()): addresses{Place: "s3://states/dns", Of: map[string]where{"": {Place: "s3://states/dns"}, "release": {Place: "s3://states/dns"}, "main": {Place: "s3://states/dns"}}},
	inBucket(dns, "dns").StateKey():  runs.LastApply{Number: 8, Head: "f", By: "bob"},
}

// inBucket is a run with a plan of a state in a bucket.
func inBucket(r runs.Run, key string) runs.Run {
	r.Address.Place = "s3://states/" + key
	return r
}

// moved is a run whose plan moves its state.
func moved(r runs.Run) runs.Run {
	r.Address.From, r.Address.Were = "s3://states/dns", []string{"s3://states/was"}
	return inBucket(r, "else")
}

func message(id string) pipeline.Message {
	return pipeline.Message{ID: id, Kind: pipeline.ToPlan, Pull: pull, Target: net.Target()}
}

// A use of a ledger returns what its caller learns.
type use func(ctx context.Context, ld Ledger) (any, error)

func only(f func(ctx context.Context, ld Ledger) error) use {
	return func(ctx context.Context, ld Ledger) (any, error) { return nil, f(ctx, ld) }
}

// taken is the apply record as a process has read it.
func taken(ctx context.Context, ld Ledger) (Begun, error) {
	e, version, err := ld.ApplyRecord(ctx, net)
	return Begun{e, version}, err
}

var uses = map[string]use{
	"load":      func(ctx context.Context, ld Ledger) (any, error) { return ld.Load(ctx, net) },
	"load none": func(ctx context.Context, ld Ledger) (any, error) { r := net; r.Project = "new"; return ld.Load(ctx, r) },
	"read none": func(ctx context.Context, ld Ledger) (any, error) { return ld.Read(ctx, "run/5/7/none") },
	"runs":      func(ctx context.Context, ld Ledger) (any, error) { return ld.Runs(ctx, pull) },
	"save": func(ctx context.Context, ld Ledger) (any, error) {
		s, err := ld.Load(ctx, net)
		if err != nil {
			return nil, err
		}
		s.Asked.By = "zoe"
		if s, err = ld.Save(ctx, s); err != nil {
			return nil, err
		}
		return ld.Save(ctx, s.To(runs.ApplyQueued)) // the version is the new one
	},
	"last apply": func(ctx context.Context, ld Ledger) (any, error) { return ld.LastApply(ctx, net) },
	"last apply none": func(ctx context.Context, ld Ledger) (any, error) {
		r := net
		r.Project = "new"
		return ld.LastApply(ctx, r)
	},
	"remember the same": only(func(ctx context.Context, ld Ledger) error {
		return ld.Remember(ctx, net, runs.LastApply{Number: 7, Head: "h", By: "ann"})
	}),
	"remember another": only(func(ctx context.Context, ld Ledger) error {
		return ld.Remember(ctx, net, runs.LastApply{Number: 7, Head: "i", By: "ann"})
	}),
	"remember the first": only(func(ctx context.Context, ld Ledger) error {
		r := net
		r.Project = "new"
		return ld.Remember(ctx, r, runs.LastApply{Number: 7})
	}),
	// The records of net stand under its name, those of dns under the address of its state and under its name.
	"last apply, not at the address yet": func(ctx context.Context, ld Ledger) (any, error) { return ld.LastApply(ctx, inBucket(net, "net")) },
	"remember, not at the address yet": only(func(ctx context.Context, ld Ledger) error {
		return ld.Remember(ctx, inBucket(net, "net"), runs.LastApply{Number: 8})
	}),
	"settle, not at the address yet": func(ctx context.Context, ld Ledger) (any, error) {
		return ld.Settle(ctx, inBucket(net, "net"), 7, runs.StillOpen)
	},
	"settle another's, not at the address yet": func(ctx context.Context, ld Ledger) (any, error) {
		return ld.Settle(ctx, inBucket(net, "net"), 8, runs.Closed)
	},
	"an address": func(ctx context.Context, ld Ledger) (any, error) {
		return putAddress(ctx, ld, inBucket(net, "net"), "main")
	},
	"the same address": func(ctx context.Context, ld Ledger) (any, error) {
		return putAddress(ctx, ld, inBucket(dns, "dns"), "main")
	},
	"another address": func(ctx context.Context, ld Ledger) (any, error) {
		return putAddress(ctx, ld, inBucket(dns, "else"), "main")
	},
	"the address in another base branch": func(ctx context.Context, ld Ledger) (any, error) {
		return putAddress(ctx, ld, inBucket(dns, "else"), "release")
	},
	"remember a move": only(func(ctx context.Context, ld Ledger) error {
		return ld.Remember(ctx, moved(dns), runs.LastApply{Number: 8})
	}),
	"last apply of a move": func(ctx context.Context, ld Ledger) (any, error) { return ld.LastApply(ctx, moved(dns)) },
	"settle a move": func(ctx context.Context, ld Ledger) (any, error) {
		return SettleAll(ctx, ld, moved(dns), 7, runs.Closed)
	},
	"lock a move": func(ctx context.Context, ld Ledger) (any, error) {
		return ld.Reserve(ctx, moved(dns), runs.Reservation{Number: 7})
	},
	"move the last apply": only(func(ctx context.Context, ld Ledger) error {
		r := moved(dns)
		r.Pull.Number = 9
		return MoveLast(ctx, ld, r)
	}),
	"open a move, and shut": only(func(ctx context.Context, ld Ledger) error {
		return errors.Join(ld.ListPlan(ctx, moved(dns), "ann"), ld.UnlistPlan(ctx, moved(dns)))
	}),
	"last apply at the address of a project": func(ctx context.Context, ld Ledger) (any, error) { return ld.LastApply(ctx, dns) },
	"last apply of another name": func(ctx context.Context, ld Ledger) (any, error) {
		r := inBucket(dns, "dns")
		r.Project = "names"
		return ld.LastApply(ctx, r)
	},
	"lock under another name": func(ctx context.Context, ld Ledger) (any, error) {
		r := inBucket(dns, "dns")
		r.Project = "names"
		if _, err := ld.Reserve(ctx, dns, runs.Reservation{Number: 7, By: "ann"}); err != nil {
			return nil, err
		}
		if v, err := ld.Reserve(ctx, r, runs.Reservation{Number: 8, By: "bob"}); err != nil || v.Number != 7 {
			return v, err
		}
		if _, err := ld.LiftReservation(ctx, r, 7); err != nil {
			return nil, err
		}
		return nil, ld.DropReservation(ctx, dns, 7)
	},
	"left of a project of another name": func(ctx context.Context, ld Ledger) (any, error) {
		r, by := inBucket(dns, "dns"), inBucket(dns, "dns")
		by.Project, by.Pull.Number = "names", 9
		if err := PutUnapplied(ctx, ld, r, "merged"); err != nil {
			return nil, err
		}
		all, err := UnappliedMerges(ctx, ld, by)
		if err != nil || len(all) != 1 {
			return all, err
		}
		if err := FinishUnapplied(ctx, ld, all[0], by); err != nil {
			return nil, err
		}
		return UnappliedOf(ctx, ld, r)
	},
	"open a plan at an address": func(ctx context.Context, ld Ledger) (any, error) {
		r := inBucket(dns, "dns")
		r.Project = "names"
		if err := ld.ListPlan(ctx, r, "ann"); err != nil {
			return nil, err
		}
		return ld.OpenPlans(ctx, dns.Pull.Repo.ID, "", dns.Target())
	},
	"shut a plan at an address": only(func(ctx context.Context, ld Ledger) error { return ld.UnlistPlan(ctx, inBucket(dns, "dns")) }),
	"open a plan":               only(func(ctx context.Context, ld Ledger) error { return ld.ListPlan(ctx, net, "ann") }),
	"shut a plan": func(ctx context.Context, ld Ledger) (any, error) {
		if err := ld.ListPlan(ctx, net, "ann"); err != nil {
			return nil, err
		}
		if err := ld.UnlistPlan(ctx, net); err != nil {
			return nil, err
		}
		return ld.OpenPlans(ctx, net.Pull.Repo.ID, "", net.Target())
	},
	"shut none":        only(func(ctx context.Context, ld Ledger) error { return ld.UnlistPlan(ctx, net) }),
	"settle":           func(ctx context.Context, ld Ledger) (any, error) { return ld.Settle(ctx, net, 7, runs.StillOpen) },
	"settle again":     func(ctx context.Context, ld Ledger) (any, error) { return ld.Settle(ctx, net, 7, runs.Closed) },
	"settle another's": func(ctx context.Context, ld Ledger) (any, error) { return ld.Settle(ctx, dns, 7, runs.Closed) },
	"settle none": func(ctx context.Context, ld Ledger) (any, error) {
		r := net
		r.Project = "new"
		return ld.Settle(ctx, r, 7, runs.Closed)
	},
	"reopen": only(func(ctx context.Context, ld Ledger) error { return ld.Reopen(ctx, pull) }),
	"shown": only(func(ctx context.Context, ld Ledger) error {
		seen, next, other, hashless := net, net, net, net
		next.Artifacts.Begun, other.Artifacts.Begun, other.Plan.Hash, hashless.Artifacts.Begun, hashless.Plan.Hash = 3, 4, "0123456789abcdef", 5, ""
		text := markdown.PlanName(net.Plan.Hash) + "\n" + markdown.PlanName(dns.Plan.Hash) + "\n"
		_, err := ld.Shown(ctx, []Versioned{{Run: dns}, {Run: seen}, {Run: next}, {Run: other}, {Run: hashless}}, text, noon.Add(time.Hour))
		return err
	}),
	"shown at":      func(ctx context.Context, ld Ledger) (any, error) { return ld.ShownAt(ctx, net) },
	"shown at none": func(ctx context.Context, ld Ledger) (any, error) { return ld.ShownAt(ctx, dns) },
	"answered":      func(ctx context.Context, ld Ledger) (any, error) { return ld.Answered(ctx, pull, 9) },
	"not answered":  func(ctx context.Context, ld Ledger) (any, error) { return ld.Answered(ctx, pull, 19) },

	"apply record": func(ctx context.Context, ld Ledger) (any, error) { return taken(ctx, ld) },
	"begin": func(ctx context.Context, ld Ledger) (any, error) {
		r := net
		r.Asked.Try = 2
		return ld.Begin(ctx, r, ApplyRecord{Commit: "d"})
	},
	"begin again": func(ctx context.Context, ld Ledger) (any, error) { return ld.Begin(ctx, net, ApplyRecord{Commit: "d"}) },
	"go on": func(ctx context.Context, ld Ledger) (any, error) {
		b, err := taken(ctx, ld)
		if err != nil {
			return nil, err
		}
		return ld.TakeOver(ctx, net, b, noon.Add(time.Hour))
	},
	"far": func(ctx context.Context, ld Ledger) (any, error) {
		b, err := taken(ctx, ld)
		if err != nil {
			return nil, err
		}
		return ld.RecordProgress(ctx, net, b, comment.Ongoing{Progress: comment.Progress{Done: 2, Of: 3}})
	},
	"as far": func(ctx context.Context, ld Ledger) (any, error) {
		b, err := taken(ctx, ld)
		if err != nil {
			return nil, err
		}
		return ld.RecordProgress(ctx, net, b, comment.Ongoing{Progress: comment.Progress{Done: 1, Of: 4}})
	},
	"rest": func(ctx context.Context, ld Ledger) (any, error) {
		b, err := taken(ctx, ld)
		if err != nil {
			return nil, err
		}
		return ld.RecordHandOver(ctx, net, b, jobs.Outcome{Counts: counting.Counts{Add: 1}, Progress: comment.Progress{Done: 2, Of: 3}})
	},
	"end apply": only(func(ctx context.Context, ld Ledger) error {
		b, err := taken(ctx, ld)
		if err != nil {
			return err
		}
		b.Outcome = &jobs.Outcome{Report: "Done."}
		_, err = ld.EndApply(ctx, net, b)
		return err
	}),

	"order stop":         func(ctx context.Context, ld Ledger) (any, error) { return ld.OrderStop(ctx, dns, "ann") },
	"order stop at rest": func(ctx context.Context, ld Ledger) (any, error) { return ld.OrderStop(ctx, net, "ann") },
	"order stop of the next": func(ctx context.Context, ld Ledger) (any, error) {
		r := dns
		r.Asked.Try++
		return ld.OrderStop(ctx, r, "ann")
	},
	"order stop of a plan": func(ctx context.Context, ld Ledger) (any, error) {
		r := dns
		r.Phase, r.Asked.Attempt = runs.Planning, 4
		return ld.OrderStop(ctx, r, "ann")
	},
	"stop of": func(ctx context.Context, ld Ledger) (any, error) { return ld.StopOf(ctx, dns) },
	"stop of the next": func(ctx context.Context, ld Ledger) (any, error) {
		r := dns
		r.Asked.Try++
		return ld.StopOf(ctx, r)
	},
	"stop of a plan": func(ctx context.Context, ld Ledger) (any, error) {
		r := dns
		r.Phase, r.Asked.Attempt = runs.Queued, 4
		return ld.StopOf(ctx, r)
	},
	"stop of one at rest": func(ctx context.Context, ld Ledger) (any, error) {
		r := dns
		r.Phase = runs.Applied
		return ld.StopOf(ctx, r)
	},
	"stop of none": func(ctx context.Context, ld Ledger) (any, error) { return ld.StopOf(ctx, net) },

	"hold": only(func(ctx context.Context, ld Ledger) error {
		return (&Holder{Ledger: ld, Message: message("n")}).Hold(ctx, net)
	}),
	"rests": only(func(ctx context.Context, ld Ledger) error {
		return (&Holder{Ledger: ld, Message: message("n")}).HandOver(ctx, net)
	}),
	"let go": only(func(ctx context.Context, ld Ledger) error {
		h := &Holder{Ledger: ld, Message: message("n")}
		if err := h.LetGo(ctx); err != nil { // of nothing
			return err
		}
		if err := h.Hold(ctx, net); err != nil {
			return err
		}
		return h.LetGo(ctx)
	}),
	"let go of another's": only(func(ctx context.Context, ld Ledger) error {
		h := &Holder{Ledger: ld, Message: message("n")}
		if err := h.Hold(ctx, net); err != nil {
			return err
		}
		if err := (&Holder{Ledger: ld, Message: message("o")}).HandOver(ctx, net); err != nil {
			return err
		}
		return h.LetGo(ctx)
	}),
	"release": only(func(ctx context.Context, ld Ledger) error {
		return (&Holder{Ledger: ld, Message: message("m")}).Release(ctx, net.Key())
	}),
	"release another's": only(func(ctx context.Context, ld Ledger) error {
		return (&Holder{Ledger: ld, Message: message("n")}).Release(ctx, net.Key())
	}),
	"release none": only(func(ctx context.Context, ld Ledger) error {
		return (&Holder{Ledger: ld, Message: message("m")}).Release(ctx, dns.Key())
	}),
	"leases": func(ctx context.Context, ld Ledger) (any, error) { return ld.Leases(ctx) },

	"save look": only(func(ctx context.Context, ld Ledger) error {
		return ld.SaveLook(ctx, Look{Pull: pull, Head: "i", Display: Display{Heads: []string{"x"}}})
	}),
	"close look":   only(func(ctx context.Context, ld Ledger) error { return ld.CloseLook(ctx, pull, true) }),
	"give up look": only(func(ctx context.Context, ld Ledger) error { return ld.GiveUpLook(ctx, pull, "i") }),
	"appear":       only(func(ctx context.Context, ld Ledger) error { return ld.AddHead(ctx, pull, "i") }),
	"appear again": only(func(ctx context.Context, ld Ledger) error { return ld.AddHead(ctx, pull, "h") }),
	"disappear":    only(func(ctx context.Context, ld Ledger) error { return ld.RemoveHead(ctx, pull, "h") }),
	"last look":    func(ctx context.Context, ld Ledger) (any, error) { return ld.LastLook(ctx, pull) },
	"look at none": func(ctx context.Context, ld Ledger) (any, error) {
		return ld.LastLook(ctx, pipeline.Pull{Repo: pull.Repo, Number: 70})
	},
	"first look": only(func(ctx context.Context, ld Ledger) error {
		return ld.SaveLook(ctx, Look{Pull: pipeline.Pull{Repo: pull.Repo, Number: 70}, Head: "i"})
	}),

	"try": func(ctx context.Context, ld Ledger) (any, error) {
		return (&Attempts{Ledger: ld, Key: "message/one"}).Begin(ctx, true)
	},
	"peek": func(ctx context.Context, ld Ledger) (any, error) {
		return (&Attempts{Ledger: ld, Key: "message/one"}).Begin(ctx, false)
	},
	"try at first": func(ctx context.Context, ld Ledger) (any, error) {
		return (&Attempts{Ledger: ld, Key: "message/two"}).Begin(ctx, true)
	},
	"try and go on": func(ctx context.Context, ld Ledger) (any, error) {
		t := &Attempts{Ledger: ld, Key: "message/one"}
		if _, err := t.Begin(ctx, true); err != nil {
			return nil, err
		}
		t.Restart(ctx)
		t.Restart(ctx) // once is enough
		return nil, t.Finish(ctx)
	},
	"try once and go on": func(ctx context.Context, ld Ledger) (any, error) {
		t := &Attempts{Ledger: ld, Key: "message/two"}
		if _, err := t.Begin(ctx, true); err != nil {
			return nil, err
		}
		t.Restart(ctx)
		return nil, nil
	},
	"try and wait": func(ctx context.Context, ld Ledger) (any, error) {
		t := &Attempts{Ledger: ld, Key: "message/one"}
		if _, err := t.Begin(ctx, true); err != nil {
			return nil, err
		}
		t.TakeBack(ctx)
		return nil, nil
	},
	"uncounted": func(ctx context.Context, ld Ledger) (any, error) {
		t := &Attempts{Ledger: ld, Key: "message/one"}
		if _, err := t.Begin(ctx, false); err != nil {
			return nil, err
		}
		t.Restart(ctx)
		t.TakeBack(ctx)
		return nil, nil
	},
	"finish twice": func(ctx context.Context, ld Ledger) (any, error) {
		t := &Attempts{Ledger: ld, Key: "message/one"}
		if _, err := t.Begin(ctx, true); err != nil {
			return nil, err
		}
		if err := t.Finish(ctx); err != nil {
			return nil, err
		}
		return (&Attempts{Ledger: ld, Key: "message/one"}).Begin(ctx, true)
	},
}

var errAsked = errors.New("the test wants it to fail")

// A course is a use on a store of its own, with a fault: the call of that number fails ("undone"), happens and is
// reported as failed ("lost"), comes after another process's write ("late"), or reads a damaged record ("damaged").
type course struct {
	store *memory.Store
	calls []string
	fault string
	at    int
	quiet bool
}

// volatile are fields that are different each time.
var volatile = regexp.MustCompile(`"(Nonce|Begun|HardStop|At)":"[^"]{20,}"`)

// play returns the lines of a course: its calls, its writes, and its end.
func play(t *testing.T, u use, fault string, at int) (calls []string, end string) {
	t.Helper()
	c := &course{store: &memory.Store{}, fault: fault, at: at, quiet: true}
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if _, err := c.store.Put(t.Context(), key, stored(key), ""); err != nil {
			t.Fatal(err)
		}
	}
	c.quiet = false
	ctx, cancel := context.WithDeadline(t.Context(), noon.AddDate(100, 0, 0))
	defer cancel()
	out, err := u(ctx, Ledger{Records: memory.Deciding(c.decide).Records(c.store)})
	c.quiet = true
	end = fmt.Sprintf("returns %s", pipeline.Encode(out))
	switch {
	case errors.Is(err, pipeline.ErrConflict):
		end = "a conflict"
	case errors.Is(err, errAsked):
		end = "an error"
	case err != nil:
		end = "an error of its own"
	}
	for _, key := range c.keys(t) {
		rec, err := c.store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if was := stored(key); !bytes.Equal(was, rec.Value) {
			end += fmt.Sprintf("; %s is %s", key, rec.Value)
		}
	}
	end = strings.ReplaceAll(end, string(pipeline.Encode(pull)), `"#7"`)
	return c.calls, volatile.ReplaceAllString(end, `"$1":"*"`)
}

// stored is the value of a record as a use finds it.
func stored(key string) []byte {
	switch v := records[key].(type) {
	case nil:
		return nil
	case json.RawMessage:
		return v
	default:
		return pipeline.Encode(v)
	}
}

// keys are those of all records that there were or are.
func (c *course) keys(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	for key := range records {
		all[key] = true
	}
	for _, call := range c.calls {
		if verb, key, _ := strings.Cut(call, " "); verb != "list" {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (c *course) decide(x memory.Effect) (v memory.Verdict) {
	if c.quiet {
		return v
	}
	c.calls = append(c.calls, x.Call)
	if c.at != len(c.calls) {
		return v
	}
	verb, key, _ := strings.Cut(x.Call, " ")
	switch c.fault {
	case "undone":
		v.Undone = errAsked
	case "lost":
		v.Done = errAsked
	case "late", "damaged":
		if verb == "list" {
			key += "/" + net.Target()
		}
		c.quiet = true
		rec, err := c.store.Get(context.Background(), key)
		if err == nil {
			value := rec.Value
			if c.fault == "damaged" {
				value = []byte("{")
			}
			_, err = c.store.Put(context.Background(), key, value, rec.Version)
		}
		if err != nil {
			panic(err)
		}
		c.quiet = false
	}
	return v
}

// TestFaults plays each use, and each of its calls with each fault: testdata/faults.txt has the ends. A fault that leads
// to no error has to lead to the same end as none.
func TestFaults(t *testing.T) {
	const file = "testdata/faults.txt"
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		calls, end := play(t, uses[name], "", 0)
		fmt.Fprintf(&out, "%s\n  %s\n", name, end)
		for i, call := range calls {
			fmt.Fprintf(&out, "  %d %s\n", i+1, call)
			faults := []string{"undone", "damaged"}
			switch verb, _, _ := strings.Cut(call, " "); verb {
			case "put", "delete":
				faults = []string{"undone", "lost", "late"}
			}
			for _, fault := range faults {
				_, other := play(t, uses[name], fault, i+1)
				if other == end {
					other = "the same"
				}
				fmt.Fprintf(&out, "    %s: %s\n", fault, other)
			}
		}
	}
	golden.File(t, file, out.String())
}
