package project

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// everywhere, at the end of a path, stands for all files below a directory, and alone for those of the repository.
const everywhere = "**"

// Limits of static reading: beyond them the configuration may read any file.
const (
	maxReads   = 200
	maxReaders = 2000 // modules that are looked at, each as often as it is called
	maxFollow  = 50   // names that are looked through, one behind the other
)

// fileFunctions are those that read a file, or a directory, whose path is the first argument.
var fileFunctions = []string{
	"file", "filebase64", "fileexists", "fileset", "templatefile", "filebase64sha256", "filebase64sha512", "filemd5", "filesha1", "filesha256", "filesha512",
}

// calling matches a text that may call one of these functions, or name a path of the configuration.
var calling = regexp.MustCompile(`\bfile\w*\b|\btemplatefile\b|\bpath\s*\.`)

// A staticReader finds the paths that a configuration reads beside its modules, from the text alone: literal paths, with path.module,
// path.root, path.cwd, locals and the arguments of local modules. reads are those that are known; guesses are those of which a
// part is not known: everything below the known part.
type staticReader struct {
	tree           source.Tree
	cfg            *config.Config
	root           string // the root module's directory in the repository
	dirs           map[string]*syntax
	reads, guesses map[string]bool
}

// staticReads reads a configuration in the directory root of the repository.
func staticReads(cfg *config.Config, tree source.Tree, root string) (reads, guesses []string) {
	r := &staticReader{tree, cfg, root, map[string]*syntax{}, map[string]bool{}, map[string]bool{}}
	for i, m := range cfg.Order {
		if i == maxReaders || len(r.reads)+len(r.guesses) > maxReads {
			return nil, []string{everywhere}
		}
		if r.in(m.Dir).calls {
			r.module(m)
		}
	}
	return slices.Sorted(maps.Keys(r.reads)), slices.Sorted(maps.Keys(r.guesses))
}

// syntax is the text of one module's files.
type syntax struct {
	calls  bool // it may read files
	bodies []*hclsyntax.Body
	locals map[string]hclsyntax.Expression
	inputs map[string]map[string]hclsyntax.Expression // arguments of module blocks, by the names of both
	texts  []hclsyntax.Expression                     // the texts of files in JSON, as templates
}

// in returns the text of the module in a directory.
func (r *staticReader) in(dir string) *syntax {
	if s := r.dirs[dir]; s != nil {
		return s
	}
	s := &syntax{locals: map[string]hclsyntax.Expression{}, inputs: map[string]map[string]hclsyntax.Expression{}}
	r.dirs[dir] = s
	for _, name := range slices.Sorted(maps.Keys(r.cfg.Files)) {
		if path.Dir(name) != dir {
			continue
		}
		src := r.cfg.Files[name].Bytes
		s.calls = s.calls || calling.Match(src)
		if strings.HasSuffix(name, ".json") {
			s.texts = append(s.texts, templatesIn(src, name)...)
			continue
		}
		b := parsing.Syntax(src, name)
		if b == nil {
			continue
		}
		s.bodies = append(s.bodies, b)
		for _, x := range b.Blocks {
			switch {
			case x.Type == "locals":
				for n, a := range x.Body.Attributes {
					s.locals[n] = a.Expr
				}
			case x.Type == "module" && len(x.Labels) == 1:
				args := map[string]hclsyntax.Expression{}
				for n, a := range x.Body.Attributes {
					args[n] = a.Expr
				}
				s.inputs[x.Labels[0]] = args
			}
		}
	}
	return s
}

// templatesIn are the texts of a file in JSON that are templates.
func templatesIn(src []byte, name string) (out []hclsyntax.Expression) {
	var v any
	if !calling.Match(src) || json.Unmarshal(src, &v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case string:
			if calling.MatchString(v) {
				if x, ds := parsing.TemplateTree([]byte(v), name); !ds.HasErrors() {
					out = append(out, x)
				}
			}
		}
	}
	walk(v)
	return out
}

// module looks at one module, as it is called in one place.
func (r *staticReader) module(m *config.Module) {
	s := r.in(m.Dir)
	for _, b := range s.bodies {
		r.functions(b, m)
		for _, x := range b.Blocks {
			_, local := m.Children[label(x)]
			if slices.Contains([]string{"resource", "data", "ephemeral", "provider"}, x.Type) || x.Type == "module" && !local {
				r.mentions(x.Body, m)
			}
		}
	}
	for _, x := range s.texts {
		r.functions(x, m)
		r.mentions(x, m)
	}
}

// label is the first one of a block.
func label(b *hclsyntax.Block) string {
	if len(b.Labels) == 0 {
		return ""
	}
	return b.Labels[0]
}

// functions adds the paths that functions read.
func (r *staticReader) functions(n hclsyntax.Node, m *config.Module) {
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		call, is := n.(*hclsyntax.FunctionCallExpr)
		if !is || len(call.Args) == 0 || !slices.Contains(fileFunctions, strings.TrimPrefix(call.Name, "core::")) {
			return nil
		}
		for _, t := range r.either(call.Args[0], m) {
			at, inside := r.place(t)
			switch {
			case !t.whole && t.begins == "":
				r.guesses[everywhere] = true
			case !inside:
			case !t.whole:
				r.guess(at)
			case strings.HasSuffix(call.Name, "fileset"):
				r.guess(at + "/")
			default:
				r.reads[at] = true
				if strings.HasSuffix(call.Name, "templatefile") {
					r.template(at)
				}
			}
		}
		return nil
	})
}

// template adds what a template may read in turn, which only the plan can tell.
func (r *staticReader) template(at string) {
	rel, err := relative(r.root, at)
	if err != nil {
		return
	}
	if src, err := r.tree.ReadFile(rel); err == nil && calling.Match(src) {
		r.guesses[everywhere] = true
	}
}

// mentions adds the paths that other arguments have, as providers read files and directories, too: those that begin with a path
// of the configuration.
func (r *staticReader) mentions(n hclsyntax.Node, m *config.Module) {
	_ = hclsyntax.Walk(n, &mentionWalker{r: r, m: m})
}

// A mentionWalker looks at the outermost templates and names.
type mentionWalker struct {
	r      *staticReader
	m      *config.Module
	inside int
}

func (w *mentionWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if x, is := n.(*hclsyntax.Block); is && (x.Type == "provisioner" || x.Type == "connection") {
		w.inside++
		return nil
	}
	if w.inside == 0 {
		switch x := n.(type) {
		case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr, *hclsyntax.ScopeTraversalExpr:
			for _, t := range w.r.either(x.(hclsyntax.Expression), w.m) {
				at, inside := w.r.place(t)
				switch {
				case !inside || !t.rooted:
				case t.whole:
					w.r.reads[at] = true
					w.r.reads[path.Join(at, everywhere)] = true
				case path.Dir(at) != ".":
					w.r.guess(at)
				}
			}
		}
	}
	if outermost(n) {
		w.inside++
	}
	return nil
}

func (w *mentionWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	x, is := n.(*hclsyntax.Block)
	if outermost(n) || is && (x.Type == "provisioner" || x.Type == "connection") {
		w.inside--
	}
	return nil
}

// outermost reports whether what is inside of a node is a part of its text.
func outermost(n hclsyntax.Node) bool {
	switch n.(type) {
	case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr, *hclsyntax.FunctionCallExpr:
		return true
	}
	return false
}

// guess adds everything in the directory of a path of which only the beginning is known.
func (r *staticReader) guess(begins string) {
	dir := path.Dir(begins)
	if strings.HasSuffix(begins, "/") {
		dir = path.Clean(begins)
	}
	r.guesses[path.Join(dir, everywhere)] = true
}

// A text is the value of an expression as far as it is known: all of it if whole is set, else its beginning. rooted is set if it
// begins with a directory of the configuration; it is a path in the repository then.
type text struct {
	begins        string
	whole, rooted bool
}

// place returns the path of a text in the repository, clean but for a slash at the end of one that is not whole. inside reports
// whether it is in there.
func (r *staticReader) place(t text) (at string, inside bool) {
	at = t.begins
	if !t.rooted {
		if path.IsAbs(at) {
			return "", false
		}
		at = r.root + "/" + at
	}
	clean := path.Clean(at)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", false
	}
	if !t.whole && strings.HasSuffix(at, "/") {
		clean += "/"
	}
	return clean, true
}

// either returns the values that an expression may have.
func (r *staticReader) either(x hclsyntax.Expression, m *config.Module) []text {
	if c, is := x.(*hclsyntax.ConditionalExpr); is {
		return []text{r.text(c.TrueResult, m, 0), r.text(c.FalseResult, m, 0)}
	}
	return []text{r.text(x, m, 0)}
}

// text returns the value of an expression in a module.
func (r *staticReader) text(x hclsyntax.Expression, m *config.Module, followed int) text {
	if followed > maxFollow {
		return text{}
	}
	followed++
	switch x := x.(type) {
	case *hclsyntax.ParenthesesExpr:
		return r.text(x.Expression, m, followed)
	case *hclsyntax.TemplateWrapExpr:
		return r.text(x.Wrapped, m, followed)
	case *hclsyntax.LiteralValueExpr:
		v, err := convert.Convert(x.Val, cty.String)
		if err != nil || v.IsNull() || !v.IsKnown() {
			return text{}
		}
		return text{begins: v.AsString(), whole: true}
	case *hclsyntax.TemplateExpr:
		return r.joined(x.Parts, "", m, followed)
	case *hclsyntax.FunctionCallExpr:
		switch {
		case slices.Contains([]string{"abspath", "pathexpand", "tostring"}, x.Name) && len(x.Args) == 1:
			return r.text(x.Args[0], m, followed)
		case x.Name == "join" && len(x.Args) == 2:
			sep := r.text(x.Args[0], m, followed)
			if list, is := x.Args[1].(*hclsyntax.TupleConsExpr); is && sep.whole {
				return r.joined(list.Exprs, sep.begins, m, followed)
			}
		}
	case *hclsyntax.ScopeTraversalExpr:
		return r.named(x.Traversal, m, followed)
	}
	return text{}
}

// joined puts texts behind each other, up to the first that is not known.
func (r *staticReader) joined(parts []hclsyntax.Expression, sep string, m *config.Module, followed int) text {
	out := text{whole: true}
	for i, p := range parts {
		t := r.text(p, m, followed)
		if i == 0 {
			out.rooted = t.rooted
		} else {
			out.begins += sep
		}
		if len(out.begins)+len(t.begins) > 4096 {
			return text{}
		}
		out.begins += t.begins
		if !t.whole {
			out.whole = false
			break
		}
	}
	return out
}

// named returns the value of a name.
func (r *staticReader) named(t hcl.Traversal, m *config.Module, followed int) text {
	if len(t) != 2 {
		return text{}
	}
	attr, is := t[1].(hcl.TraverseAttr)
	if !is {
		return text{}
	}
	switch t.RootName() + "." + attr.Name {
	case "path.module":
		return text{begins: path.Join(r.root, m.Dir), whole: true, rooted: true}
	case "path.root", "path.cwd":
		return text{begins: r.root, whole: true, rooted: true}
	}
	switch t.RootName() {
	case "local":
		if x := r.in(m.Dir).locals[attr.Name]; x != nil {
			return r.text(x, m, followed)
		}
	case "var":
		if m.Parent == nil {
			return text{} // it can be set from outside
		}
		if x := r.in(m.Parent.Dir).inputs[m.Call.Name][attr.Name]; x != nil {
			return r.text(x, m.Parent, followed)
		}
		if v := m.Variables[attr.Name]; v != nil && v.Default != cty.NilVal && v.Default.Type() == cty.String && !v.Default.IsNull() {
			return text{begins: v.Default.AsString(), whole: true}
		}
	}
	return text{}
}

// relative returns a path of the repository as seen from a directory there.
func relative(dir, at string) (string, error) {
	up := ""
	for dir != "." && at != dir && !within(at, dir) {
		up, dir = up+"../", path.Dir(dir)
	}
	if dir == "." {
		return path.Clean(up + at), nil
	}
	return path.Clean(up + strings.TrimPrefix(strings.TrimPrefix(at, dir), "/")), nil
}
