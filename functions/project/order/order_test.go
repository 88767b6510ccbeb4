package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// edges reads "app>net db>net".
func edges(s string) Edges {
	e := Edges{}
	for _, f := range strings.Fields(s) {
		from, to, _ := strings.Cut(f, ">")
		e[from] = append(e[from], to)
		slices.Sort(e[from])
	}
	return e
}

func TestMatches(t *testing.T) {
	names := []string{"net", "svc-a", "svc-b", "live/net", "live/svc-a"}
	for pattern, want := range map[string]string{
		"net": "[net]", "svc-*": "[svc-a svc-b]", "live/*": "[live/net live/svc-a]", "**/net": "[net live/net]", "nte": "[]",
	} {
		if got := fmt.Sprint(Matches(pattern, names)); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

func TestUnion(t *testing.T) {
	for _, c := range []struct{ name, base, head, gone, want string }{
		{"the same", "app>net", "app>net", "", "map[app:[net]]"},
		{"an edge that the pull request removes stays", "app>net", "", "", "map[app:[net]]"},
		{"an edge that it adds counts", "", "app>net", "", "map[app:[net]]"},
		{"one is replaced by another: both count", "app>net", "app>db", "", "map[app:[db net]]"},
		{"a project that it removes holds up nobody", "app>net", "", "net", "map[]"},
		{"a dependent that it removes waits for nobody", "app>net", "", "app", "map[]"},
	} {
		got := Union(edges(c.base), edges(c.head), func(n string) bool { return n != c.gone })
		if fmt.Sprint(map[string][]string(got)) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestCycle(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "[]",
		"app>net db>net":      "[]",
		"a>b a>c b>d c>d":     "[]",
		"a>a":                 "[a a]",
		"a>b b>a":             "[a b a]",
		"x>a a>b b>c c>a c>d": "[a b c a]",
	} {
		if got := fmt.Sprint(Cycle(edges(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestWaves(t *testing.T) {
	for _, c := range []struct{ edges, names, want string }{
		{"", "b a", "[[a b]]"},
		{"app>net", "app net", "[[net] [app]]"},
		{"app>net db>net app>db", "app db net other", "[[net other] [db] [app]]"},
		{"app>svc svc>net", "app net", "[[net] [app]]"}, // through one without changes
		{"app>net", "app", "[[app]]"},
		{"a>b b>a", "a b", "[]"},
	} {
		got, ok := Waves(edges(c.edges), strings.Fields(c.names))
		if fmt.Sprint(got) != c.want || ok != (c.want != "[]") {
			t.Errorf("%s of %s: %v, %t, want %s", c.edges, c.names, got, ok, c.want)
		}
	}
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		edges    string
		progress map[string]Progress
		want     string
	}{
		{"app>net", map[string]Progress{"net": Pending}, "[net]"},
		{"app>net", map[string]Progress{"net": Applied}, "[]"},
		{"app>net", map[string]Progress{"net": Unchanged}, "[]"},
		{"app>net", map[string]Progress{"net": Unknown}, "[net]"}, // nothing is allowed by what is not known
		{"app>net", nil, "[]"},
		{"net>app", map[string]Progress{"net": Pending}, "[]"},
		{"app>svc svc>net", map[string]Progress{"svc": Unchanged, "net": Pending}, "[net]"},
		{"app>svc svc>net", map[string]Progress{"net": Pending}, "[net]"},
		{"app>net app>db", map[string]Progress{"net": Pending, "db": Pending}, "[db net]"},
	} {
		if got := fmt.Sprint(Waits(edges(c.edges), c.progress, "app")); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.edges, c.progress, got, c.want)
		}
	}
}

// TestWavesAgree applies random projects wave by wave: none of a wave waits for anything then, and
// each of a later wave waits for something.
func TestWavesAgree(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		e, progress := Edges{}, map[string]Progress{}
		var names []string
		for i := range 8 {
			from := fmt.Sprint("p", i)
			for j := range i {
				if r.IntN(4) == 0 {
					e[from] = append(e[from], fmt.Sprint("p", j))
				}
			}
			if r.IntN(3) > 0 {
				names = append(names, from)
				progress[from] = Pending
			}
		}
		waves, ok := Waves(e, names)
		if !ok {
			t.Fatalf("seed %d: a cycle in %v", seed, e)
		}
		for i, wave := range waves {
			for _, n := range slices.Concat(waves[i:]...) {
				if free := len(Waits(e, progress, n)) == 0; free != slices.Contains(wave, n) {
					t.Fatalf("seed %d: wave %d of %v: %s waits for %v", seed, i, waves, n, Waits(e, progress, n))
				}
			}
			for _, n := range wave {
				progress[n] = Applied
			}
		}
	}
}
