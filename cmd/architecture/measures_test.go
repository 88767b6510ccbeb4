package architecture

import (
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

var in = flag.String("in", "", "the packages to print, by the beginning of their directory")

// decisions are the directories of the code that decides about plans and applies, whose structs are counted: each field, and each
// bool above all, doubles the states that a reader has to think of.
var decisions = []string{"functions/pipeline/...", "functions/comment/...", "functions/project/..."}

// The figures from which on a function, a type or a struct is printed.
const (
	manyBranches = 15
	manyMethods  = 25
	manyFields   = 20
	smallPackage = 100
)

// TestMeasures prints the report of `make sizes` with -v. It fails for no size: a person reads the report, and asks what each
// figure says about the meaning of a package.
func TestMeasures(t *testing.T) {
	all := slices.DeleteFunc(slices.Clone(measures(t)), func(f *figures) bool { return !strings.HasPrefix(f.name, *in) })
	slices.SortFunc(all, func(a, b *figures) int { return cmp.Compare(b.lines, a.lines) })
	var total figures
	small, branches := 0, 0
	var b strings.Builder
	fmt.Fprintf(&b, "Packages, the largest first. \"type\" is the one with the most methods and functions that take it first; \"> %d\" are functions\n"+
		"with a higher cyclomatic complexity, and \"long\" lines of more than %d characters.\n\n", manyBranches, maxLine)
	fmt.Fprintf(&b, "%-52s %6s %9s %-30s %-30s %-14s %5s %5s %5s\n", "package", "lines", "importers", "largest file", "type", "file cycle", "> 15", "long", "//%")
	for _, f := range all {
		total.lines, total.comments, total.long = total.lines+f.lines, total.comments+f.comments, total.long+f.long
		file, lines := largest(f.files)
		name, methods := largest(f.around())
		over := 0
		for _, n := range f.functions {
			if n > manyBranches {
				over++
			}
		}
		branches += over
		if len(f.importers) == 1 && f.lines < smallPackage {
			small++
		}
		fmt.Fprintf(&b, "%-52s %6d %9d %-24s %5d %-26s %3d %4d of %-6d %5d %5d %5.1f\n", f.name, f.lines, len(f.importers), file, lines, name, methods,
			len(f.cycle), len(f.files), over, f.long, percent(f.comments, f.lines))
		if *in != "" {
			fmt.Fprintf(&b, "    cycle: %s\n    importers: %s\n", strings.Join(f.cycle, " "), strings.Join(f.importers, " "))
		}
	}
	fmt.Fprintf(&b, "\n%d packages, %d lines, comments %.1f %%, %d functions with a complexity > %d, %d long lines\n", len(all), total.lines,
		percent(total.comments, total.lines), branches, manyBranches, total.long)
	report(&b, fmt.Sprintf("Packages of less than %d lines with one importer: %d", smallPackage, small), all, func(f *figures, row func(int, string)) {
		if len(f.importers) == 1 && f.lines < smallPackage {
			row(f.lines, f.name+", for "+f.importers[0])
		}
	})
	report(&b, fmt.Sprintf("Types with at least %d methods, and functions of their package that take them first", manyMethods), all, func(f *figures, row func(int, string)) {
		for name, n := range f.around() {
			if n >= manyMethods {
				row(n, fmt.Sprintf("%s.%s: %d methods, %d functions", f.name, name, f.methods[name], f.firsts[name]))
			}
		}
	})
	report(&b, fmt.Sprintf("Structs with at least %d fields in %s", manyFields, strings.Join(decisions, " ")), all, func(f *figures, row func(int, string)) {
		for name, x := range f.structs {
			if x.all >= manyFields && matches(f.name, decisions) {
				row(x.all, fmt.Sprintf("%s.%s: %d bools", f.name, name, x.bools))
			}
		}
	})
	report(&b, fmt.Sprintf("Functions with a cyclomatic complexity > %d", manyBranches), all, func(f *figures, row func(int, string)) {
		for name, n := range f.functions {
			if n > manyBranches {
				row(n, f.name+"."+name)
			}
		}
	})
	t.Logf("\n%s", b.String())
}

// around counts the methods of each type of the package together with the functions that take it first.
func (f *figures) around() map[string]int {
	out := maps.Clone(f.methods)
	for name, n := range f.firsts {
		out[name] += n
	}
	return out
}

// report writes a chapter: the rows of all packages, the highest first.
func report(b *strings.Builder, title string, all []*figures, rows func(f *figures, row func(n int, text string))) {
	type line struct {
		n    int
		text string
	}
	var lines []line
	for _, f := range all {
		rows(f, func(n int, text string) { lines = append(lines, line{n, text}) })
	}
	slices.SortFunc(lines, func(x, y line) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.text, y.text)) })
	fmt.Fprintf(b, "\n%s\n\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "%5d  %s\n", l.n, l.text)
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// TestDeclarations measures one file whose figures can be counted by hand.
func TestDeclarations(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x

type run struct {
	a, b bool
	c    int
	d    struct{ e bool }
	error
}

func (r *run) plain() {}

func take(ctx context.Context, r run) {}

func other(n int, r run) {}

func generic[T any](l *list[T]) {}

func (r run) branches(n int) {
	for range n {
		if r.a && r.b || n > 2 {
			func() {
				switch n {
				case 1, 2:
				case 3:
				default:
				}
			}()
		}
	}
}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := &figures{methods: map[string]int{}, firsts: map[string]int{}, functions: map[string]int{}, structs: map[string]fields{}}
	f.declarations(file)
	for what, x := range map[string][2]any{
		"methods":               {f.methods["run"], 2},
		"functions with run":    {f.firsts["run"], 1},
		"functions with list":   {f.firsts["list"], 1},
		"all types":             {len(f.firsts), 2},
		"plain":                 {f.functions["run.plain"], 1},
		"branches":              {f.functions["run.branches"], 7},
		"fields":                {f.structs["run"], fields{all: 5, bools: 3}},
		"long lines":            {long(strings.Repeat("é", maxLine) + "\n" + strings.Repeat("e", maxLine+1) + "\n"), 1},
		"methods and functions": {f.around()["run"], 3},
	} {
		if x[0] != x[1] {
			t.Errorf("%s: %v, want %v", what, x[0], x[1])
		}
	}
}
