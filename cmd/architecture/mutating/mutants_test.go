package mutating

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
		{`s = "for people"`, `s = "for people" -> `},
		{`switch n { case 1: f(); default: f() }`, "case 1: f() ->  | 1 -> (1 + 1) | f() ->  | f() -> "},
		{`for { if ok { continue }; return }`, "ok -> !(ok) | continue ->  | return -> "},
		{`_ = func() error { return err }`, "err -> nil"},
		{`_ = func() error { return nil }`, ""},
		{`_ = func() (int, bool, error) { return 0, false, err }`, "err -> nil"},
		{`_ = func() (bool, error) { return true, err }`, "true -> false | err -> nil"},
		{`_ = func() (int, error) { return 1, nil }`, "1 -> (1 + 1)"},
		{`_ = func() (int, bool) { return 1, true }`, "1 -> (1 + 1) | true -> false"},
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
