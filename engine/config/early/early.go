// Package early evaluates the expressions whose values are needed before planning: the sources of modules,
// and the arguments of the backend. Such an expression may refer to input variables, local values, path and
// terraform.workspace. A variable of a called module has the value that its caller passes, if that is also
// known early. The rules are those of OpenTofu 1.8 (https://opentofu.org/docs/language/expressions/).
//
// The package does not know resources, data sources, outputs of modules, instance keys and providers'
// functions: engine/eval does. Start at [New].
package early

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// Input has the values that can be known early.
type Input struct {
	// Sources returns the sources of values for the root module's variables; see [inputs.Collect]. It is
	// called at the first use of a variable.
	Sources func() []inputs.Source
	// Given are the values of a saved plan, which replace Sources. A plan has no values of ephemeral
	// variables, so these still come from Sources.
	Given map[string]cty.Value
	// Init has the values that `terraform init` was given. A value in Init is used if Sources have no value for
	// the variable. If both have a value, and the two differ, that is an error.
	Init inputs.Source
	// Used, if not nil, is called for each root variable that is used and was given a value by an option, the
	// environment, or a file that an option names. The parameter given is the value before conversion. Init
	// records these values. Used is not called for a sensitive or ephemeral variable: even a result that is not
	// secret may be made of one, such as nonsensitive(var.token) == "".
	Used func(name string, given cty.Value)
	// Secrets allows sensitive and ephemeral values. Set it only for callers that neither show nor record the
	// values.
	Secrets bool
	// Validate makes the values of missing root variables unknown, and allows unknown results. It is for
	// callers that check a configuration without its values.
	Validate bool
	// Workspace is the value of terraform.workspace; "" means "default".
	Workspace string
	// WorkingDir is the value of path.cwd; "" means that it is not known.
	WorkingDir string
	// BaseDir is the directory that relative paths in file functions start from.
	BaseDir string
	// Files are the files that file functions may read; nil means none.
	Files funcs.Files
	// Budget limits the evaluation; nil means the limits of budget.Generous.
	Budget *budget.Budget
}

// New returns the function for loading.Input.Early. Use it for one load only.
func New(in Input) loading.Early {
	e := &evaluator{in: in, cells: map[cell]result{}}
	return e.known
}

type evaluator struct {
	in        Input
	root      map[string]inputs.Value // from Sources
	init      map[string]inputs.Value // from Init
	functions map[string]function.Function
	cells     map[cell]result
}

// A cell identifies a variable or local value of a module.
type cell struct {
	module     addrs.Module
	kind, name string
}

// A result is the value of a cell, or its error. If it has neither, the cell is being evaluated.
type result struct {
	v  cty.Value
	ds hcl.Diagnostics
}

// known returns the value of an expression in m. The value must be known, including all its parts. It must
// not be sensitive or ephemeral, unless that is allowed.
func (e *evaluator) known(m *config.Module, x hcl.Expression) (cty.Value, hcl.Diagnostics) {
	v, ds := e.value(m, x)
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		if marks.Contains(v, mark) && !e.in.Secrets {
			return cty.DynamicVal, append(ds, problem(x.Range(), "Value not allowed here",
				"This value is "+string(mark)+". It would appear in messages and in files that init writes. Use another value."))
		}
	}
	v, _ = v.UnmarkDeep()
	if !v.IsWhollyKnown() && !e.in.Validate {
		return cty.DynamicVal, append(ds, problem(x.Range(), notStatic, "This value is not known before there is a plan."+remedy))
	}
	return v, ds
}

const (
	notStatic = "Value is not known early enough"
	remedy    = " Where modules come from and where the state lives is needed before anything is planned: use literal values, input variables and local values made of such only."
)

func problem(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
}

// value evaluates an expression in m.
func (e *evaluator) value(m *config.Module, x hcl.Expression) (cty.Value, hcl.Diagnostics) {
	var ds hcl.Diagnostics
	objects := map[string]map[string]cty.Value{}
	for _, t := range x.Variables() {
		name, ok := attribute(t)
		if !ok {
			ds = append(ds, refused(t))
			continue
		}
		v, more := e.reference(m, t, name)
		ds = append(ds, more...)
		if objects[t.RootName()] == nil {
			objects[t.RootName()] = map[string]cty.Value{}
		}
		objects[t.RootName()][name] = v
	}
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	if e.functions == nil {
		e.functions = funcs.Table(e.in.scope())
	}
	ctx := &hcl.EvalContext{Functions: e.functions, Variables: map[string]cty.Value{}}
	for name, attrs := range objects {
		ctx.Variables[name] = cty.ObjectVal(attrs)
	}
	v, more := e.bounded(x, ctx)
	return v, append(ds, more...)
}

// A place is an expression under evaluation. It implements budget.Place.
type place struct{ hcl.Expression }

// String implements budget.Place. The expression has no name.
func (place) String() string { return "" }

// bounded evaluates an expression within the budget.
func (e *evaluator) bounded(x hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b := e.in.Budget
	b.Put(ctx.Variables)
	defer b.Enter(place{x}).Leave()
	v, ds := x.Value(ctx)
	if !ds.HasErrors() {
		if excess := b.Check(v); excess != nil {
			b.Passed(excess)
			return cty.DynamicVal, append(ds, excess.Diagnostic(x.Range()))
		}
	}
	return v, ds
}

// attribute returns the second name of a reference, such as "x" in var.x. The result is false if there is none.
func attribute(t hcl.Traversal) (string, bool) {
	if len(t) < 2 {
		return "", false
	}
	a, ok := t[1].(hcl.TraverseAttr)
	return a.Name, ok
}

func refused(t hcl.Traversal) *hcl.Diagnostic {
	return problem(t.SourceRange(), notStatic, "This refers to a value that is not known before there is a plan."+remedy)
}

// reference returns the value of the reference t in m. name is its second name.
func (e *evaluator) reference(m *config.Module, t hcl.Traversal, name string) (cty.Value, hcl.Diagnostics) {
	at := t.SourceRange()
	switch root := t.RootName(); {
	case root == "var":
		return e.once(cell{m.Addr, root, name}, at, func() (cty.Value, hcl.Diagnostics) { return e.variable(m, name, at) })
	case root == "local":
		return e.once(cell{m.Addr, root, name}, at, func() (cty.Value, hcl.Diagnostics) { return e.local(m, name, at) })
	case root == "path" && name == "module":
		return cty.StringVal(m.Dir), nil
	case root == "path" && name == "root":
		return cty.StringVal("."), nil
	case root == "path" && name == "cwd" && e.in.WorkingDir != "":
		return cty.StringVal(e.in.WorkingDir), nil
	case root == "terraform" && name == "workspace":
		if e.in.Workspace == "" {
			return cty.StringVal("default"), nil
		}
		return cty.StringVal(e.in.Workspace), nil
	}
	return cty.DynamicVal, hcl.Diagnostics{refused(t)}
}

// once returns the value of a cell. The first call computes it with the function evaluate, and keeps the
// result. If the cell needs its own value, that is an error.
func (e *evaluator) once(c cell, at hcl.Range, evaluate func() (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
	r, ok := e.cells[c]
	switch {
	case ok && r.v == cty.NilVal:
		return cty.DynamicVal, hcl.Diagnostics{problem(at, "Circular reference", "The value of "+c.kind+"."+c.name+" is made of itself, by way of others. Take one of them out.")}
	case !ok:
		e.cells[c] = result{}
		r.v, r.ds = evaluate()
		e.cells[c] = r
	}
	return r.v, r.ds
}

func (e *evaluator) local(m *config.Module, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	l := m.Locals[name]
	if l == nil {
		return cty.DynamicVal, hcl.Diagnostics{problem(at, "Reference to undeclared local value", "A local value with the name \""+name+"\" has not been declared.")}
	}
	return e.value(m, l.Expr)
}

func (e *evaluator) variable(m *config.Module, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	v := m.Variables[name]
	if v == nil {
		return cty.DynamicVal, hcl.Diagnostics{problem(at, "Reference to undeclared input variable", "An input variable with the name \""+name+"\" has not been declared. This variable can be declared with a variable \""+name+"\" {} block.")}
	}
	given, ds := cty.NilVal, hcl.Diagnostics(nil)
	switch {
	case m.Parent == nil:
		if given = e.rootValue(m, name); e.changed(v) {
			ds = append(ds, changed(at, name))
		}
	case m.Call.Args[name] != nil:
		given, ds = e.value(m.Parent, m.Call.Args[name].Expr)
	}
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	out, err := v.Prepare(given)
	switch {
	case errors.Is(err, config.ErrRequired) && e.in.Validate:
		return cty.UnknownVal(v.Type), ds
	case errors.Is(err, config.ErrRequired):
		return cty.DynamicVal, append(ds, problem(at, "Variable has no value",
			"The variable \""+name+"\" is needed before anything is planned, has no default value, and nothing sets it. Use the option -var or -var-file, the environment variable TF_VAR_"+name+" or a .tfvars file, with init, too."))
	case err != nil:
		return cty.DynamicVal, append(ds, problem(at, "Invalid value for input variable",
			"The value given to the variable \""+name+"\" does not fit its type."))
	}
	if v.Sensitive {
		out = out.Mark(marks.Sensitive)
	}
	if v.Ephemeral {
		out = out.Mark(marks.Ephemeral)
	}
	return out, ds
}

// rootValue returns the value given to a variable of the root module; NilVal if there is none.
func (e *evaluator) rootValue(root *config.Module, name string) cty.Value {
	if v, ok := e.in.Given[name]; ok {
		return v
	}
	if e.in.Given != nil && !root.Variables[name].Ephemeral {
		return cty.NilVal
	}
	if e.root == nil {
		var sources []inputs.Source
		if e.in.Sources != nil {
			sources = e.in.Sources()
		}
		// Problems of the values are reported later, when all of them are collected.
		e.root, _ = inputs.Collect(root.Content, sources)
		e.init, _ = inputs.Collect(root.Content, []inputs.Source{e.in.Init})
	}
	x := e.root[name]
	if x.Origin == 0 {
		x = e.init[name]
	}
	if x.Origin == 0 {
		return cty.NilVal
	}
	if secret := root.Variables[name].Sensitive || root.Variables[name].Ephemeral; e.in.Used != nil && !secret && x.Origin != inputs.FromAutoFile {
		e.in.Used(name, x.Given)
	}
	return x.Given
}

// changed reports whether the value of a root variable differs from the value that init was given.
func (e *evaluator) changed(v *config.Variable) bool {
	now, then := e.root[v.Name], e.init[v.Name]
	return now.Origin != 0 && then.Origin != 0 && !now.Value.RawEquals(then.Value)
}

func changed(at hcl.Range, name string) *hcl.Diagnostic {
	return problem(at, "Variable has another value than at init",
		"Modules and the backend were prepared with the value that init was given for the variable \""+name+"\", and now the variable is set to another one. To use the new value, run \"lockstep init\" with it. To go on with the old value, leave the new one out.")
}

// scope returns the Scope of the functions. A function whose result changes at each call returns an unknown
// value.
func (in Input) scope() funcs.Scope {
	if in.Files == nil {
		return funcs.Scope{BaseDir: "/", Home: "/", Files: funcs.NoFiles{}, PureOnly: true, Budget: in.Budget}
	}
	return funcs.Scope{BaseDir: in.BaseDir, Files: in.Files, PureOnly: true, Budget: in.Budget}
}
