package architecture

import (
	"bytes"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/lockstep-iac/lockstep/"

// figures are the measures of one package, without its tests and its generated files.
type figures struct {
	name     string         // by directory, below the module
	lines    int            // of all files
	files    map[string]int // lines
	methods  map[string]int // of each receiver
	cycle    []string       // the largest set of files that call each other in a circle
	comments int            // lines with nothing but a comment
}

// largest returns the key with the highest figure.
func largest(of map[string]int) (string, int) {
	name, most := "", 0
	for k, n := range of {
		if n > most || n == most && k < name {
			name, most = k, n
		}
	}
	return name, most
}

// load loads all packages of the module, without their tests.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile,
		Dir: "../..",
	}, "./...")
})

var measured = sync.OnceValues(func() ([]*figures, error) {
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	var all []*figures
	for _, p := range loaded {
		if f := measure(p); len(f.files) > 0 {
			all = append(all, f)
		}
	}
	return all, nil
})

func measures(t *testing.T) []*figures {
	t.Helper()
	all, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func measure(p *packages.Package) *figures {
	f := &figures{name: strings.TrimPrefix(p.PkgPath, module), files: map[string]int{}, methods: map[string]int{}}
	calls := map[string]map[string]bool{}
	for _, syntax := range p.Syntax {
		path := p.Fset.Position(syntax.Package).Filename
		if ast.IsGenerated(syntax) || strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		file := filepath.Base(path)
		f.files[file] = bytes.Count(source, []byte("\n"))
		f.lines += f.files[file]
		f.comments += comments(string(source))
		calls[file] = callees(p, syntax, file)
		for _, d := range syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				f.methods[receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	for _, component := range components(calls) {
		if len(component) > len(f.cycle) {
			f.cycle = component
		}
	}
	return f
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// comments counts the lines with nothing but a comment.
func comments(source string) int {
	n, essay := 0, false
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		essay = essay || strings.HasPrefix(line, "/*")
		if essay || strings.HasPrefix(line, "//") {
			n++
		}
		essay = essay && !strings.Contains(line, "*/")
	}
	return n
}

// callees returns the files of the package whose functions or methods a file uses.
func callees(p *packages.Package, syntax *ast.File, self string) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(syntax, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := p.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() != p.Types {
			return true
		}
		if file := filepath.Base(p.Fset.Position(fn.Origin().Pos()).Filename); file != self {
			used[file] = true
		}
		return true
	})
	return used
}

// components returns the strongly connected components of a graph with more than one node, by
// Tarjan's algorithm.
func components(graph map[string]map[string]bool) [][]string {
	var (
		found      [][]string
		stack      []string
		index, low = map[string]int{}, map[string]int{}
		visit      func(string)
	)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack = append(stack, n)
		for to := range graph[n] {
			if index[to] == 0 {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if slices.Contains(stack, to) {
				low[n] = min(low[n], index[to])
			}
		}
		if low[n] != index[n] {
			return
		}
		at := slices.Index(stack, n)
		if component := slices.Sorted(slices.Values(stack[at:])); len(component) > 1 {
			found = append(found, component)
		}
		stack = stack[:at]
	}
	for n := range graph {
		if index[n] == 0 {
			visit(n)
		}
	}
	return found
}
