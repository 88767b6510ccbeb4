package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// runOf returns the run of the apply of a pull request.
func runOf(number int) runs.Run {
	parts := &runs.PlanParts{Inputs: fmt.Sprint("inputs of ", number), Engine: "1.0", Saved: runs.HashOf([]byte{byte(number)})}
	r := runs.Run{
		ID:   runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: number}, Project: "net", Workspace: "default"},
		Spec: runs.Spec{Dir: "net", Head: fmt.Sprintf("%040d", number)}, Asked: runs.Asked{By: "alice", Try: 1},
	}
	r.Plan.Parts, r.Plan.Hash = parts, parts.Hash()
	return r
}

// allowed returns the record that an apply is allowed, with an approval by bob.
func allowed(r runs.Run) audit.Record {
	rec := audit.Of(r, audit.ApplyAllowed, "alice")
	rec.Parts, rec.Applied, rec.Approved = r.Plan.Parts, r.Plan.Parts.Saved, []string{"bob"}
	q := requirementrules.Question{Command: "apply", Requirements: []requirements.Requirement{{Command: "apply", At: "lockstep.hcl:1", Rules: requirements.Rules{Approvals: 1}}}}
	q.Facts = requirementrules.Facts{
		Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Actor: "alice", Author: "alice", Planned: r.Spec.Head,
		Reviews: requirementrules.Known([]requirementrules.Review{{Author: "bob", State: "approved", SHA: r.Spec.Head}}),
		People: map[string]requirementrules.Person{
			"bob":   {Permission: requirementrules.Known("write")},
			"alice": {Permission: requirementrules.Known("write")},
		},
		Contributors: requirementrules.Known([]string{"alice"}),
	}
	ruling := requirementrules.Decide(q)
	rec.Question, rec.Ruling = &q, &ruling
	return rec
}

// ended returns the record that an apply has ended, which the record at has allowed.
func ended(r runs.Run, at runs.Audited) audit.Record {
	rec := audit.Of(r, audit.ApplyEnded, "alice")
	rec.Applied, rec.Allowed, rec.Approved = r.Plan.Parts.Saved, at.N, []string{"bob"}
	rec.Counts.Add = 1
	return rec
}

// history writes the records of applies of pull requests. It returns the chain, and the place of the last record.
func history(t *testing.T, applies int) (chain string, records [][]byte, last runs.Audited) {
	t.Helper()
	var store memory.Chains
	trail := audit.Trail{Chains: &store}
	add := func(r runs.Run, rec audit.Record) runs.Audited {
		at, err := trail.Append(t.Context(), r, last, rec)
		if err != nil {
			t.Fatal(err)
		}
		last = at
		return at
	}
	for n := 1; n <= applies; n++ {
		r := runOf(n)
		if n%4 == 0 {
			no := audit.Of(r, audit.ApplyRefused, "mallory")
			no.Reasons = "An approval is missing."
			add(r, no)
		}
		add(r, ended(r, add(r, allowed(r))))
	}
	chain = audit.ChainOf(runOf(1))
	return chain, store.All()[chain], last
}

// numbered is a record with the number that its key has.
type numbered struct {
	n    int
	data []byte
}

func number(records [][]byte) (out []numbered) {
	for i, data := range records {
		out = append(out, numbered{i + 1, data})
	}
	return out
}

// broken returns the texts of the findings that are breaks.
func broken(chain string, records []numbered, v audit.Verification) (out []string) {
	for _, r := range records {
		v.Add(chain, r.n, r.data)
	}
	for _, f := range v.End() {
		if f.Break {
			out = append(out, fmt.Sprintf("%d: %s", f.N, f.Text))
		}
	}
	return out
}

// TestVerifyFindsEachForgery carries out 2,000 random attacks on a chain: edits, deletions, reorderings, truncations and
// replays, half of them with all hashes computed anew. Each is found. An untouched chain has no finding.
func TestVerifyFindsEachForgery(t *testing.T) {
	t.Parallel()
	chain, records, last := history(t, 8)
	known := audit.Verification{Known: []runs.Audited{last}}
	if got := broken(chain, number(records), known); len(got) > 0 {
		t.Fatalf("an honest chain: %s", got)
	}
	kinds := map[string]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		forged, kind := attack(r, number(records))
		if r.IntN(2) == 0 && kind != "truncation" && kind != "byte" {
			kind += ", hashed anew"
			forged = hashAnew(t, forged)
		}
		if kinds[kind]++; len(broken(chain, forged, known)) == 0 {
			t.Errorf("seed %d: nobody notices the %s", seed, kind)
		}
	}
	t.Log(kinds)
}

// attack changes a chain in a random way.
func attack(r *rand.Rand, records []numbered) (forged []numbered, kind string) {
	forged = slices.Clone(records)
	i := r.IntN(len(forged))
	switch r.IntN(6) {
	case 0:
		data := slices.Clone(forged[i].data)
		for at := r.IntN(len(data)); ; at = r.IntN(len(data)) {
			if b := byte('a' + r.IntN(26)); data[at] != b {
				data[at] = b
				break
			}
		}
		forged[i].data = data
		return forged, "byte"
	case 1:
		var rec map[string]any
		if err := json.Unmarshal(forged[i].data, &rec); err != nil {
			panic(err)
		}
		field := []string{"By", "Plan", "Applied", "Head", "Event"}[r.IntN(5)]
		if rec[field] == "mallory2" || rec[field] == nil {
			field = "By"
		}
		rec[field] = "mallory2"
		forged[i].data = pipeline.Encode(rec)
		return forged, "edit"
	case 2:
		if i == len(forged)-1 {
			i--
		}
		return slices.Delete(forged, i, i+1), "deletion"
	case 3:
		j := (i + 1 + r.IntN(len(forged)-1)) % len(forged)
		forged[i].data, forged[j].data = forged[j].data, forged[i].data
		return forged, "reordering"
	case 4:
		return forged[:i], "truncation"
	}
	return append(forged, numbered{len(forged) + 1, forged[i].data}), "replay"
}

// hashAnew writes all numbers and hashes of a chain again, as an attacker with write access would.
func hashAnew(t *testing.T, records []numbered) (out []numbered) {
	t.Helper()
	var prev string
	for i, r := range records {
		var rec map[string]any
		if err := json.Unmarshal(r.data, &rec); err != nil {
			t.Fatal(err)
		}
		rec["N"] = i + 1
		if delete(rec, "Prev"); prev != "" {
			rec["Prev"] = prev
		}
		data := pipeline.Encode(rec)
		prev = runs.HashOf(data)
		out = append(out, numbered{i + 1, data})
	}
	return out
}

// TestVerifyProvesTheApply holds that a chain whose hashes are all right is broken if it does not prove that what was
// applied is what was approved.
func TestVerifyProvesTheApply(t *testing.T) {
	t.Parallel()
	type change = func(yes, end *audit.Record)
	for name, test := range map[string]struct {
		change change
		want   string
	}{
		"honest": {func(_, _ *audit.Record) {}, ""},
		"an approval of another commit": {func(yes, _ *audit.Record) {
			yes.Question.Facts.Reviews.Value[0].SHA = "another"
		}, "1: The facts in the record lead to another decision"},
		"no approval, and the ruling says so": {func(yes, _ *audit.Record) {
			yes.Question.Facts.Reviews.Value = nil
			no := requirementrules.Decide(*yes.Question)
			yes.Ruling = &no
		}, "1: The apply was allowed although its requirements were not met."},
		"no ruling": {func(yes, _ *audit.Record) { yes.Ruling = nil }, "1: The facts in the record lead to another decision"},
		"requirements of another commit": {func(yes, end *audit.Record) {
			yes.Head, end.Head = "another", "another"
		}, "1: The requirements were met for commit"},
		"another plan": {func(_, end *audit.Record) { end.Applied = "another" }, "2: The plan that was applied is not the one that record 1 allows: another"},
		"another plan from the beginning": {func(yes, end *audit.Record) {
			yes.Applied, end.Applied = "another", "another"
		}, "1: The plan to apply has the hash another"},
		"a plan made again": {func(yes, end *audit.Record) {
			yes.Applied, end.Applied, yes.Again, end.Again = "again", "again", true, true
		}, ""},
		"another provider": {func(yes, _ *audit.Record) {
			yes.Parts.Providers = map[string]string{"registry.terraform.io/hashicorp/null": "3.0.0"}
		}, "1: The parts of the plan do not have its hash"},
		"allowed by another record": {func(_, end *audit.Record) { end.Allowed = 7 }, "2: The apply was never allowed: record 7 does not allow it."},
		"allowed by no record":      {func(_, end *audit.Record) { end.Allowed = 0 }, "2: The apply was never allowed: record 0 does not allow it."},
		"another run":               {func(_, end *audit.Record) { end.Run = "another/1" }, "2: The apply was never allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runOf(1)
			yes := allowed(r)
			end := ended(r, runs.Audited{N: 1})
			test.change(&yes, &end)
			var store memory.Chains
			trail := audit.Trail{Chains: &store}
			at, err := trail.Append(t.Context(), r, runs.Audited{}, yes)
			if err == nil {
				_, err = trail.Append(t.Context(), r, at, end)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := broken(at.Chain, number(store.All()[at.Chain]), audit.Verification{})
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
				t.Errorf("found %q; want %q", got, test.want)
			}
		})
	}
}

// TestVerifyKnowsRetention holds that old records may be missing, and younger ones may not.
func TestVerifyKnowsRetention(t *testing.T) {
	t.Parallel()
	chain, records, last := history(t, 5)
	now := last.At
	late := number(records)[3:]
	for _, test := range []struct {
		kept, later time.Duration
		want        int
	}{{0, 400 * 24 * time.Hour, 1}, {365 * 24 * time.Hour, 0, 1}, {365 * 24 * time.Hour, 366 * 24 * time.Hour, 0}} {
		got := broken(chain, late, audit.Verification{Known: []runs.Audited{last}, Kept: test.kept, Now: now.Add(test.later)})
		if len(got) != test.want {
			t.Errorf("kept for %s, %s later: %q", test.kept, test.later, got)
		}
	}
}

// TestVerifyKnownPlace holds that a record that somebody has noted, and that is not old enough to have expired, must be
// there: also if the chain begins after it, with a record that says that its predecessor is old.
func TestVerifyKnownPlace(t *testing.T) {
	t.Parallel()
	chain, records, last := history(t, 1)
	var forged map[string]any
	if err := json.Unmarshal(records[len(records)-1], &forged); err != nil {
		t.Fatal(err)
	}
	forged["N"], forged["PrevAt"], forged["Event"] = last.N+1, last.At.Add(-500*24*time.Hour), "lock allowed"
	v := audit.Verification{Known: []runs.Audited{last}, Kept: 400 * 24 * time.Hour, Now: last.At.Add(time.Hour)}
	got := broken(chain, []numbered{{last.N + 1, pipeline.Encode(forged)}}, v)
	if len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf("%d: The record is missing, but Lockstep has written it at", last.N)) {
		t.Errorf("found %q", got)
	}
	v.Now = last.At.Add(401 * 24 * time.Hour)
	if got := broken(chain, nil, v); len(got) > 0 {
		t.Errorf("all has expired: %q", got)
	}
}

// TestAppendSurvives holds that an answer that was lost, a dead process and others who write lead to a chain without a gap,
// and to one end of an apply.
func TestAppendSurvives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store memory.Chains
		lose := false
		trail := audit.Trail{Chains: memory.Gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
			err := do(ctx)
			if lose && err == nil && !x.Reads {
				lose = false
				return fmt.Errorf("the answer is lost")
			}
			return err
		}).Chains(&store)}
		r, other := runOf(1), runOf(2)
		yes, err := trail.Append(t.Context(), r, runs.Audited{}, allowed(r))
		if err != nil {
			t.Fatal(err)
		}
		lose = true
		if _, err := trail.Append(t.Context(), r, yes, ended(r, yes)); err == nil {
			t.Error("a lost answer is no error")
		}
		time.Sleep(time.Minute)
		if _, err := trail.Append(t.Context(), other, runs.Audited{}, audit.Of(other, audit.ApplyRefused, "mallory")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			at, err := trail.Append(t.Context(), r, yes, ended(r, yes))
			if err != nil || at.N != 2 {
				t.Errorf("the end is written as record %d: %v", at.N, err)
			}
		}
		// Without a place that the caller knows, the last record is found.
		at, err := trail.Append(t.Context(), other, runs.Audited{}, audit.Of(other, audit.UnlockAllowed, "bob"))
		if err != nil || at.N != 4 {
			t.Errorf("record %d: %v", at.N, err)
		}
		if got := broken(at.Chain, number(store.All()[at.Chain]), audit.Verification{Known: []runs.Audited{yes, at}}); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}

// TestAppendAfterExpiry holds that a record never gets the number of one that has expired: whether the caller knows a
// record that has expired, an older one than the expired ones, or none.
func TestAppendAfterExpiry(t *testing.T) {
	t.Parallel()
	const kept = 400 * 24 * time.Hour
	for name, test := range map[string]struct{ expired, left int }{"the first records": {2, 2}, "all but the last": {3, 1}, "all": {4, 0}} {
		for _, knows := range []string{"none", "the first", "the last"} {
			t.Run(name+", knows "+knows, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var store memory.Chains
					trail, r := audit.Trail{Chains: &store}, runOf(1)
					chain := audit.ChainOf(r)
					var first, known runs.Audited
					add := func(known runs.Audited) (at runs.Audited) {
						at, err := trail.Append(t.Context(), r, known, audit.Of(r, audit.UnlockAllowed, "bob"))
						if err != nil {
							t.Fatal(err)
						}
						return at
					}
					first = add(known)
					for known = first; known.N < test.expired; {
						known = add(known)
					}
					time.Sleep(kept)
					for range test.left {
						known = add(known)
					}
					time.Sleep(time.Hour)
					for n := 1; n <= test.expired; n++ {
						store.Expire(chain, n)
					}
					at := add(map[string]runs.Audited{"none": {}, "the first": first, "the last": known}[knows])
					if test.left == 0 && knows != "the last" { // nothing says that there was a chain
						return
					}
					if at.N != 5 {
						t.Errorf("the next record has the number %d", at.N)
					}
					var list []numbered
					for i, data := range store.All()[chain] {
						list = append(list, numbered{test.expired + 1 + i, data})
					}
					if got := broken(chain, list, audit.Verification{Known: []runs.Audited{known, at}, Kept: kept, Now: time.Now()}); len(got) > 0 {
						t.Errorf("an honest chain: %s", got)
					}
				})
			})
		}
	}
}

// TestAppendRefuses holds that nothing follows a damaged record: its successor would vouch for it.
func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	var store memory.Chains
	r := runOf(1)
	if err := store.Add(t.Context(), audit.ChainOf(r), 1, []byte(`{"Chain":"x","Forged":true}`)); err != nil {
		t.Fatal(err)
	}
	_, err := audit.Trail{Chains: &store}.Append(t.Context(), r, runs.Audited{}, allowed(r))
	if err == nil || !strings.Contains(err.Error(), "record 1 is damaged") {
		t.Error(err)
	}
}

// TestLargeDecision holds that a decision with very many facts is recorded without them, and that the verification says so.
func TestLargeDecision(t *testing.T) {
	t.Parallel()
	r := runOf(1)
	rec := allowed(r)
	rec.Question.Facts.UnreadOwners = []string{string(bytes.Repeat([]byte("x"), 5<<20))}
	var store memory.Chains
	at, err := audit.Trail{Chains: &store}.Append(t.Context(), r, runs.Audited{}, rec)
	if err != nil {
		t.Fatal(err)
	}
	v := audit.Verification{Known: []runs.Audited{at}}
	v.Add(at.Chain, 1, store.All()[at.Chain][0])
	found := v.End()
	if len(found) != 2 || found[0].Break || !strings.Contains(found[0].Text+found[1].Text, "its facts did not fit") {
		t.Errorf("%+v", found)
	}
}
