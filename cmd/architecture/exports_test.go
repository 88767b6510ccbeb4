package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// public are the directories whose exported names are for importers outside of the module.
func public(dir string) bool {
	return dir == "engine" || dir == "statebackend" || strings.HasPrefix(dir, "statebackend/")
}

// outside are names of methods that code outside of the module calls by interfaces which it does
// not export, or by reflection.
var outside = []string{
	"UnwrapExpression", // hcl.UnwrapExpression
	"MarshalText",      // encoding/json
	"UnmarshalText",    // the same
	"ContentType",      // aws-lambda-go
}

// exceptions are exported names without a use in another package, with the reason for each.
var exceptions = map[string]string{
	"functions/page.Entry.Tallies": "its template",
	"functions/page.frame.Heading": "its template",
	"functions/page.frame.Tabs":    "its template",

	"functions/page.PullID.RepositoryPath":    "its template",
	"functions/page.Repository.Older":         "its template",
	"functions/page.Repository.Views":         "its template",
	"functions/page.RepositoryID.ProjectPath": "its template",
	"functions/page.RepositoryID.PullPath":    "its template",
	"functions/page.RepositoryID.ViewPath":    "its template",

	"engine/provider/install.NotFoundError": "part of the contract of Source",

	"engine/internal/differential.Generate": "the package has no other use than its own tests",
	"engine/internal/differential.Result":   "the same",
}

// TestExports finds the exported names that no other package uses, tests included: they should
// be unexported, or removed.
//
// Four kinds of names are used without being named. A type is used by the exported declarations
// that contain it. A constant is used with any other constant of its type. A method is used by
// the interfaces that have one of its name. And struct fields are left out altogether: encoders
// and literals use them.
func TestExports(t *testing.T) {
	loaded, err := load()
	if err != nil {
		t.Fatal(err)
	}
	u := &uses{names: map[string]bool{}, constants: map[string]bool{}, methods: map[string]bool{}, selectors: map[string]map[string]bool{}}
	seen := map[string]bool{} // files
	for _, p := range loaded {
		u.typed(p)
		for _, file := range p.CompiledGoFiles {
			seen[file] = true
		}
	}
	if err := u.untyped(seen); err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		u.enumerations(p)
	}
	found := map[string]bool{}
	for _, p := range loaded {
		dir := strings.TrimPrefix(p.PkgPath, module)
		if public(dir) {
			continue
		}
		for _, name := range u.dead(p) {
			if exceptions[name] == "" && !slices.Contains(outside, name[strings.LastIndex(name, ".")+1:]) {
				t.Errorf("%s: no other package uses it; unexport or remove it", name)
			}
			found[name] = true
		}
	}
	for name := range exceptions {
		if !found[name] {
			t.Errorf("exceptions has %s, which is used, or gone", name)
		}
	}
}

// uses are the names of packages that are used in other packages, as DIRECTORY.NAME and
// DIRECTORY.TYPE.METHOD.
type uses struct {
	names     map[string]bool
	constants map[string]bool            // types of used constants
	methods   map[string]bool            // of any interface, by name
	selectors map[string]map[string]bool // in files without types: name -> directories
}

// typed collects the uses in a package, by its types.
func (u *uses) typed(p *packages.Package) {
	for _, o := range p.TypesInfo.Uses {
		if o.Pkg() == nil || o.Pkg().Path() == p.PkgPath || !o.Exported() {
			continue
		}
		u.names[key(o)] = true
	}
	for _, in := range append(p.Types.Imports(), p.Types) {
		for _, name := range in.Scope().Names() {
			if i, ok := in.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					u.methods[m.Name()] = true
				}
			}
		}
	}
}

// key names an object as in uses.names.
func key(o types.Object) string {
	dir := strings.TrimPrefix(o.Pkg().Path(), module)
	if f, ok := o.(*types.Func); ok {
		if recv := f.Origin().Signature().Recv(); recv != nil {
			return dir + "." + receiverName(recv.Type()) + "." + o.Name()
		}
	}
	return dir + "." + o.Name()
}

func receiverName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return "interface"
}

// untyped collects the uses in the files that were not loaded: tests, and files for other
// systems. A selector on an imported package is a use of that package's name; any other is a use
// of all methods of its name, except the package's own.
func (u *uses) untyped(loaded map[string]bool) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && strings.HasPrefix(e.Name(), ".") && file != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || loaded[file] {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // a test's data
		}
		dir, _ := filepath.Rel(root, filepath.Dir(file))
		if strings.HasSuffix(syntax.Name.Name, "_test") {
			dir += "_test"
		}
		u.selected(syntax, filepath.ToSlash(dir))
		return nil
	})
}

func (u *uses) selected(syntax *ast.File, dir string) {
	imports := map[string]string{}
	for _, i := range syntax.Imports {
		from := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module)
		name := path.Base(from)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = from
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
			u.names[imports[x.Name]+"."+s.Sel.Name] = true
		}
		if u.selectors[s.Sel.Name] == nil {
			u.selectors[s.Sel.Name] = map[string]bool{}
		}
		u.selectors[s.Sel.Name][dir] = true
		return true
	})
}

// enumerations collects the types of the used constants.
func (u *uses) enumerations(p *packages.Package) {
	for _, name := range p.Types.Scope().Names() {
		if c, ok := p.Types.Scope().Lookup(name).(*types.Const); ok && u.names[key(c)] {
			u.constants[c.Type().String()] = true
		}
	}
}

// dead returns a package's exported names without a use.
func (u *uses) dead(p *packages.Package) (names []string) {
	dir := strings.TrimPrefix(p.PkgPath, module)
	contained := containedTypes(p)
	for _, syntax := range p.Syntax {
		if ast.IsGenerated(syntax) {
			continue
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !id.IsExported() {
				return true
			}
			switch o := p.TypesInfo.Defs[id].(type) {
			case *types.Func:
				if !u.names[key(o)] && !u.calls(o, dir) && !ofInterface(o) {
					names = append(names, key(o))
				}
			case *types.TypeName:
				if o.Parent() == p.Types.Scope() && !u.names[key(o)] && !contained[o] {
					names = append(names, key(o))
				}
			case *types.Const:
				if o.Parent() == p.Types.Scope() && !u.names[key(o)] && !u.constants[o.Type().String()] {
					names = append(names, key(o))
				}
			case *types.Var:
				if o.Parent() == p.Types.Scope() && !u.names[key(o)] {
					names = append(names, key(o))
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

// calls reports whether a method may be called through an interface, or in a file without types.
func (u *uses) calls(f *types.Func, dir string) bool {
	if f.Signature().Recv() == nil {
		return false
	}
	for in := range u.selectors[f.Name()] {
		if in != dir {
			return true
		}
	}
	return u.methods[f.Name()]
}

func ofInterface(f *types.Func) bool {
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// containedTypes returns the types in the exported declarations of a package: signatures, and
// the exported fields of structs.
func containedTypes(p *packages.Package) map[types.Object]bool {
	found := map[types.Object]bool{}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			// Without the receiver: a type is not in use because it has methods.
			if n.Name.IsExported() {
				ast.Inspect(n.Type, visit)
			}
			return false
		case *ast.TypeSpec:
			return n.Name.IsExported()
		case *ast.BlockStmt:
			return false
		case *ast.Field:
			if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) && insideStruct(p, n) {
				return false
			}
		case *ast.Ident:
			if t, ok := p.TypesInfo.Uses[n].(*types.TypeName); ok && t.Pkg() == p.Types {
				found[t] = true
			}
		}
		return true
	}
	for _, syntax := range p.Syntax {
		ast.Inspect(syntax, visit)
	}
	return found
}

// insideStruct reports whether a field is a struct's, and not a parameter.
func insideStruct(p *packages.Package, f *ast.Field) bool {
	v, ok := p.TypesInfo.Defs[f.Names[0]].(*types.Var)
	return ok && v.IsField()
}
