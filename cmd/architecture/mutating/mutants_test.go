package mutating

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestMutants is a table of statements and their mutants: the text that is replaced, and the new one.
func TestMutants(t *testing.T) {
	t.Parallel()
	standard, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile}, "errors", "fmt", "log", "time")
	if err != nil {
		t.Fatal(err)
	}
	library := imported{}
	for _, p := range standard {
		library[p.PkgPath] = p
	}
	for _, test := range []struct{ body, want string }{
		{`if ok { n++ }`, "ok -> !(ok) | n++ -> "},
		{`if !ok { n-- }`, "!ok -> ok | n-- -> "},
		{`for n < 2 { n = 3 }`, "< -> <= | 2 -> (2 + 1) | n = 3 ->  | 3 -> (3 + 1)"},
		{`if ok && n == n { f() }`, "ok && n == n -> !(ok && n == n) | && -> || | == -> != | f() -> "},
		{`x := ok; _ = x`, ""},
		{`ok = true`, "ok = true ->  | true -> false"},
		{`s = "a"`, `s = "a" ->  | "a" -> "ax"`},
		{`switch n { case 1: f(); default: f() }`, "case 1: f() ->  | 1 -> (1 + 1) | f() ->  | f() -> "},
		{`for { if ok { continue }; return }`, "ok -> !(ok) | continue ->  | return -> "},
		{`_ = func() error { return err }`, "err -> nil"},
		{`_ = func() error { return nil }`, ""},
		{`_ = func() bool { return g() }`, "g() -> !(g())"},
		{`_ = func() bool { return n > n }`, "> -> >="},
		{`panic("never" + s)`, ""},
		{`err = fmt.Errorf("%s %d", s, 1)`, `err = fmt.Errorf("%s %d", s, 1) -> `},
		{`err = errors.New("no")`, `err = errors.New("no") -> `},
		{`ok = errors.Is(err, nil)`, `ok = errors.Is(err, nil) -> `},
		{`log.Println(n + 1)`, ""},
		{`d = 3 * time.Second`, `d = 3 * time.Second -> `},
		{`_ = make([]int, 0, 7)`, ""},
		{`defer f()`, "defer f() -> "},
		{`defer stop()`, ""},
	} {
		if got := mutantsIn(t, library, test.body); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.body, got, test.want)
		}
	}
}

// mutantsIn prints the mutants of a function's body.
func mutantsIn(t *testing.T, library types.Importer, body string) string {
	t.Helper()
	source := "package p\nimport (\"errors\"; \"fmt\"; \"log\"; \"time\")\nvar _ = []any{errors.New, fmt.Errorf, log.Println, time.Now}\n" +
		"func f() {}\nfunc stop() {}\nfunc g() bool {panic(1)}\nfunc h(ok bool, n int, s string, err error, d time.Duration) {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: library}
	if _, err := config.Check("p", fset, []*ast.File{syntax}, info); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var out []string
	for _, m := range mutantsOf(fset.File(syntax.FileStart), syntax, []byte(source), info) {
		out = append(out, source[m.start:m.end]+" -> "+m.text)
	}
	return strings.Join(out, " | ")
}

// TestTiny runs all mutants of a package whose test has a hole.
func TestTiny(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package a dozen times")
	}
	t.Parallel()
	subjects, err := load([]string{"./cmd/architecture/mutating/testdata/tiny"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mutants := sample(subjects, 100, 1)
	if again := sample(subjects, 3, 1); len(mutants) < 8 || again[2].mutant != mutants[2].mutant {
		t.Errorf("%d mutants, and perhaps others for the same seed", len(mutants))
	}
	var got []string
	for _, c := range mutants {
		v, err := r.run(c)
		if err != nil {
			t.Fatal(err)
		}
		if v != killed {
			got = append(got, fmt.Sprintf("%s %s\n%s", v, c.at(), c.diff()))
		}
	}
	slices.Sort(got)
	want := []string{
		"survived cmd/architecture/mutating/testdata/tiny/tiny.go:6\n    - \treturn age >= 18\n    + \treturn age > 18\n",
		"survived cmd/architecture/mutating/testdata/tiny/tiny.go:6\n    - \treturn age >= 18\n    + \treturn age >= (18 + 1)\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestVerdict is a table of what go test prints.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out      string
		ok, late bool
		want     verdict
	}{
		{"ok  \tp\t0.1s\n", true, false, survived},
		{"--- FAIL: TestX (0.00s)\nFAIL\tp\t0.1s\n", false, false, killed},
		{"fatal error: stack overflow\nFAIL\tp\t0.1s\n", false, false, killed},
		{"panic: test timed out after 1s\nFAIL\tp\t1.0s\n", false, false, timedOut},
		{"", false, true, timedOut},
		{"# p\np.go:1:1: undefined: x\nFAIL\tp [build failed]\n", false, false, unbuilt},
	} {
		if got := verdictOf(test.out, test.ok, test.late); got != test.want {
			t.Errorf("%q: %s, want %s", test.out, got, test.want)
		}
	}
}
