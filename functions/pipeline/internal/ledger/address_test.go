package ledger

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// TestPlace holds that a run remembers the present and the former addresses of its state.
func TestPlace(t *testing.T) {
	t.Parallel()
	type step struct {
		place, base string
		kind        admission.PlaceKind
		from        string   // of a move
		want        string   // From
		were        []string // Were
		before      []string // Before
	}
	const a, b, c = "s3://states/a", "s3://states/b", "s3://states/c"
	ann, bob := runs.LastApply{Number: 8, Head: "h"}, runs.Reservation{Number: 8}
	for name, test := range map[string]struct {
		last  *runs.LastApply // at a
		lock  *runs.Reservation
		claim *places.Claim // of a
		steps []step
	}{
		"stays":                       {steps: []step{{place: a, base: "main"}, {place: a, base: "main"}}},
		"moves":                       {steps: []step{{place: a, base: "main"}, {place: b, base: "main", kind: admission.MovedPlace, from: a, want: a, were: []string{a}}}},
		"moves, and back":             {steps: []step{{place: b, base: "main", kind: admission.MovedPlace, from: a, want: a}, {place: a, base: "main", were: []string{b}}}},
		"two moves":                   {steps: []step{{place: a, base: "main"}, {place: b, base: "main", were: []string{a}}, {place: c, base: "main", were: []string{a, b}}}},
		"moved, nobody's":             {steps: []step{{place: a, base: "main"}, {place: b, base: "main", were: []string{a}}}},
		"moved, applied":              {last: &ann, steps: []step{{place: a, base: "main"}, {place: b, base: "main", want: a, were: []string{a}}}},
		"moved, locked":               {lock: &bob, steps: []step{{place: a, base: "main"}, {place: b, base: "main", want: a, were: []string{a}}}},
		"moved, settled":              {last: &runs.LastApply{Number: 8, Settled: true}, steps: []step{{place: a, base: "main"}, {place: b, base: "main", were: []string{a}}}},
		"moved, lifted":               {lock: &runs.Reservation{Number: 8, Lifted: true}, steps: []step{{place: a, base: "main"}, {place: b, base: "main", were: []string{a}}}},
		"another base":                {last: &ann, lock: &bob, steps: []step{{place: a, base: "main"}, {place: b, base: "release", were: []string{a}}}},
		"another base, and back":      {last: &ann, steps: []step{{place: a, base: "main"}, {place: b, base: "release", were: []string{a}}, {place: a, base: "main", were: []string{b}}}},
		"on a machine, then moved":    {steps: []step{{place: "local", base: "main"}, {place: a, base: "main", kind: admission.MovedPlace, from: "local", want: "local", were: []string{"local"}}}},
		"granted to a new project":    {last: &ann, steps: []step{{place: b, base: "main", kind: admission.NewPlace, from: a}}},
		"two moves, applied":          {last: &ann, steps: []step{{place: a, base: "main"}, {place: b, base: "main", want: a, were: []string{a}}, {place: c, base: "main", want: b, were: []string{a, b}, before: []string{a}}}},
		"two moves, locked":           {lock: &bob, steps: []step{{place: a, base: "main"}, {place: b, base: "main", want: a, were: []string{a}}, {place: c, base: "main", want: a, were: []string{a, b}}}},
		"moved, and moves again":      {lock: &bob, steps: []step{{place: a, base: "main"}, {place: c, base: "main", kind: admission.MovedPlace, from: b, want: b, were: []string{a}, before: []string{a}}}},
		"moved, and moves once more":  {lock: &bob, steps: []step{{place: a, base: "main"}, {place: b, base: "main", want: a, were: []string{a}}, {place: c, base: "main", kind: admission.MovedPlace, from: b, want: b, were: []string{a, b}, before: []string{a}}}},
		"moved, another project's":    {last: &ann, claim: &places.Claim{RepoID: 5, Project: "other", Workspace: "default"}, steps: []step{{place: a, base: "main"}, {place: b, base: "main", were: []string{a}}}},
		"moved in both base branches": {last: &ann, steps: []step{{place: a, base: "main"}, {place: c, base: "release", were: []string{a}}, {place: b, base: "main", want: a, were: []string{a, c}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ld := Ledger{Records: &memory.Store{}}
			put := func(key string, value []byte) {
				if _, err := ld.Records.Put(t.Context(), key, value, ""); err != nil {
					t.Fatal(err)
				}
			}
			at := runs.StateName(a, net.Target())
			if test.last != nil {
				put(runs.StateKey(5, at), pipeline.Encode(test.last))
			}
			if test.lock != nil {
				put(runs.ReservationKey(5, at), pipeline.Encode(test.lock))
			}
			if test.claim != nil {
				put(places.ClaimKey(a), pipeline.Encode(test.claim))
			}
			r := net
			for i, step := range test.steps {
				p := admission.Placing{Kind: step.kind, From: step.from}
				if step.kind == "" {
					p.Kind = admission.SamePlace
				}
				if err := Place(t.Context(), ld, &r, step.place, p, step.base); err != nil {
					t.Fatal(err)
				}
				if r.Address.Place != step.place || r.Address.From != step.want || len(r.Address.Were)+len(step.were) > 0 && !reflect.DeepEqual(r.Address.Were, step.were) || !slices.Equal(r.Address.Before, step.before) {
					t.Errorf("step %d: at %s, from %q, before %q, and were %q; want from %q, before %q, and were %q", i+1, r.Address.Place, r.Address.From, r.Address.Before, r.Address.Were, step.want, step.before, step.were)
				}
			}
		})
	}
}

// TestPlaceOfMany holds that a run remembers so many former addresses and no more, besides those where its pull request has an apply or a
// lock, and that its plan is not listed any more at those that it forgets.
func TestPlaceOfMany(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	r := net
	name := func(place string) string { return runs.StateName(place, net.Target()) }
	at := func(i int) string { return fmt.Sprintf("s3://states/%d", i) }
	for key, value := range map[string]any{
		runs.StateKey(5, name(at(1))):       runs.LastApply{Number: net.Pull.Number, Settled: true},
		runs.StateKey(5, name(at(2))):       runs.LastApply{Number: net.Pull.Number + 1},
		runs.ReservationKey(5, name(at(3))): runs.Reservation{Number: net.Pull.Number},
	} {
		if _, err := ld.Records.Put(t.Context(), key, pipeline.Encode(value), ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		if err := Place(t.Context(), ld, &r, at(i), admission.Placing{Kind: admission.MovedPlace, From: "s3://states/a"}, "main"); err != nil {
			t.Fatal(err)
		}
		if err := ld.ListPlan(t.Context(), r, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{at(1), at(3)}
	for i := 99 - maxWere; i < 99; i++ {
		want = append(want, at(i))
	}
	if !slices.Equal(r.Address.Were, want) {
		t.Errorf("it was at %q; want %q", r.Address.Were, want)
	}
	for i := range 100 {
		listed, err := openPlansIn(t.Context(), ld, runs.OpenDir(5, name(at(i))))
		if want := i == 99 || slices.Contains(want, at(i)); len(listed) > 0 != want || err != nil {
			t.Errorf("its plan is listed at %s: %v, %v; want %v", at(i), len(listed) > 0, err, want)
		}
	}
}

// TestRememberAMove holds that the apply of a move which is not merged leaves the address that the base branch has.
func TestRememberAMove(t *testing.T) {
	t.Parallel()
	const a, b = "s3://states/a", "s3://states/b"
	ld := Ledger{Records: &memory.Store{}}
	r := net
	r.Asked.Into = "main"
	for _, p := range []struct {
		place string
		admission.Placing
	}{{a, admission.Placing{Kind: admission.SamePlace}}, {b, admission.Placing{Kind: admission.MovedPlace, From: a}}} {
		if err := Place(t.Context(), ld, &r, p.place, p.Placing, "main"); err != nil {
			t.Fatal(err)
		}
	}
	if err := ld.Remember(t.Context(), r, runs.LastApply{Number: net.Pull.Number}); err != nil {
		t.Fatal(err)
	}
	all, err := addressOf(t.Context(), ld, 5, net.Target())
	if all.Place != a || all.Of["main"].Place != a || err != nil {
		t.Errorf("the base branch has the state at %q and %q, %v; want %q", all.Place, all.Of["main"].Place, err, a)
	}
}

// TestAddressesOfManyBranches holds that the record of a state's addresses has no more than some base branches, and which of them are kept.
func TestAddressesOfManyBranches(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5}, Number: 7}, Project: "net", Workspace: "default"}}
	plan := func(place, base string) {
		t.Helper()
		r := r
		if err := Place(t.Context(), ld, &r, place, admission.Placing{Kind: admission.SamePlace}, base); err != nil {
			t.Fatal(err)
		}
	}
	plan("s3://states/a", "main")
	plan("s3://states/b", "main")
	for i := range maxBases + 20 {
		plan("s3://states/b", fmt.Sprintf("release/%03d", i))
	}
	all, err := addressOf(t.Context(), ld, 5, r.Target())
	if err != nil {
		t.Fatal(err)
	}
	_, last := all.Of[fmt.Sprintf("release/%03d", maxBases+19)]
	if len(all.Of) != maxBases || all.Of["main"].Was != "s3://states/a" || !last {
		t.Errorf("%d branches, main %+v, the last one %t", len(all.Of), all.Of["main"], last)
	}
}
