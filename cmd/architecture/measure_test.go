package architecture

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/lockstep-iac/lockstep/"

// figures are the measures of one package, without its tests and its generated files.
type figures struct {
	name      string         // by directory, below the module
	lines     int            // of all files
	long      int            // lines of more than maxLine characters
	files     map[string]int // lines
	methods   map[string]int // of each receiver
	firsts    map[string]int // functions of the package that take the type first, or right after a context
	functions map[string]int // cyclomatic complexity
	structs   map[string]fields
	importers []string // without tests
	cycle     []string // the largest set of files that call each other in a circle
	comments  int      // lines with nothing but a comment
}

// fields counts the fields of a struct type, embedded ones and those of unnamed structs included.
type fields struct{ all, bools int }

// maxLine is the length of a line, in characters, from which on a person scrolls to read it.
const maxLine = 140

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
	importers := map[string][]string{}
	for _, p := range loaded {
		if f := measure(p); len(f.files) > 0 {
			all = append(all, f)
		}
		for path := range p.Imports {
			importers[path] = append(importers[path], strings.TrimPrefix(p.PkgPath, module))
		}
	}
	for _, f := range all {
		f.importers = importers[module+f.name]
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
	f := &figures{
		name: strings.TrimPrefix(p.PkgPath, module), files: map[string]int{}, methods: map[string]int{}, firsts: map[string]int{},
		functions: map[string]int{}, structs: map[string]fields{},
	}
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
		f.long += long(string(source))
		calls[file] = callees(p, syntax, file)
		f.declarations(syntax)
	}
	for _, component := range components(calls) {
		if len(component) > len(f.cycle) {
			f.cycle = component
		}
	}
	return f
}

// declarations counts what a file declares.
func (f *figures) declarations(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := receiver(d.Recv.List[0].Type)
				f.methods[of]++
				name = of + "." + name
			} else if of := first(d.Type); of != "" {
				f.firsts[of]++
			}
			f.functions[name] = complexity(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					if x, ok := s.Type.(*ast.StructType); ok {
						f.structs[s.Name.Name] = fieldsOf(x)
					}
				}
			}
		}
	}
}

// first returns the name of the package's own type that a function takes first, or right after a context; "" if it takes none.
func first(fn *ast.FuncType) string {
	for _, p := range fn.Params.List {
		if x, ok := p.Type.(*ast.SelectorExpr); ok && x.Sel.Name == "Context" && len(p.Names) < 2 {
			continue
		}
		name := receiver(p.Type)
		if types.Universe.Lookup(name) != nil {
			return ""
		}
		return name
	}
	return ""
}

// complexity is the cyclomatic complexity of a function, with the functions that are written in it: 1, and 1 more for
// each if, for, case, && and ||.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func fieldsOf(s *ast.StructType) (out fields) {
	for _, f := range s.Fields.List {
		n := max(len(f.Names), 1)
		if inner, ok := f.Type.(*ast.StructType); ok {
			x := fieldsOf(inner)
			out.all, out.bools = out.all+x.all, out.bools+x.bools
			continue
		}
		out.all += n
		if id, ok := f.Type.(*ast.Ident); ok && id.Name == "bool" {
			out.bools += n
		}
	}
	return out
}

// long counts the lines that are longer than maxLine.
func long(source string) int {
	n := 0
	for line := range strings.Lines(source) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > maxLine {
			n++
		}
	}
	return n
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
