package testruns

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// sensitive returns the value of an output for other expressions: marked as sensitive if marked is true.
func sensitive(v cty.Value, marked bool) cty.Value {
	if marked {
		return v.Mark(marks.Sensitive)
	}
	return v
}

// A level is a place that sets variables: a provider block, a run, or the file. An expression at one level sees
// the values of the next level. So name = "${var.name}-x" in a run refers to the file's value of name. The
// variables of the file may also refer to each other.
type level byte

const (
	ofProvider level = iota // sets no variables
	ofRun
	ofFile
	outside // options, variables files, the environment, and defaults
)

// open prepares the environment that the run plans with: configuration, providers, and values of variables.
func (r *run) open() (ds diags.Diagnostics) {
	if r.variant, ds = r.prepare(); ds.HasErrors() {
		return ds
	}
	r.begun = r.in.Base
	r.begun.Config, r.begun.Analysis = r.variant.config, nil
	r.begun.Providers = r.providersOf(r.variant)
	if r.in.Budget != nil {
		r.begun.Budget = r.in.Budget()
	}
	root := r.begun.Config.Root.Content
	sources, more := r.given(root)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	collected, more := inputs.Collect(root, sources)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	r.begun.Variables, r.begun.Given, r.begun.InvalidVariables = map[string]cty.Value{}, map[string]cty.Value{}, map[string]diags.Diagnostics{}
	for name, x := range collected {
		r.begun.Variables[name] = x.Value
		if x.Origin != 0 || !root.Variables[name].Ephemeral {
			r.begun.Given[name] = x.Given
		}
		if x.Problem != nil {
			r.begun.InvalidVariables[name] = x.Problem
		}
	}
	for name := range r.Run.Variables {
		if root.Variables[name] == nil {
			ds = append(ds, diags.Warningf(r.Run.Variables[name].Range().Ptr(), "Value for undeclared variable",
				"The run gives a value to the variable %q, and the module that it runs does not declare it. Check the name, or add a variable block to the module.", name)...)
		}
	}
	return ds
}

// given returns the values for the variables of a module: values from outside first, then values from the
// test file.
func (r *run) given(root *config.Content) (out []inputs.Source, ds diags.Diagnostics) {
	for _, s := range r.sources {
		out = append(out, only(s, root))
	}
	defaults := inputs.Source{Origin: inputs.FromNamedFile, FileName: r.File.Name, Expressions: map[string]hcl.Expression{}, By: "by the test file"}
	for name, v := range r.File.Declared {
		if root.Variables[name] != nil && v.Default != cty.NilVal {
			defaults.Expressions[name] = hcl.StaticExpr(v.Default, v.Range)
		}
	}
	out = append([]inputs.Source{defaults}, out...)
	own := inputs.Source{Origin: inputs.FromNamedFile, FileName: r.File.Name, Expressions: map[string]hcl.Expression{}, By: "by the test file"}
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		x, at := r.expression(name, ofRun)
		if x == nil {
			continue
		}
		v, more := r.evaluate(x, at, name)
		if ds = append(ds, more...); !more.HasErrors() {
			own.Expressions[name] = hcl.StaticExpr(marks.Plain(v), x.Range())
		}
	}
	return append(out, own), ds
}

// only returns a source without the variables that the module does not declare: these may be for another
// module.
func only(s inputs.Source, root *config.Content) inputs.Source {
	s.Literals, s.Expressions = maps.Clone(s.Literals), maps.Clone(s.Expressions)
	maps.DeleteFunc(s.Literals, func(name, _ string) bool { return root.Variables[name] == nil })
	maps.DeleteFunc(s.Expressions, func(name string, _ hcl.Expression) bool { return root.Variables[name] == nil })
	return s
}

// expression returns the expression that sets a variable, and the level of the expression. It searches the
// level from and the levels after it. It returns nil if the value comes from outside the test file.
func (r *run) expression(name string, from level) (hcl.Expression, level) {
	if x := r.Run.Variables[name]; x != nil && from <= ofRun {
		return x, ofRun
	}
	if x := r.File.Variables[name]; x != nil && from <= ofFile {
		return x, ofFile
	}
	return nil, outside
}

// evaluate evaluates an expression of the test file. The parameter at is the level of the expression. For an
// expression of the file, names are the variables that are being evaluated, the expression's own last.
func (r *run) evaluate(x hcl.Expression, at level, names ...string) (cty.Value, diags.Diagnostics) {
	ctx, ds := r.context(x.Variables(), at, names...)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	v, hs := x.Value(ctx)
	return v, append(ds, diags.FromHCL(hs)...)
}

// bodyContext returns the evaluation context for a provider block of the test file.
func (r *run) bodyContext(p *testfiles.Provider) (*hcl.EvalContext, diags.Diagnostics) {
	ts := slices.DeleteFunc(bodyVariables(p.Body), func(t hcl.Traversal) bool { return t.RootName() != "var" && t.RootName() != "run" })
	return r.context(ts, ofProvider)
}

// bodyVariables returns the references in a body. For native syntax these are all references, including those
// in nested blocks. For JSON they are only the references in the arguments.
func bodyVariables(body hcl.Body) (out []hcl.Traversal) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attrs, _ := body.JustAttributes()
		for _, a := range attrs {
			out = append(out, a.Expr.Variables()...)
		}
		return out
	}
	for _, a := range native.Attributes {
		out = append(out, a.Expr.Variables()...)
	}
	for _, b := range native.Blocks {
		out = append(out, bodyVariables(b.Body)...)
	}
	return out
}

// context returns the evaluation context for an expression of the test file. ts are the references in the
// expression, and at is its level. names are as in [run.evaluate].
func (r *run) context(ts []hcl.Traversal, at level, names ...string) (*hcl.EvalContext, diags.Diagnostics) {
	var ds diags.Diagnostics
	vars, runs := map[string]cty.Value{}, map[string]cty.Value{}
	for _, t := range ts {
		name, place := second(t), t.SourceRange()
		switch t.RootName() {
		case "var":
			if _, ok := vars[name]; ok {
				continue
			}
			v, more := r.referenced(name, at, &place, names)
			ds = append(ds, more...)
			vars[name] = v
		case "run":
			v, more := r.earlier(t)
			ds = append(ds, more...)
			runs[name] = v
		default:
			ds = append(ds, diags.Errorf(&place, "Invalid reference", "Variables and providers of a test file can refer to variables (var.NAME), to outputs of earlier runs (run.NAME.OUTPUT), and to functions only.")...)
		}
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: r.functions}
	if len(vars) > 0 {
		ctx.Variables["var"] = cty.ObjectVal(vars)
	}
	if len(runs) > 0 {
		ctx.Variables["run"] = cty.ObjectVal(runs)
	}
	return ctx, ds
}

// second returns the second name of a reference, such as "x" of var.x; "" if there is none.
func second(t hcl.Traversal) string {
	if len(t) > 1 {
		if a, ok := t[1].(hcl.TraverseAttr); ok {
			return a.Name
		}
		if a, ok := t[1].(hcl.TraverseIndex); ok && a.Key.Type() == cty.String {
			return a.Key.AsString()
		}
	}
	return ""
}

// referenced returns the value of a variable for an expression at a level. In the file, a variable may refer to other
// variables of the file. A reference to itself means the value from outside.
func (r *run) referenced(name string, at level, place *hcl.Range, names []string) (cty.Value, diags.Diagnostics) {
	switch {
	case at != ofFile || len(names) == 0:
		return r.variable(name, at+1, place)
	case name == names[len(names)-1]:
		return r.variable(name, outside, place)
	case slices.Contains(names, name):
		return cty.DynamicVal, diags.Errorf(place, "Self-referential variable", "The variables of the test file refer to each other in a circle: %s. Remove one of these references.", strings.Join(append(names, name), ", "))
	}
	return r.variable(name, ofFile, place, names...)
}

// variable returns the value of a variable for an expression in the test file. The expression sees the level
// given by from and later levels. names are as in [run.evaluate].
func (r *run) variable(name string, from level, place *hcl.Range, names ...string) (cty.Value, diags.Diagnostics) {
	if x, at := r.expression(name, from); x != nil {
		return r.evaluate(x, at, append(slices.Clone(names), name)...)
	}
	declared := r.config().Root.Variables[name]
	own := r.File.Declared[name]
	var ds diags.Diagnostics
	v := own
	if v == nil {
		v = declared
	}
	if v == nil {
		v = &config.Variable{Name: name, Type: cty.DynamicPseudoType, Nullable: true, ParseLiteral: true, Range: *place}
	}
	root := config.NewContent(".")
	root.Variables[name] = v
	sources := make([]inputs.Source, len(r.sources))
	set := false
	for i, s := range r.sources {
		sources[i] = only(s, root)
		set = set || len(sources[i].Literals)+len(sources[i].Expressions) > 0
	}
	if !set && v.Default == cty.NilVal {
		return cty.DynamicVal, diags.Errorf(place, "Reference to unavailable variable",
			"The variable %q has no value here. Give it one in a variables block of the test file, with the option -var, or with a default.", name)
	}
	if own == nil {
		ds = diags.Warningf(place, "Variable referenced without definition",
			"The test file refers to the variable %q, whose value comes from outside of the file. Add a block variable %q {} to the file, so that readers know where it comes from.", name, name)
	}
	all, more := inputs.Values(root, sources)
	return all[name], append(ds, more...)
}

// earlier returns the outputs of another run, for a reference such as run.NAME.OUTPUT. The run must have
// finished.
func (r *run) earlier(t hcl.Traversal) (cty.Value, diags.Diagnostics) {
	name, place := second(t), t.SourceRange()
	r.file.mu.Lock()
	outputs, done := r.file.outputs[name]
	r.file.mu.Unlock()
	switch {
	case name == "":
		return cty.DynamicVal, diags.Errorf(&place, "Invalid reference", "The word run must be followed by a dot and the name of a run.")
	case !done && !slices.ContainsFunc(r.File.Runs, func(x *testfiles.Run) bool { return x.Name == name }):
		return cty.DynamicVal, diags.Errorf(&place, "Reference to unknown run block", "The test file has no run %q.", name)
	case !done:
		return cty.DynamicVal, diags.Errorf(&place, "Reference to unavailable run block", "The run %q has no outputs yet. A run can refer to runs that stand above it and have succeeded.", name)
	}
	if len(t) < 3 {
		return outputs, nil
	}
	output := second(t[1:])
	if output == "" || !outputs.Type().HasAttribute(output) {
		return cty.DynamicVal, diags.Errorf(&place, "Reference to unknown output", "The module of the run %q has no output %q.", name, output)
	}
	if bare, _ := outputs.GetAttr(output).Unmark(); !bare.IsWhollyKnown() {
		return cty.DynamicVal, diags.Errorf(&place, "Reference to unknown value",
			"The output %q of the run %q is known only after apply, and the run only plans. Remove command = plan from that run.", output, name)
	}
	return outputs, nil
}

// scope returns the extra names for assertions: output, run and var. Assertions also see the names of the
// module.
func (r *run) scope(outputs map[string]cty.Value, xs ...hcl.Expression) (map[string]cty.Value, diags.Diagnostics) {
	var ds diags.Diagnostics
	extra := map[string]cty.Value{}
	vars, runs, outs := map[string]cty.Value{}, map[string]cty.Value{}, map[string]cty.Value{}
	for _, x := range xs {
		if x == nil {
			continue
		}
		for _, t := range x.Variables() {
			name, place := second(t), t.SourceRange()
			var more diags.Diagnostics
			switch t.RootName() {
			case "output":
				if r.begun.Config.Root.Outputs[name] == nil {
					more = diags.Errorf(&place, "Reference to undeclared output value", "An output value with the name %q has not been declared.%s", name, diags.Suggest(name, maps.Keys(r.begun.Config.Root.Outputs)))
				} else if outs[name] = outputs[name]; outputs[name] == cty.NilVal {
					outs[name] = cty.NullVal(cty.DynamicPseudoType)
				}
			case "run":
				runs[name], more = r.earlier(t)
			case "var":
				vars[name], more = r.seen(name, &place)
			}
			ds = append(ds, more...)
		}
	}
	for word, all := range map[string]map[string]cty.Value{"output": outs, "run": runs, "var": vars} {
		extra[word] = cty.ObjectVal(all)
	}
	return extra, ds
}

// seen returns the value of a variable in an assertion: the module's value, or the test file's value if the
// module does not declare the variable.
func (r *run) seen(name string, place *hcl.Range) (cty.Value, diags.Diagnostics) {
	v := r.begun.Config.Root.Variables[name]
	if v == nil {
		return r.variable(name, ofRun, place)
	}
	val := sensitive(r.begun.Variables[name], v.Sensitive)
	if v.Ephemeral {
		val = val.Mark(marks.Ephemeral)
	}
	return val, nil
}

// referred returns the names of the runs that the run's variables and assertions refer to.
func (r *run) referred() map[string]bool {
	out := map[string]bool{}
	add := func(ts []hcl.Traversal) {
		for _, t := range ts {
			if t.RootName() == "run" {
				out[second(t)] = true
			}
		}
	}
	for _, all := range []map[string]hcl.Expression{r.Run.Variables, r.File.Variables} {
		for _, x := range all {
			add(x.Variables())
		}
	}
	for _, c := range r.Asserts {
		add(c.Condition.Variables())
		if c.ErrorMessage != nil {
			add(c.ErrorMessage.Variables())
		}
	}
	for _, p := range r.File.Sorted() {
		if p.Mock == nil {
			add(bodyVariables(p.Body))
		}
	}
	return out
}
