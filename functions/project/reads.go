package project

import (
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
)

// everywhere, at the end of a path, means all files below the directory. Alone it means all files of the
// repository.
const everywhere = "**"

// These are limits of static reading. A configuration that exceeds a limit counts as one that may read any
// file.
const (
	maxReads   = 400
	maxReaders = 2000      // modules read; a module counts once for each call
	maxFollow  = 50        // nested expressions
	maxTexts   = 64        // values of one expression
	maxSteps   = 2_000_000 // expressions evaluated in all
)

// fileFunctions are the functions that read a file or a directory. The path is the first argument of the
// function.
var fileFunctions = []string{
	"file", "filebase64", "fileexists", "fileset", "templatefile", "filebase64sha256", "filebase64sha512", "filemd5", "filesha1", "filesha256", "filesha512",
}

// passing are the functions whose result is one of their arguments, or consists of elements of their arguments.
var passing = []string{
	"abspath", "pathexpand", "tostring", "toset", "tolist", "tomap", "sort", "distinct", "flatten", "concat", "compact", "reverse", "values", "one",
	"merge", "coalesce", "try", "sensitive", "nonsensitive",
}

// calling matches a text that may call a function that reads files, or that contains path.module or the like.
var calling = regexp.MustCompile(`\bfile\w*\b|\btemplatefile\b|\bpath\s*\.`)

// A staticReader finds the paths that a configuration reads, in addition to its modules. It uses only the text
// of the configuration. A path may consist of literals, path.module, path.root, path.cwd, locals, and arguments
// of local modules. reads are the known paths. guesses are paths with an unknown part. Each of them means
// everything below the known part.
type staticReader struct {
	tree           source.Tree
	cfg            *config.Config
	root           string // the root module's directory in the repository
	dirs           map[string]*syntax
	reads, guesses map[string]bool
	known          map[located][]text // the values of names
	mentioned      map[located]bool   // expressions of names whose paths were added
	steps          int
}

// A scope is the place of an expression: its module m, and the for_each of its block. The field each is nil
// if the block has no for_each.
type scope struct {
	m    *config.Module
	each hclsyntax.Expression
}

// located is an expression with its scope.
type located struct {
	x hclsyntax.Expression
	scope
}

// staticReads returns the paths that a configuration in the directory root of the repository reads. states are the
// addresses of other states that it reads, as far as they are known.
func staticReads(cfg *config.Config, tree source.Tree, root string) (reads, guesses, states []string) {
	r := &staticReader{
		tree: tree, cfg: cfg, root: root, dirs: map[string]*syntax{}, reads: map[string]bool{}, guesses: map[string]bool{},
		known: map[located][]text{}, mentioned: map[located]bool{},
	}
	for i, m := range cfg.Order {
		if i < maxReaders {
			r.module(m)
		}
		if i >= maxReaders || len(r.reads)+len(r.guesses) > maxReads || r.steps > maxSteps {
			return nil, []string{everywhere}, nil
		}
	}
	return slices.Sorted(maps.Keys(r.reads)), slices.Sorted(maps.Keys(r.guesses)), r.states()
}

// module reads one module. A module can be called from several places. m is the module as it is called from one
// of these places.
func (r *staticReader) module(m *config.Module) {
	s := r.in(m.Dir)
	for _, c := range s.calls {
		r.function(c.node.(*hclsyntax.FunctionCallExpr), scope{m, c.each})
	}
	for _, x := range s.mentions {
		r.mentions(x.node, scope{m, x.each})
	}
	for _, call := range slices.Sorted(maps.Keys(s.inputs)) {
		args := s.inputs[call]
		for _, n := range slices.Sorted(maps.Keys(args)) {
			if !slices.Contains([]string{"source", "version", "providers", "depends_on"}, n) {
				r.mentions(args[n], scope{m, args["for_each"]})
			}
		}
	}
}

// function adds the paths that a call of a function reads. A provider's function may read any path in its
// arguments.
func (r *staticReader) function(call *hclsyntax.FunctionCallExpr, s scope) {
	name := strings.TrimPrefix(call.Name, "core::")
	if strings.HasPrefix(name, "provider::") {
		for _, x := range call.Args {
			r.mentions(x, s)
		}
		return
	}
	if len(call.Args) == 0 || !slices.Contains(fileFunctions, name) {
		return
	}
	paths := r.texts(call.Args[0], s, 0)
	if name == "fileset" {
		paths = r.matching(paths, call, s)
	}
	for _, t := range paths {
		at, inside := r.place(t)
		switch {
		case !t.whole && t.begins == "":
			r.guesses[everywhere] = true
		case !inside:
		case !t.whole:
			r.guesses[below(at)] = true
		default:
			r.reads[at] = true
			if name == "templatefile" {
				r.template(at)
			}
		}
	}
}

// matching returns the known beginnings of the paths of files that fileset finds in directories.
func (r *staticReader) matching(dirs []text, call *hclsyntax.FunctionCallExpr, s scope) (out []text) {
	patterns := []text{{}}
	if len(call.Args) == 2 {
		patterns = r.texts(call.Args[1], s, 0)
	}
	for _, d := range dirs {
		if !d.whole {
			out = append(out, d)
			continue
		}
		for _, p := range patterns {
			t := text{begins: d.begins + "/" + p.begins, rooted: d.rooted}
			if i := strings.IndexAny(p.begins, `*?[{\`); i >= 0 {
				t.begins = d.begins + "/" + p.begins[:i]
				if strings.Contains(p.begins[i:], "..") {
					t = text{}
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// template adds everything that a template file may read itself. If the template calls functions, it may read
// any file.
func (r *staticReader) template(at string) {
	rel, err := relative(r.root, at)
	if err != nil {
		return
	}
	if src, err := r.tree.ReadFile(rel); err == nil && calling.Match(src) {
		r.guesses[everywhere] = true
	}
}

// mentions adds the paths in arguments that providers see, because a provider may read a file or a directory. A
// path counts if it begins with path.module or the like, or with a dot. It counts even if only its beginning is
// known, because no plan records what a provider reads.
func (r *staticReader) mentions(n hclsyntax.Node, s scope) {
	_ = hclsyntax.Walk(n, &mentionWalker{r: r, s: s})
}

// A mentionWalker visits templates, literals, names and calls. It visits the parts of a node only if the node's
// own value is not completely known.
type mentionWalker struct {
	r      *staticReader
	s      scope
	done   int // how deep the present node is inside a node whose parts need no visit; 0 outside of such a node
	inside int // number of calls around the present node
}

func (w *mentionWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if w.done > 0 || w.look(n) {
		w.done++
	} else if _, is := n.(*hclsyntax.FunctionCallExpr); is {
		w.inside++
	}
	return nil
}

func (w *mentionWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if w.done > 0 {
		w.done--
	} else if _, is := n.(*hclsyntax.FunctionCallExpr); is {
		w.inside--
	}
	return nil
}

// look adds the paths in a node. It returns true if the parts of the node need not be visited.
func (w *mentionWalker) look(n hclsyntax.Node) bool {
	switch x := n.(type) {
	case *hclsyntax.Block:
		return x.Type == "provisioner" || x.Type == "connection"
	case *hclsyntax.FunctionCallExpr:
		name := strings.TrimPrefix(x.Name, "core::")
		if slices.Contains(fileFunctions, name) { // function adds the first argument
			for _, a := range x.Args[min(len(x.Args), 1):] {
				if name == "templatefile" {
					w.r.mentions(a, w.s)
				}
			}
			return true
		}
		return w.add(w.r.texts(x, w.s, 0))
	case *hclsyntax.LiteralValueExpr:
		return w.add(w.r.texts(x, w.s, 0))
	case *hclsyntax.TemplateExpr:
		if whole := w.add(w.r.texts(x, w.s, 0)) && len(x.Parts) < 2; !whole {
			w.parts(x)
		}
		return true
	case *hclsyntax.ScopeTraversalExpr:
		if w.add(w.r.texts(x, w.s, 0)) {
			return true
		}
		if x, s, _ := w.r.named(x.Traversal, w.s); x != nil && !w.r.mentioned[located{x, s}] {
			w.r.mentioned[located{x, s}] = true
			w.r.mentions(x, s)
		}
		return true
	}
	return false
}

// parts looks for paths in a template. It adds the paths in its nested expressions, and paths that begin with a
// reference after some text: "sh ${path.module}/run.sh -v" has the path ${path.module}/run.sh.
func (w *mentionWalker) parts(x *hclsyntax.TemplateExpr) {
	for i, p := range x.Parts {
		switch p.(type) {
		case *hclsyntax.LiteralValueExpr:
		case *hclsyntax.ScopeTraversalExpr:
			if i > 0 {
				w.add(words(w.r.joined(x.Parts[i:], "", w.s, 0)))
			}
		default:
			w.r.mentions(p, w.s)
		}
	}
}

// words cuts each text at the end of its first word, as in a shell command.
func words(all []text) (out []text) {
	for _, t := range all {
		if i := strings.IndexAny(t.begins, " \t\n\"';&|<>()"); i >= 0 {
			t.begins, t.whole = t.begins[:i], true
		}
		out = append(out, t)
	}
	return out
}

// add adds the texts that are paths, and reports whether all texts are completely known. The repository's root
// is ignored. A module's own directory within a call is ignored, too, because it is only the beginning of a
// path.
func (w *mentionWalker) add(all []text) bool {
	whole := true
	for _, t := range all {
		whole = whole && t.whole
		at, inside := w.r.place(t)
		switch {
		case !inside || !t.rooted && !strings.HasPrefix(t.begins, "./") && !strings.HasPrefix(t.begins, "../"):
		case w.inside > 0 && t.whole && (at == w.r.root || at == path.Join(w.r.root, w.s.m.Dir)):
		case t.whole && at != ".":
			w.r.reads[at] = true
			w.r.reads[path.Join(at, everywhere)] = true
		case !t.whole && path.Dir(at) != ".":
			w.r.reads[below(at)] = true
		}
	}
	return whole
}

// below returns the pattern of everything in the directory of a path whose beginning is known.
func below(begins string) string { return path.Join(path.Dir(begins), everywhere) }

// A text is the value of an expression, as far as the value is known. If whole is set, the whole value is
// known, otherwise only its beginning. rooted is set if the value begins with path.module or the like. It is
// then a path relative to the repository.
type text struct {
	begins        string
	whole, rooted bool
}

// place returns the path of a text, relative to the repository. The path is clean, but keeps a slash at the end
// if the text is not whole. inside reports whether the path is in the repository.
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

// texts returns the values that an expression, or an element of it, may have. followed counts the nested
// expressions.
func (r *staticReader) texts(x hclsyntax.Expression, s scope, followed int) []text {
	unknown := []text{{}}
	if r.steps++; followed > maxFollow || r.steps > maxSteps {
		return unknown
	}
	followed++
	switch x := x.(type) {
	case *hclsyntax.ParenthesesExpr:
		return r.texts(x.Expression, s, followed)
	case *hclsyntax.TemplateWrapExpr:
		return r.texts(x.Wrapped, s, followed)
	case *hclsyntax.IndexExpr:
		return r.texts(x.Collection, s, followed)
	case *hclsyntax.ConditionalExpr:
		return r.any([]hclsyntax.Expression{x.TrueResult, x.FalseResult}, s, followed)
	case *hclsyntax.TupleConsExpr:
		return r.any(x.Exprs, s, followed)
	case *hclsyntax.ObjectConsExpr:
		var values []hclsyntax.Expression
		for _, item := range x.Items {
			values = append(values, item.ValueExpr)
		}
		return r.any(values, s, followed)
	case *hclsyntax.LiteralValueExpr:
		return textsOf(x.Val)
	case *hclsyntax.TemplateExpr:
		return r.joined(x.Parts, "", s, followed)
	case *hclsyntax.FunctionCallExpr:
		return r.result(x, s, followed)
	case *hclsyntax.ScopeTraversalExpr:
		return r.value(x.Traversal, s, followed)
	}
	return unknown
}

// textsOf returns the texts in a value. null counts as unknown.
func textsOf(v cty.Value) (out []text) {
	if v == cty.NilVal || !v.IsWhollyKnown() || v.IsNull() || v.IsMarked() {
		return []text{{}}
	}
	if c, err := convert.Convert(v, cty.String); err == nil {
		return []text{{begins: c.AsString(), whole: true}}
	}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if out = append(out, textsOf(e)...); len(out) > maxTexts {
			return append(out[:maxTexts], text{})
		}
	}
	return out
}

// any returns the values of all the expressions.
func (r *staticReader) any(all []hclsyntax.Expression, s scope, followed int) (out []text) {
	for _, x := range all {
		for _, t := range r.texts(x, s, followed) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
		if len(out) > maxTexts {
			return append(out[:maxTexts], text{})
		}
	}
	return out
}

// result returns the values of a function call.
func (r *staticReader) result(x *hclsyntax.FunctionCallExpr, s scope, followed int) []text {
	name := strings.TrimPrefix(x.Name, "core::")
	switch {
	case slices.Contains(passing, name):
		return r.any(x.Args, s, followed)
	case x.ExpandFinal || len(x.Args) == 0:
	case name == "dirname":
		return withParents(r.texts(x.Args[0], s, followed))
	case name == "join" && len(x.Args) == 2:
		list, is := x.Args[1].(*hclsyntax.TupleConsExpr)
		if sep := r.texts(x.Args[0], s, followed); is && len(sep) == 1 && sep[0].whole {
			return r.joined(list.Exprs, sep[0].begins, s, followed)
		}
	case name == "format":
		f := r.texts(x.Args[0], s, followed)
		if len(f) != 1 || !f[0].whole {
			break
		}
		if parts, ok := formatted(f[0].begins, x.Args[1:]); ok {
			return r.joined(parts, "", s, followed)
		}
	}
	return []text{{}}
}

// withParents returns the paths, and for each completely known path also its parent. The reason is the call
// dirname(path.module): in the root module, path.module is ".", and dirname(".") is "." again.
func withParents(paths []text) []text {
	for _, t := range slices.Clone(paths) {
		if t.whole {
			paths = append(paths, text{begins: path.Join(t.begins, ".."), whole: true, rooted: t.rooted})
		}
	}
	return paths
}

// formatted returns the parts that a call of format joins: the literal parts of the first argument, and the
// other arguments in place of %s and %v. Everything from the first other verb on is unknown. The bool is false
// if there are more verbs than arguments.
func formatted(format string, args []hclsyntax.Expression) ([]hclsyntax.Expression, bool) {
	var parts []hclsyntax.Expression
	for i, literal := range strings.Split(strings.ReplaceAll(format, "%v", "%s"), "%s") {
		switch {
		case i > len(args):
			return nil, false
		case i > 0:
			parts = append(parts, args[i-1])
		}
		known, _, more := strings.Cut(literal, "%")
		parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.StringVal(known)})
		if more {
			parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal})
			break
		}
	}
	return parts, true
}

// joined returns the concatenated values of parts, up to the first part that is not known.
func (r *staticReader) joined(parts []hclsyntax.Expression, sep string, s scope, followed int) []text {
	out := []text{{whole: true}}
	for i, p := range parts {
		var next []text
		values := r.texts(p, s, followed)
		if len(out)*len(values) > maxTexts || len(values) == 0 {
			values = []text{{}}
		}
		for _, o := range out {
			for _, t := range values {
				switch {
				case !o.whole:
					t = o
				case i == 0 || o.begins+sep == "":
				case len(o.begins)+len(sep)+len(t.begins) > 4096:
					t = text{begins: o.begins, rooted: o.rooted}
				default:
					t = text{begins: o.begins + sep + t.begins, whole: t.whole, rooted: o.rooted}
				}
				if !slices.Contains(next, t) {
					next = append(next, t)
				}
			}
		}
		out = next
	}
	return out
}

// value returns the values of a reference.
func (r *staticReader) value(t hcl.Traversal, s scope, followed int) []text {
	if len(t) < 2 {
		return []text{{}}
	}
	attr, _ := t[1].(hcl.TraverseAttr)
	switch t.RootName() + "." + attr.Name {
	case "path.module":
		return []text{{begins: path.Join(r.root, s.m.Dir), whole: true, rooted: true}}
	case "path.root", "path.cwd":
		return []text{{begins: r.root, whole: true, rooted: true}}
	}
	x, in, lacks := r.named(t, s)
	if x == nil {
		v := s.m.Variables[attr.Name]
		if t.RootName() != "var" || v == nil {
			return []text{{}}
		}
		out := textsOf(v.Default)
		if s.m.Parent == nil || len(t) > 2 {
			out = append(out, text{}) // it can be set from outside
		}
		return out
	}
	at := located{x, in}
	out, is := r.known[at]
	if !is {
		r.known[at] = []text{{}} // in case a name refers to itself
		out = r.texts(x, in, followed)
		r.known[at] = out
	}
	if lacks {
		out = append(slices.Clone(out), text{})
	}
	return out
}

// named returns the expression to which a reference leads, with the scope of that expression. The reference
// must be to a local, an argument of a local module, or an element of for_each. For other references, named
// returns nil. lacks is set if the expression is completely known and does not have the attribute.
func (r *staticReader) named(t hcl.Traversal, s scope) (x hclsyntax.Expression, in scope, lacks bool) {
	if len(t) < 2 {
		return nil, s, false
	}
	attr, _ := t[1].(hcl.TraverseAttr)
	switch t.RootName() {
	case "local":
		x, in = r.in(s.m.Dir).locals[attr.Name], scope{m: s.m}
	case "var":
		if s.m.Parent != nil {
			args := r.in(s.m.Parent.Dir).inputs[s.m.Call.Name]
			x, in = args[attr.Name], scope{s.m.Parent, args["for_each"]}
		}
	case "each":
		if attr.Name == "key" {
			return r.keys(s.each, s), scope{m: s.m}, false
		}
		return s.each, scope{m: s.m}, false
	}
	for _, step := range t[2:] {
		o, is := x.(*hclsyntax.ObjectConsExpr)
		if !is {
			break
		}
		found := slices.IndexFunc(o.Items, func(item hclsyntax.ObjectConsItem) bool {
			v, ds := item.KeyExpr.Value(nil)
			key := nameOf(step)
			return !ds.HasErrors() && key != "" && textsOf(v)[0] == text{begins: key, whole: true}
		})
		if found < 0 {
			return x, in, true
		}
		x = o.Items[found].ValueExpr
	}
	return x, in, false
}

// nameOf returns the attribute that a step of a reference selects; "" if it selects none.
func nameOf(step hcl.Traverser) string {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String {
			return step.Key.AsString()
		}
	}
	return ""
}

// keys returns an expression for the keys of a for_each.
func (r *staticReader) keys(x hclsyntax.Expression, s scope) hclsyntax.Expression {
	for range maxFollow {
		switch y := x.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			if x, s, _ = r.named(y.Traversal, s); x != nil {
				continue
			}
			return nil
		case *hclsyntax.ObjectConsExpr:
			out := &hclsyntax.TupleConsExpr{}
			for _, item := range y.Items {
				key := &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal}
				if v, ds := item.KeyExpr.Value(nil); !ds.HasErrors() {
					key.Val = v
				}
				out.Exprs = append(out.Exprs, key)
			}
			return out
		}
		break
	}
	if call, is := x.(*hclsyntax.FunctionCallExpr); is && call.Name == "toset" {
		return x
	}
	return nil
}

// relative returns a path of the repository relative to a directory there.
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
