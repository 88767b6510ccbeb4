package mutating

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A mutant is one change of one file.
type mutant struct {
	file       string
	start, end int // the bytes that are replaced
	text       string
	kind       string
}

// apply returns the file with the change.
func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.text), source[m.end:])
}

// A finder collects the mutants of a file.
type finder struct {
	file   *token.File
	source []byte
	info   *types.Info
	found  []mutant
	beside map[ast.Node]bool // literals that nobody reads: see idle
}

// mutantsOf returns the mutants of a file, in the order of the text. Not all of them compile.
func mutantsOf(file *token.File, syntax *ast.File, source []byte, info *types.Info) []mutant {
	f := &finder{file: file, source: source, info: info, beside: map[ast.Node]bool{}}
	ast.Inspect(syntax, f.visit)
	slices.SortStableFunc(f.found, func(a, b mutant) int { return a.start - b.start })
	return f.found
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !f.onlyTells(n)
	case *ast.IfStmt:
		f.negate("condition", n.Cond)
	case *ast.ForStmt:
		f.negate("condition", n.Cond)
	case *ast.BinaryExpr:
		f.operator(n)
		return !isDuration(f.info, n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.CaseClause:
		if n.List != nil {
			f.add("case", n, "")
		}
		f.statements(n.Body)
	case *ast.ReturnStmt:
		f.idle(n)
		f.results(n)
	case *ast.BasicLit:
		f.literal(n)
	case *ast.Ident:
		f.truth(n)
	case *ast.ImportSpec, *ast.StructType:
		return false
	}
	return true
}

func (f *finder) add(kind string, n ast.Node, text string) {
	f.found = append(f.found, mutant{
		file: f.file.Name(), start: f.file.Offset(n.Pos()), end: f.file.Offset(n.End()), text: text, kind: kind,
	})
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.file.Offset(n.Pos()):f.file.Offset(n.End())])
}

// negate negates a condition, unless the exchange of its operator does the same.
func (f *finder) negate(kind string, cond ast.Expr) {
	switch e := cond.(type) {
	case nil:
	case *ast.UnaryExpr:
		f.add(kind, e, f.text(e.X))
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			f.add(kind, e, "!("+f.text(e)+")")
		}
	default:
		f.add(kind, e, "!("+f.text(e)+")")
	}
}

var exchanged = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
}

func (f *finder) operator(n *ast.BinaryExpr) {
	to, ok := exchanged[n.Op]
	if !ok || isDuration(f.info, n) {
		return
	}
	at := f.file.Offset(n.OpPos)
	f.found = append(f.found, mutant{file: f.file.Name(), start: at, end: at + len(n.Op.String()), text: to.String(), kind: "operator"})
}

// statements leaves out one statement of a list.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && f.onlyTells(call) {
				continue
			}
		case *ast.DeferStmt:
			if cleansUp(s.Call) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || allBlank(s.Lhs) {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		case *ast.IncDecStmt, *ast.BranchStmt:
		default:
			continue
		}
		f.add("statement", s, "")
	}
}

// results loses the error of a return, or negates its condition.
func (f *finder) results(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		id, named := ast.Unparen(e).(*ast.Ident)
		if named && (id.Name == "nil" || id.Name == "true" || id.Name == "false") {
			continue
		}
		t := f.info.TypeOf(e)
		if t == nil {
			continue
		}
		switch b, basic := t.Underlying().(*types.Basic); {
		case types.AssignableTo(t, types.Universe.Lookup("error").Type()):
			f.add("error", e, "nil")
		case basic && b.Info()&types.IsBoolean != 0:
			f.negate("result", e)
		}
	}
}

func (f *finder) literal(n *ast.BasicLit) {
	if f.beside[n] {
		return
	}
	switch n.Kind {
	case token.INT:
		f.add("constant", n, "("+n.Value+" + 1)")
	case token.STRING:
		if strings.Contains(n.Value, " ") {
			return // a text for people
		}
		quote := n.Value[len(n.Value)-1:]
		f.add("constant", n, strings.TrimSuffix(n.Value, quote)+"x"+quote)
	}
}

func (f *finder) truth(n *ast.Ident) {
	if f.beside[n] {
		return
	}
	other := map[string]string{"true": "false", "false": "true"}[n.Name]
	if c, ok := f.info.Uses[n].(*types.Const); ok && c.Parent() == types.Universe && other != "" {
		f.add("constant", n, other)
	}
}
