package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// TestSeenOfAHead is a table of looks, one after the other, and the time since which the head is known: that of the
// first look at it, so that a later look takes nobody's comment for one from before the push.
func TestSeenOfAHead(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	at := func(minute int) time.Time {
		if minute < 0 {
			return time.Time{}
		}
		return time.Date(2026, time.March, 2, 12, minute, 0, 0, time.UTC)
	}
	for i, look := range []struct {
		head       string
		seen, want int // minutes, -1 for none
	}{
		{"a", -1, -1}, {"a", 3, 3}, {"a", 5, 3}, {"a", -1, 3}, {"b", 7, 7}, {"a", 9, 9}, {"b", -1, -1},
	} {
		if err := ld.SaveLook(t.Context(), Look{Pull: pull, Head: look.head, Seen: at(look.seen)}); err != nil {
			t.Fatal(err)
		}
		got, err := ld.LastLook(t.Context(), pull)
		if err != nil || !got.Seen.Equal(at(look.want)) || got.Head != look.head {
			t.Errorf("look %d at %s: seen at %v, want %v; %v", i, look.head, got.Seen, at(look.want), err)
		}
	}
	l, written := Look{Seen: at(3)}, at(3)
	for add, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Second: true} {
		if l.Before(written.Add(add)) != want {
			t.Errorf("%v after it was seen: %t", add, !want)
		}
	}
	if (Look{}).Before(written) {
		t.Error("a head that nobody has seen was there")
	}
}

// TestOrderOfAHead is a table of looks, each after another one at the same head: the order that is left is that of the second one,
// with all projects that either has found, unless that did not come to the projects, or went into another branch.
func TestOrderOfAHead(t *testing.T) {
	t.Parallel()
	of := func(touched ...string) *HeadOrder {
		return &HeadOrder{Edges: order.Edges{"app": {"net"}}, Touched: touched}
	}
	for name, test := range map[string]struct {
		was, is Look
		want    *HeadOrder
	}{
		"the same":              {Look{Discovery: Discovery{Order: of("app")}}, Look{Discovery: Discovery{Order: of("net")}}, of("app", "net")},
		"no order any more":     {Look{Discovery: Discovery{Order: of("app")}}, Look{}, nil},
		"one that fails":        {Look{Discovery: Discovery{Order: of("app")}}, Look{Obstacles: Obstacles{Problem: "no"}}, of("app")},
		"one that is refused":   {Look{Discovery: Discovery{Order: of("app")}}, Look{Obstacles: Obstacles{Refused: "no"}}, of("app")},
		"a conflict":            {Look{Discovery: Discovery{Order: of("app")}}, Look{Discovery: Discovery{Conflict: true}}, of("app")},
		"into another branch":   {Look{Discovery: Discovery{Order: of("app")}, Into: "release"}, Look{Discovery: Discovery{Order: of("net")}}, of("net")},
		"without an order":      {Look{Discovery: Discovery{Order: of("app")}, Into: "release"}, Look{}, nil},
		"a failure after that":  {Look{Discovery: Discovery{Order: of("app")}, Into: "release"}, Look{Obstacles: Obstacles{Problem: "no"}}, nil},
		"the first that has it": {Look{}, Look{Discovery: Discovery{Order: of("net")}}, of("net")},
	} {
		ld := Ledger{Records: &memory.Store{}}
		for _, l := range []Look{test.was, test.is} {
			l.Pull, l.Head = pull, "a"
			if err := ld.SaveLook(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ld.LastLook(t.Context(), pull)
		if diff := cmp.Diff(test.want, got.Order); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestDenialsOfAHead is a table of looks after one at the same head with a plan that was refused: it counts until a look has found
// that its project is not changed.
func TestDenialsOfAHead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		is   Look
		want int
	}{
		"it is changed":       {Look{Discovery: Discovery{Touches: []string{"net@default", "app@default"}}}, 1},
		"it is not changed":   {Look{Discovery: Discovery{Touches: []string{"app@default"}}}, 0},
		"nothing is":          {Look{Discovery: Discovery{Touches: []string{}}}, 0},
		"one that fails":      {Look{Obstacles: Obstacles{Problem: "no"}}, 1},
		"into another branch": {Look{Into: "release", Discovery: Discovery{Touches: []string{"net@default"}}}, 0},
		"it is refused again": {Look{Discovery: Discovery{Touches: []string{}}, Obstacles: Obstacles{Denials: []Denial{{Project: "net", Workspace: "default"}}}}, 1},
	} {
		ld := Ledger{Records: &memory.Store{}}
		for _, l := range []Look{{Obstacles: Obstacles{Denials: []Denial{{Project: "net", Workspace: "default"}}}}, test.is} {
			l.Pull, l.Head = pull, "a"
			if err := ld.SaveLook(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ld.LastLook(t.Context(), pull)
		if len(got.Denials) != test.want || err != nil {
			t.Errorf("%s: %v, %v", name, got.Denials, err)
		}
	}
}

// TestAskedOfAHead is a table of looks, each after another one: whether commands about some projects alone have had the head looked at
// so far, by the second one.
func TestAskedOfAHead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		was, is Look
		want    bool
	}{
		"the first look":                 {Look{}, Look{Head: "a", Discovery: Discovery{Asked: true}}, true},
		"after a whole one":              {Look{Head: "a"}, Look{Head: "a", Discovery: Discovery{Asked: true}}, false},
		"a whole one":                    {Look{Head: "a", Discovery: Discovery{Asked: true}}, Look{Head: "a"}, false},
		"again":                          {Look{Head: "a", Discovery: Discovery{Asked: true}}, Look{Head: "a", Discovery: Discovery{Asked: true}}, true},
		"at another head":                {Look{Head: "a"}, Look{Head: "b", Discovery: Discovery{Asked: true}}, true},
		"into another branch":            {Look{Head: "a"}, Look{Head: "a", Into: "release", Discovery: Discovery{Asked: true}}, true},
		"since the pull request is open": {Look{Head: "a", Ending: Ending{Closed: true}}, Look{Head: "a", Discovery: Discovery{Asked: true}}, true},
	} {
		ld := Ledger{Records: &memory.Store{}}
		for _, l := range []Look{test.was, test.is} {
			l.Pull = pull
			if err := ld.SaveLook(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := ld.LastLook(t.Context(), pull); got.Asked != test.want || err != nil {
			t.Errorf("%s: %v, %v", name, got.Asked, err)
		}
	}
}
