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
		{"what stands between two is removed, and not their order", "app>svc svc>net", "", "svc", "map[app:[net]]"},
		{"the same of two in between", "app>svc svc>db db>net", "", "db", "map[app:[svc] svc:[net]]"},
		{"a set of the head is not that of the base branch", "app>svc-* svc-*>svc-a", "app>svc-* svc-*>svc-b", "", "map[app:[svc-* svc-* of the base branch] svc-*:[svc-b] svc-* of the base branch:[svc-a]]"},
		{"a set without its removed member", "app>svc-* svc-*>svc-a svc-*>svc-b", "", "svc-a", "map[app:[svc-* of the base branch] svc-* of the base branch:[svc-b]]"},
		{"a member of a set waits on for what a removed one waited for", "app>svc-* svc-*>svc-a svc-a>net", "", "svc-a", "map[app:[svc-* of the base branch] svc-* of the base branch:[net]]"},
		{"a cycle through a removed one", "app>svc svc>app", "", "svc", "map[]"},
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

func TestAround(t *testing.T) {
	for name, want := range map[string]string{"app": "map[app:[svc] svc:[net]]", "svc": "map[svc:[net]]", "net": "map[]", "else": "map[else:[db]]"} {
		if got := fmt.Sprint(map[string][]string(Around(edges("app>svc svc>net else>db"), name))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestRanks(t *testing.T) {
	if got := fmt.Sprint(Ranks(edges("app>svc svc>net b>a a>b"), strings.Fields("app svc net other a b"))); got != "map[a:2 app:2 b:2 net:0 other:0 svc:1]" {
		t.Error(got)
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
		{"app>n* n*>net n*>nat", map[string]Progress{"net": Pending, "nat": Applied}, "[net]"},
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
