package order

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// b depends on a, and both are replaced: all of the old comes down before
// anything new is put up.
func ExampleSteps() {
	a, b := parseInstance("a"), parseInstance("b")
	needsA := []addrs.ConfigResource{a.Config()}
	changes := []Change{
		{Object: addrs.ResourceInstanceObject{Instance: b}, Config: b.Config(), Action: plans.DeleteThenCreate, ConfigDeps: needsA, StoredDeps: needsA},
		{Object: addrs.ResourceInstanceObject{Instance: a}, Config: a.Config(), Action: plans.DeleteThenCreate},
	}
	g := Steps(changes)
	for i, s := range g.Steps {
		fmt.Println(i, s.Verb, changes[s.Change].Object, "after", g.After[i])
	}
	// Output:
	// 0 delete t.b after []
	// 1 create t.b after [3 2 0]
	// 2 delete t.a after [0]
	// 3 create t.a after [0 2]
}

// Between many and many, a barrier stands.
func TestBarrier(t *testing.T) {
	changes := append(group("a", 3, plans.Create, "", nil, nil), group("b", 4, plans.Create, "", []addrs.ConfigResource{parseInstance("a").Config()}, nil)...)
	g := Steps(changes)
	if len(g.Steps) != 8 || g.Steps[7] != (Step{-1, Barrier}) {
		t.Fatalf("got steps %v", g.Steps)
	}
	if got := fmt.Sprint(g.After); got != "[[] [] [] [7] [7] [7] [7] [0 1 2]]" {
		t.Errorf("got %s", got)
	}
	changes = append(group("a", 3, plans.Delete, "", nil, nil), group("b", 4, plans.Delete, "", nil, []addrs.ConfigResource{parseInstance("a").Config()})...)
	g = Steps(changes)
	if len(g.Steps) != 8 || g.Steps[7] != (Step{-1, Barrier}) {
		t.Fatalf("got steps %v", g.Steps)
	}
	if got := fmt.Sprint(g.After); got != "[[7] [7] [7] [] [] [] [] [3 4 5 6]]" {
		t.Errorf("got %s", got)
	}
}

// What both the object and its provider need is waited for once.
func TestNeededTwice(t *testing.T) {
	a := []addrs.ConfigResource{parseInstance("a").Config()}
	changes := append(group("a", 1, plans.Create, "", nil, nil), group("b", 1, plans.Create, "", a, nil)...)
	changes[1].ProviderDeps = a
	if got := fmt.Sprint(Steps(changes).After); got != "[[] [0]]" {
		t.Errorf("got %s", got)
	}
}

// What cannot be planned is our bug, and the panic names it.
func TestPanics(t *testing.T) {
	a, b := parseInstance("a"), parseInstance("b[x]")
	onA, onB := []addrs.ConfigResource{a.Config()}, []addrs.ConfigResource{b.Config()}
	change := func(a addrs.AbsResourceInstance, action plans.Action) Change {
		return Change{Object: addrs.ResourceInstanceObject{Instance: a}, Config: a.Config(), Action: action}
	}
	first, second := change(a, plans.Create), change(b, plans.Update)
	first.ConfigDeps, second.ProviderDeps = onB, onA
	free, gone := change(parseInstance("c"), plans.Create), change(parseInstance("d"), plans.Delete)
	gone.ConfigDeps = onA
	deposed := change(b, plans.Update)
	deposed.Object.Deposed = "0123abcd"
	for _, tc := range []struct {
		changes []Change
		want    string
	}{
		{[]Change{first, free, second, gone}, "order: the configuration has a cycle:\nt.a -> [t.b]\nt.b[\"x\"] -> [t.a]"},
		{[]Change{change(b, plans.Open)}, `order: open is planned for t.b["x"]`},
		{[]Change{change(b, 0)}, `order: invalid is planned for t.b["x"]`},
		{[]Change{deposed}, `order: update is planned for t.b["x"] (deposed object 0123abcd)`},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			}()
			Steps(tc.changes)
		}()
	}
}

// A resource that is said to depend on itself, or on something twice, is no harm.
func TestOddLists(t *testing.T) {
	a, b := parseInstance("a").Config(), parseInstance("b").Config()
	odd := []addrs.ConfigResource{b, a, a, b, parseInstance("unknown").Config()}
	changes := append(group("a", 2, plans.DeleteThenCreate, "", nil, nil), group("b", 2, plans.DeleteThenCreate, "", odd, odd)...)
	changes[2].ProviderDeps = odd
	if _, err := check(changes); err != nil {
		t.Error(err)
	}
	if len(Steps(nil).Steps) != 0 {
		t.Error("steps from nothing")
	}
}

func TestVerbs(t *testing.T) {
	var words []string
	for _, v := range []Verb{Create, Update, Delete, Read, Forget, Verify, Barrier, 0} {
		words = append(words, v.String())
	}
	if got := strings.Join(words, " "); got != "create update delete read forget verify barrier invalid" {
		t.Error(got)
	}
}

// Only nodes on circles, and those between them, are left to untangle.
func TestStrip(t *testing.T) {
	for _, c := range []struct {
		edges string
		want  string // the nodes that are left from the first on, and from the last on as well
	}{
		{"", "; "},
		{"ab bc ac", "; "},
		{"ab ba", "ab; ab"},
		{"ab bc cb cd", "bcd; bc"},
		{"ab ba bc cd de ed", "abcde; abcde"},
		{"ab ba bc cd ed", "abcd; ab"},
		{"aa bb", "ab; ab"},
	} {
		var e edges
		for edge := range strings.FieldsSeq(c.edges) {
			e.add(int32(edge[0]-'a'), int32(edge[1]-'a'), must)
		}
		const n = 5
		gone := make([]bool, n)
		left := func(from, to []int32) (out string) {
			waits := make([]int32, n)
			for i := range from {
				if !gone[from[i]] {
					waits[to[i]]++
				}
			}
			strip(gone, waits, e.index(n, from), to)
			for x, is := range gone {
				if !is {
					out += string(rune('a' + x))
				}
			}
			return out
		}
		if got := left(e.from, e.to) + "; " + left(e.to, e.from); got != c.want {
			t.Errorf("%s: %s, want %s", c.edges, got, c.want)
		}
	}
}
