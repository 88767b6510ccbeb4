package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// TestTableHasEveryCommand looks for commands in the packages of the families: each has a row in
// the table, and a file named after it.
func TestTableHasEveryCommand(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := commands()
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, name := range commandsIn(t, path) {
			found++
			if !slices.ContainsFunc(rows, func(c cli.Command) bool { return c.Name == name }) {
				t.Errorf("%s: the command %q has no row in commands.go or internal/program/engine.go", path, name)
			}
			if want := strings.NewReplacer(" ", "_", "-", "_").Replace(name) + ".go"; filepath.Base(path) != want {
				t.Errorf("%s: the command %q belongs into a file of its own, %s", path, name, want)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d commands were found", found)
	}
}

// commandsIn returns the names of the commands that a file declares: literals of type Command. A
// name that is put together with its family counts for the family "workspace".
func commandsIn(t *testing.T, path string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(f, func(n ast.Node) bool {
		l, ok := n.(*ast.CompositeLit)
		if !ok || !isCommand(l.Type) {
			return true
		}
		for _, e := range l.Elts {
			kv := e.(*ast.KeyValueExpr)
			if kv.Key.(*ast.Ident).Name != "Name" {
				continue
			}
			family := ""
			value := kv.Value
			if sum, ok := value.(*ast.BinaryExpr); ok {
				family, value = "workspace", sum.Y
			}
			if lit, ok := value.(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(lit.Value)
				names = append(names, family+name)
			}
		}
		return true
	})
	return names
}

func isCommand(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "Command"
	case *ast.SelectorExpr:
		return x.Sel.Name == "Command"
	}
	return false
}
