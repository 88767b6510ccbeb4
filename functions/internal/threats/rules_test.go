package threats

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// enough mutants of each rule have to die.
const enough = 2

// TestEachRuleHasMutants holds that each rule of the gate, and each rule that settings can demand, has mutants: rows that edit
// its line in the table, its function, or a function that is for it alone.
func TestEachRuleHasMutants(t *testing.T) {
	t.Parallel()
	rows := allRows(t)
	for _, table := range []struct{ dir, name string }{
		{"functions/pipeline/internal/admission", "rules"},
		{"functions/pipeline/requirementrules", "table"},
	} {
		src, err := readSource(filepath.Join(repository, table.dir), table.name)
		if err != nil {
			t.Fatal(err)
		}
		if len(src.rules) < 15 {
			t.Errorf("%s: %s has %d rules", table.dir, table.name, len(src.rules))
		}
		for _, rule := range src.rules {
			found, parts := 0, src.parts(rule)
			for _, r := range rows {
				if src.edits(r, table.dir, parts) {
					found++
				}
			}
			if found < enough {
				t.Errorf("%s: the rule %s has %d mutants, of %d", table.dir, rule.name, found, enough)
			}
		}
	}
}

// A source is the functions of a package, and a table of rules, each of which ends with the name of its function.
type source struct {
	text  map[string]string // by file
	funcs map[string]function
	rules []rule
}

// A function is a range of bytes in a file, and the names that it uses.
type function struct {
	file     string
	from, to int
	uses     map[string]bool
}

// A rule is a line of the table.
type rule struct {
	name string // of its function
	line function
}

func readSource(dir, table string) (source, error) {
	out := source{text: map[string]string{}, funcs: map[string]function{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return out, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return out, err
		}
		base := filepath.Base(name)
		out.text[base] = string(data)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return out, err
		}
		part := func(n ast.Node) function {
			return function{base, set.Position(n.Pos()).Offset, set.Position(n.End()).Offset, used(n)}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out.funcs[d.Name.Name] = part(d)
			case *ast.GenDecl:
				for _, row := range tableOf(d, table) {
					if last, ok := row.Elts[len(row.Elts)-1].(*ast.Ident); ok {
						out.rules = append(out.rules, rule{last.Name, part(row)})
					}
				}
			}
		}
	}
	return out, nil
}

// tableOf returns the rows of a variable.
func tableOf(d *ast.GenDecl, name string) (rows []*ast.CompositeLit) {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != name || len(v.Values) == 0 {
			continue
		}
		for _, row := range v.Values[0].(*ast.CompositeLit).Elts {
			rows = append(rows, row.(*ast.CompositeLit))
		}
	}
	return rows
}

// used returns all names in a part of a file.
func used(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	return names
}

// parts returns the parts of a rule: its line, its function, and those functions of its package that no other rule of the
// table reaches.
func (s source) parts(x rule) []function {
	shared := map[string]bool{}
	for _, other := range s.rules {
		if other.name != x.name {
			s.reach(other.name, shared)
		}
	}
	own := map[string]bool{}
	s.reach(x.name, own)
	out := []function{x.line}
	for name := range own {
		if name == x.name || !shared[name] {
			out = append(out, s.funcs[name])
		}
	}
	return out
}

// reach adds a function, and all that it uses, to names.
func (s source) reach(name string, names map[string]bool) {
	f, ok := s.funcs[name]
	if !ok || names[name] {
		return
	}
	names[name] = true
	for n := range f.uses {
		s.reach(n, names)
	}
}

// edits reports whether a row of mutants edits one of some parts of a package.
func (s source) edits(r row, dir string, parts []function) bool {
	for _, e := range r.edits {
		base := filepath.Base(e.file)
		at := strings.Index(s.text[base], e.old)
		if filepath.Dir(e.file) != dir || at < 0 {
			continue
		}
		for _, p := range parts {
			if p.file == base && p.from < at+len(e.old) && at < p.to {
				return true
			}
		}
	}
	return false
}
