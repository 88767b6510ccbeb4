package causes

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// maxVisits limits the expressions that one [Find] looks at. maxPlaces limits the places that are found for one
// attribute.
const (
	maxVisits = 2_000_000
	maxPlaces = 50
)

// A search is one call of [Find].
type search struct {
	Input
	changes map[addrs.AbsResource][]*plans.ResourceChange
	bound   map[boundKey]*schema.Bound
	indexes indexes
	values  map[visit]cty.Value // values of conditions, and of the objects to which they refer
	left    int                 // the number of visits that are left

	// The rest is about one attribute.
	seen  map[visit]bool
	found []way
	todo  []func()
}

type boundKey struct {
	r *config.Resource
	s *schema.Schema
}

// A visit identifies what was already looked at: an expression of a module instance, at a path.
type visit struct {
	in   addrs.ModuleInstance
	at   any // the expression, or the change
	key  addrs.InstanceKey
	path string
}

// A way leads from an attribute to a place that causes its change.
type way struct {
	steps []Step
	place hcl.Range
}

// A trail is the way from the attribute to an object. The zero trail is the attribute itself.
type trail struct {
	from *trail
	step Step
}

func newSearch(in Input) *search {
	s := &search{Input: in, changes: map[addrs.AbsResource][]*plans.ResourceChange{}, bound: map[boundKey]*schema.Bound{}, indexes: indexes{}, values: map[visit]cty.Value{}, left: maxVisits}
	for _, c := range in.Plan.Changes {
		if c.Addr.Deposed == "" {
			abs := c.Addr.Instance.AbsResource()
			s.changes[abs] = append(s.changes[abs], c)
		}
	}
	return s
}

// from searches from one attribute, and returns the ways to all places found. The shortest come first.
func (s *search) from(start func()) []way {
	s.seen, s.found, s.todo = map[visit]bool{}, nil, []func(){start}
	for len(s.todo) > 0 && s.left > 0 && len(s.found) < maxPlaces {
		next := s.todo[0]
		s.todo = s.todo[1:]
		next()
	}
	return s.found
}

// place adds a place to the result, at most maxPlaces of them.
func (s *search) place(t *trail, r hcl.Range) {
	if len(s.found) >= maxPlaces || slices.ContainsFunc(s.found, func(w way) bool { return w.place == r }) {
		return
	}
	var steps []Step
	for ; t != nil; t = t.from {
		steps = append(steps, t.step)
	}
	slices.Reverse(steps)
	s.found = append(s.found, way{steps, r})
}

// here looks for edited lines in a range. If the input has no edits, the range is a place if leaf is set. leaf
// means that the search follows nothing else from the range.
func (s *search) here(t *trail, r hcl.Range, leaf bool) {
	if s.Edits == nil {
		if leaf && r.Filename != "" {
			s.place(t, r)
		}
		return
	}
	for _, x := range s.Edits.within(r) {
		s.place(t, x)
	}
}

// first reports whether something is looked at for the first time.
func (s *search) first(v visit) bool {
	s.left--
	if s.left <= 0 || s.seen[v] {
		return false
	}
	s.seen[v] = true
	return true
}

// A scope is where an expression is evaluated: in an instance of a module, and for one instance of a repeated
// block.
type scope struct {
	in addrs.ModuleInstance
	// by repeats the block; nil if nothing does. key is the instance.
	by  *config.Repetition
	key addrs.InstanceKey
}

// eachKey returns the value of each.key.
func (x scope) eachKey() cty.Value {
	if x.by == nil || x.by.ForEach == nil {
		return cty.NilVal
	}
	return x.key.Value()
}

// expression searches the value that is at a path in the value of an expression.
func (s *search) expression(t *trail, at scope, e hcl.Expression, path cty.Path) {
	if !s.first(visit{at.in, e, at.key, schema.FormatPath(path)}) {
		return
	}
	parts := s.indexes.partsOf(e, path, at.eachKey(), func(e hcl.Expression) cty.Value { return s.value(at, e, 0) })
	for _, p := range parts {
		if p.lacks != "" {
			s.lacking(t, p, len(parts) == 1)
			continue
		}
		all := p.expr.Variables()
		s.here(t, p.expr.Range(), len(all) == 0)
		s.filesRead(t, at.in, p.expr)
		_, traversal := p.expr.(*hclsyntax.ScopeTraversalExpr)
		for _, v := range all {
			rest := p.rest
			if !traversal {
				rest = nil
			}
			s.todo = append(s.todo, func() { s.reference(t, at, v, rest) })
		}
	}
}

// filesRead looks for edits of the files that functions in an expression read.
func (s *search) filesRead(t *trail, in addrs.ModuleInstance, e hcl.Expression) {
	node, native := hcl.UnwrapExpression(e).(hclsyntax.Expression)
	m := s.Config.Modules[in.Module()]
	if !native || m == nil || len(s.Edits) == 0 {
		return
	}
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		x, ok := n.(hcl.Expression)
		if !ok {
			return nil
		}
		call, ok := hcl.UnwrapExpression(x).(*hclsyntax.FunctionCallExpr)
		if !ok || len(call.Args) == 0 || !strings.HasPrefix(call.Name, "file") && call.Name != "templatefile" {
			return nil
		}
		name := path.Clean(fileName(call.Args[0], m.Dir))
		for _, r := range s.Edits.within(wholeFile(name)) {
			s.place(&trail{t, Step{Name: call.Name, Module: in, Range: call.Range()}}, r)
		}
		return nil
	})
}

// fileName returns the value of a text that refers to nothing but path.module and path.root; "" for all other
// expressions. dir is the module's directory.
func fileName(e hcl.Expression, dir string) string {
	template, ok := hcl.UnwrapExpression(e).(*hclsyntax.TemplateExpr)
	if !ok {
		return ""
	}
	name := ""
	for _, p := range template.Parts {
		switch x := hcl.UnwrapExpression(p).(type) {
		case *hclsyntax.LiteralValueExpr:
			if x.Val.Type() != cty.String {
				return ""
			}
			name += x.Val.AsString()
		case *hclsyntax.ScopeTraversalExpr:
			switch a, _ := x.Traversal[len(x.Traversal)-1].(hcl.TraverseAttr); {
			case x.Traversal.RootName() != "path":
				return ""
			case a.Name == "module":
				name += dir
			case a.Name == "root":
				name += "."
			default:
				return ""
			}
		default:
			return ""
		}
	}
	return name
}

// maxDepth limits how far the value of a condition is followed.
const maxDepth = 10

// value returns the value of an expression that refers to nothing but variables and local values, whose own
// expressions must be as simple. It returns cty.NilVal for all other expressions. Each expression of a module
// instance is evaluated once.
func (s *search) value(at scope, e hcl.Expression, depth int) cty.Value {
	if depth > maxDepth {
		return cty.NilVal
	}
	key := visit{in: at.in, at: e}
	v, known := s.values[key]
	if !known {
		v = s.evaluate(at, e, depth)
		s.values[key] = v
	}
	return v
}

func (s *search) evaluate(at scope, e hcl.Expression, depth int) cty.Value {
	m := s.Config.Modules[at.in.Module()]
	if s.left--; m == nil || s.left <= 0 || !plain(e) {
		return cty.NilVal
	}
	names := map[string]map[string]cty.Value{"var": {}, "local": {}}
	for _, t := range e.Variables() {
		ref, ok, ds := refs.Resolve(m, t)
		if !ok || ds.HasErrors() || names[t.RootName()] == nil {
			return cty.NilVal
		}
		var v cty.Value
		name := ref.Object.Name
		switch {
		case t.RootName() == "local":
			v = s.value(scope{in: at.in}, m.Locals[name].Expr, depth+1)
		case m.Parent == nil:
			v, _ = s.Plan.Variables[name].UnmarkDeep() // cty.NilVal for an ephemeral variable
		case m.Call.Args[name] != nil:
			parent, _, _ := at.in.Call()
			v = s.value(scope{in: parent}, m.Call.Args[name].Expr, depth+1)
		default:
			v = m.Variables[name].Default
		}
		if v == cty.NilVal {
			return v
		}
		names[t.RootName()][name] = v
	}
	v, ds := e.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(names["var"]), "local": cty.ObjectVal(names["local"])}})
	if ds.HasErrors() {
		return cty.NilVal
	}
	return v
}

// lacking handles an object without the searched key: the key may be on a removed line. leaf is set if no other
// object can have the key.
func (s *search) lacking(t *trail, p part, leaf bool) {
	if s.Edits == nil {
		s.here(t, p.expr.Range(), leaf)
		return
	}
	word := regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(p.lacks) + `([^\w-]|$)`)
	for _, r := range s.Edits.removed(p.expr.Range(), func(line string) bool {
		return strings.Contains(line, p.lacks) && word.MatchString(line) // most lines fail the cheap comparison
	}) {
		s.place(t, r)
	}
}

// reference follows a reference. path leads from the value of the whole reference to the searched one.
func (s *search) reference(t *trail, at scope, v hcl.Traversal, path cty.Path) {
	m := s.Config.Modules[at.in.Module()]
	if m == nil {
		return
	}
	if v.RootName() == "each" {
		if len(v) < 2 || at.by == nil || at.by.ForEach == nil {
			return
		}
		if a, ok := v[1].(hcl.TraverseAttr); !ok || a.Name != "value" {
			return
		}
		steps, err := refs.Path(v[2:])
		if err != nil {
			steps, path = nil, nil
		}
		full := append(append(cty.Path{cty.IndexStep{Key: at.key.Value()}}, steps...), path...)
		s.expression(t, scope{in: at.in}, at.by.ForEach, full)
		return
	}
	ref, ok, ds := refs.Resolve(m, v)
	if !ok || ds.HasErrors() {
		return
	}
	steps, err := refs.Path(ref.Rest)
	if err != nil {
		steps, path = nil, nil
	}
	s.object(t, at, ref, append(slices.Clip(steps), path...))
}

// object searches the value at a path of a referenced object.
func (s *search) object(t *trail, at scope, ref refs.Reference, path cty.Path) {
	m := s.Config.Modules[at.in.Module()]
	o := ref.Object
	next := func(name string) *trail {
		return &trail{t, Step{Name: name, Module: at.in, Range: ref.Range()}}
	}
	switch o.Kind {
	case addrs.KindVariable:
		s.variable(next("var."+o.Name), at.in, m, o.Name, path)
	case addrs.KindLocal:
		if l := m.Locals[o.Name]; l != nil {
			s.expression(next("local."+o.Name), scope{in: at.in}, l.Expr, path)
		}
	case addrs.KindCall:
		if child := m.Children[o.Name]; child != nil {
			key, path := instanceKey(path, &child.Call.Repetition)
			s.outputs(next, at.in, child, key, path)
		}
	case addrs.KindResource:
		r := m.Resources[o.Res]
		if r == nil {
			return
		}
		key, path := instanceKey(path, &r.Repetition)
		s.resource(next(o.Res.String()), at.in, r, key, path)
	}
}

// instanceKey takes the instance key of a repeated block from the beginning of a path. The key is nil if the
// path does not say which instance: all count.
func instanceKey(path cty.Path, by *config.Repetition) (*addrs.InstanceKey, cty.Path) {
	if by.Count == nil && by.ForEach == nil {
		return &addrs.InstanceKey{}, path
	}
	if len(path) == 0 {
		return nil, nil
	}
	v := stepKey(path[0])
	if v == cty.NilVal {
		return nil, nil
	}
	key, ok := addrs.KeyFromValue(v)
	if !ok {
		return nil, nil
	}
	return &key, path[1:]
}

// variable searches the value of a variable: in the call of the module, in a file with values, or its default.
func (s *search) variable(t *trail, in addrs.ModuleInstance, m *config.Module, name string, path cty.Path) {
	v := m.Variables[name]
	if v == nil {
		return
	}
	if m.Parent != nil {
		parent, _, key := in.Call()
		if a := m.Call.Args[name]; a != nil {
			s.expression(t, scope{parent, &m.Call.Repetition, key}, a.Expr, path)
			return
		}
		s.removedArgument(t, parent, m.Call, name)
	} else if e := s.Values[name]; e != nil {
		s.expression(t, scope{}, e, path)
		return
	} else {
		s.removedValue(t, name)
	}
	if v.DefaultExpr != nil {
		s.expression(t, scope{in: in}, v.DefaultExpr, path)
	} else if s.Edits == nil {
		s.here(t, v.Range, true)
	}
}

// removedValue looks for a new or removed line of a settings file, or a removed line of a variables file, that
// gives a value to a variable of the root module.
func (s *search) removedValue(t *trail, name string) {
	assigns := assignment(name)
	for _, file := range slices.Sorted(maps.Keys(s.Edits)) {
		if !strings.HasSuffix(file, ".tfvars") && !strings.HasSuffix(file, ".tfvars.json") && !slices.Contains(s.Settings, file) {
			continue
		}
		added := s.Edits.added(file, assigns)
		for _, r := range added {
			s.place(t, r)
		}
		for _, r := range s.Edits.removed(wholeFile(file), assigns) {
			if len(added) == 0 {
				s.place(t, r)
			}
		}
	}
}

// removedArgument looks for a removed line with an argument of a module block.
func (s *search) removedArgument(t *trail, in addrs.ModuleInstance, c *config.Call, name string) {
	s.removedFrom(&trail{t, Step{Name: "module." + c.Name, Module: in}}, bodyRange(c.Body, c.Range), name)
}

// removedFrom looks for a removed line with an argument or a block called name, in the range of a body.
func (s *search) removedFrom(t *trail, body hcl.Range, name string) {
	for _, r := range s.Edits.removed(body, func(line string) bool { return assignment(name)(line) || blockLine(name)(line) }) {
		s.place(t, r)
	}
}

// outputs searches the value at a path of a called module: of all instances if key is nil.
func (s *search) outputs(next func(string) *trail, parent addrs.ModuleInstance, child *config.Module, key *addrs.InstanceKey, path cty.Path) {
	name := ""
	if len(path) > 0 {
		if a, ok := path[0].(cty.GetAttrStep); ok {
			name = a.Name
		}
		path = path[1:]
	}
	for _, k := range s.keysOf(parent, child.Call.Name, key) {
		for _, n := range slices.Sorted(maps.Keys(child.Outputs)) {
			if name == "" || name == n {
				s.expression(next("module."+child.Call.Name+k.String()+"."+n), scope{in: parent.Child(child.Call.Name, k)}, child.Outputs[n].Expr, path)
			}
		}
	}
	s.here(next("module."+child.Call.Name), child.Call.SourceRange, false)
}

// keysOf returns the instances of a module call that a reference means.
func (s *search) keysOf(parent addrs.ModuleInstance, call string, key *addrs.InstanceKey) []addrs.InstanceKey {
	if key != nil {
		return []addrs.InstanceKey{*key}
	}
	return s.Plan.Instances.Calls[plans.CallInstance{Module: parent, Call: call}]
}

// resource searches the value at a path of a resource: of all instances if key is nil. It follows only
// instances that the plan changes.
func (s *search) resource(t *trail, in addrs.ModuleInstance, r *config.Resource, key *addrs.InstanceKey, path cty.Path) {
	if r.Addr.Mode != addrs.Managed {
		s.data(t, in, r, key)
		return
	}
	for _, c := range s.changes[addrs.AbsResource{Module: in, Resource: r.Addr}] {
		if key != nil && c.Addr.Instance.Resource.Key != *key || c.Action == plans.NoOp || len(path) > 0 && !differs(c, path) || !s.first(visit{in, c, c.Addr.Instance.Resource.Key, schema.FormatPath(path)}) {
			continue
		}
		s.existence(t, c)
		if c.Action == plans.Create || c.Action == plans.Delete || c.Action == plans.Forget {
			continue
		}
		b := s.bind(r, c.Schema)
		if len(path) > 0 && b != nil && len(b.Find(path).Sources) > 0 {
			s.attribute(t, c, path)
			continue
		}
		for _, p := range changed(c) {
			if len(c.RequiredReplace) == 0 || !c.Action.IsReplace() || s.forces(c, p) {
				s.attribute(t, c, p)
			}
		}
	}
}

// data searches all arguments of a data source.
func (s *search) data(t *trail, in addrs.ModuleInstance, r *config.Resource, key *addrs.InstanceKey) {
	at := scope{in: in, by: &r.Repetition}
	if key != nil {
		at.key = *key
	}
	if !s.first(visit{in, r, at.key, ""}) {
		return
	}
	body := bodyRange(r.Body, r.Range)
	all := variablesOf(r.Body)
	s.here(t, body, len(all) == 0)
	for _, v := range all {
		s.reference(t, at, v, nil)
	}
	for _, e := range r.Repetition.Expressions() {
		s.expression(t, scope{in: in}, e, nil)
	}
}

// variablesOf returns the references in a body of which no schema is known.
func variablesOf(body hcl.Body) []hcl.Traversal {
	var out []hcl.Traversal
	if b, ok := body.(*hclsyntax.Body); ok {
		for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
			out = append(out, b.Attributes[name].Expr.Variables()...)
		}
		for _, inner := range b.Blocks {
			out = append(out, variablesOf(inner.Body)...)
		}
		return out
	}
	attrs, _ := body.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		out = append(out, attrs[name].Expr.Variables()...)
	}
	return out
}

// bind returns the body of a resource, matched with its schema; nil if there is no schema.
func (s *search) bind(r *config.Resource, of *schema.Schema) *schema.Bound {
	if of == nil || of.Block == nil {
		return nil
	}
	key := boundKey{r, of}
	if s.bound[key] == nil {
		s.bound[key] = of.Block.Bind(r.Body)
	}
	return s.bound[key]
}

// attribute searches the value of an attribute of a changed object.
func (s *search) attribute(t *trail, c *plans.ResourceChange, path cty.Path) {
	i := c.Addr.Instance
	m := s.Config.Modules[i.Module.Module()]
	if m == nil || m.Resources[i.Resource.Resource] == nil {
		return
	}
	r := m.Resources[i.Resource.Resource]
	b := s.bind(r, c.Schema)
	if b == nil {
		return
	}
	at := scope{i.Module, &r.Repetition, i.Resource.Key}
	f := b.Find(path)
	for _, x := range f.Sources {
		if len(x.Iterators) == 0 {
			s.expression(t, at, x.Expr, x.Rest)
			continue
		}
		s.expression(t, at, &unbound{x.Expr, x.Iterators}, nil)
	}
	if len(f.Sources) == 0 || f.Blocks {
		s.removedFrom(t, f.Place, f.Name)
	}
}

func wholeFile(name string) hcl.Range { return lines(name, 0, 1<<30) }

func bodyRange(b hcl.Body, otherwise hcl.Range) hcl.Range {
	if x, ok := b.(*hclsyntax.Body); ok {
		return x.SrcRange
	}
	return otherwise
}

// assignment returns a function that reports whether a line assigns a value to name, in HCL or JSON.
func assignment(name string) func(string) bool {
	return regexp.MustCompile(`^\s*"?` + regexp.QuoteMeta(name) + `"?\s*[=:]`).MatchString
}

// blockLine returns a function that reports whether a line begins a block of a type, with these labels.
func blockLine(kind string, labels ...string) func(string) bool {
	text := `^\s*` + regexp.QuoteMeta(kind)
	for _, l := range labels {
		text += `\s+"?` + regexp.QuoteMeta(l) + `"?`
	}
	return regexp.MustCompile(text + `\s*\{`).MatchString
}

func sorted(keys map[string]bool) []string { return slices.Sorted(maps.Keys(keys)) }
