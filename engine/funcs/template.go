package funcs

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// templateFunctions returns the functions templatefile and templatestring. A template may call the functions in
// own and the pure functions of package funcs, but not templatefile and templatestring. A template that does
// not come from a file of the configuration also may not call functions that read files.
func templateFunctions(own map[string]function.Function, s Scope) map[string]function.Function {
	files := s.tree()
	// Build this table only on use: few configurations have templates.
	inFile := sync.OnceValue(func() map[string]function.Function {
		refused := map[string]function.Function{}
		for _, name := range []string{"templatefile", "templatestring"} {
			refused[name] = refusedFunc(fmt.Sprintf("cannot recursively call %s from inside another template function", name))
		}
		return with(with(pureIn[s.Language](), own), refused)
	})
	inString := sync.OnceValue(func() map[string]function.Function {
		refused := map[string]function.Function{}
		for name := range files.readingFunctions() {
			refused[name] = refusedFunc(fmt.Sprintf("cannot use filesystem access functions like %s in templatestring templates; consider passing the function result as a template variable instead", name))
		}
		return with(inFile(), refused)
	})
	return map[string]function.Function{
		"templatefile":   templateFileFunc(files, renderer{inFile, s}),
		"templatestring": templateStringFunc(renderer{inString, s}),
	}
}

// refusedFunc returns a function that always fails with the error why, for places where a function may not be
// called.
func refusedFunc(why string) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{
			Name: "args", Type: cty.DynamicPseudoType,
			AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true,
		},
		Type: func([]cty.Value) (cty.Type, error) { return cty.NilType, errors.New(why) },
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { panic("called although its type cannot be") },
	})
}

// templateFileFunc returns the function templatefile. It renders only once for each call: its type is
// dynamic, so no rendering is needed to find the type. It keeps parsed templates by their text, since one file is
// often rendered for each instance.
func templateFileFunc(files tree, within renderer) function.Function {
	type source struct{ name, text string }
	var parsed sync.Map // source -> hcl.Expression
	parse := func(n fileName, text string) (hcl.Expression, error) {
		if e, ok := parsed.Load(source{n.name, text}); ok {
			return e.(hcl.Expression), nil
		}
		e, err := within.parse(text, n.name)
		if err != nil {
			return nil, err
		}
		parsed.Store(source{n.name, text}, e)
		return e, nil
	}
	vars := maybe(anything("vars"))
	vars.AllowDynamicType = true
	return function.New(&function.Spec{
		Params: []function.Parameter{maybe(marked(text("path"))), vars},
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			path, pathMarks := args[0].Unmark()
			if !path.IsKnown() || !args[1].IsKnown() {
				return cty.DynamicVal.WithMarks(pathMarks), nil
			}
			n := fileName{path.AsString(), pathMarks}
			text, err := files.readText(n)
			if err != nil {
				return cty.NilVal, err
			}
			expr, err := parse(n, text)
			if err != nil {
				return cty.NilVal, err
			}
			out, err := within.render(expr, args[1])
			if err != nil {
				return cty.NilVal, err
			}
			return out.WithMarks(pathMarks), nil
		},
	})
}

// templateStringFunc returns the function templatestring. It gets its first argument as an expression: the
// argument must be a reference to a template, not a template itself.
func templateStringFunc(within renderer) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "template", Type: customdecode.ExpressionClosureType},
			maybe(anything("vars")),
		},
		Type:         function.StaticReturnType(cty.String),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[1].IsKnown() {
				return cty.UnknownVal(cty.String), nil
			}
			closure := customdecode.ExpressionClosureFromVal(args[0])
			if err := templateReference(closure.Expression); err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "invalid template expression: %w", err)
			}
			tmpl, diags := closure.Value()
			if diags.HasErrors() {
				return cty.NilVal, function.NewArgErrorf(0, "invalid template expression: %w", diags)
			}
			tmpl, ms := tmpl.Unmark()
			if !tmpl.IsKnown() {
				return cty.UnknownVal(cty.String).WithMarks(ms), nil
			}
			if tmpl.IsNull() || tmpl.Type() != cty.String {
				return cty.NilVal, function.NewArgErrorf(0, "invalid template value: a string is required")
			}
			out, err := within.renderString(tmpl.AsString(), args[1])
			if err != nil {
				return cty.NilVal, err
			}
			return out.WithMarks(ms), nil
		},
	})
}

func (r renderer) renderString(tmpl string, vars cty.Value) (cty.Value, error) {
	expr, err := r.parse(tmpl, "<templatestring argument>")
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "invalid template: %w", err)
	}
	out, err := r.render(expr, vars)
	if err != nil {
		return cty.NilVal, err
	}
	str, err := convert.Convert(out, cty.String)
	if err != nil {
		return cty.NilVal, errors.New("invalid template result: string required")
	}
	return str, nil
}

// templateReference returns an error unless the expression is a reference to an object or a part of one.
func templateReference(expr hcl.Expression) error {
	switch e := expr.(type) {
	case *hclsyntax.TemplateWrapExpr:
		return errors.New("templatestring is only for rendering templates retrieved dynamically from elsewhere; to treat the inner expression as template syntax, write the reference expression directly without any template interpolation syntax")
	case *hclsyntax.TemplateExpr:
		if e.IsStringLiteral() || len(e.Parts) == 0 {
			return errors.New("templatestring is only for rendering templates retrieved dynamically from elsewhere, and so does not support providing a literal template; consider using a template string expression instead")
		}
		return errors.New("templatestring is only for rendering templates retrieved dynamically from elsewhere; to render an inline template, consider using a plain template string expression")
	}
	if !refers(expr) {
		return errors.New("must be a direct reference to a single string from elsewhere, containing valid Terraform template syntax")
	}
	return nil
}

func refers(expr hcl.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return true
	case *hclsyntax.RelativeTraversalExpr:
		return refers(e.Source)
	case *hclsyntax.IndexExpr:
		return refers(e.Collection)
	case *hclsyntax.SplatExpr:
		return refers(e.Source)
	}
	return false
}

// A renderer evaluates templates. A template can use only its variables and the renderer's functions.
type renderer struct {
	functions func() map[string]function.Function
	scope     Scope
}

// parse parses a template.
func (r renderer) parse(text, name string) (hcl.Expression, error) {
	if x := parsing.Fits([]byte(text), r.scope.Budget.Limits()); x != nil {
		return nil, x.Of("The template")
	}
	e, diags := parsing.Template([]byte(text), name)
	if diags.HasErrors() {
		return nil, diags
	}
	if r.scope.Language == language.V1_11 {
		parsing.UseBothOperandsIn(e)
	}
	return e, nil
}

func (r renderer) render(expr hcl.Expression, vars cty.Value) (cty.Value, error) {
	if ty := vars.Type(); !ty.IsMapType() && !ty.IsObjectType() {
		return cty.NilVal, function.NewArgErrorf(1, "invalid vars value: must be a map")
	}
	ctx := &hcl.EvalContext{Functions: r.functions(), Variables: vars.AsValueMap()}
	for _, name := range sortedKeys(ctx.Variables) {
		if !hclsyntax.ValidIdentifier(name) {
			return cty.NilVal, function.NewArgErrorf(1, "invalid template variable name %q: must start with a letter, followed by zero or more letters, digits, and underscores", name)
		}
	}
	for _, traversal := range expr.Variables() {
		root := traversal.RootName()
		if _, ok := ctx.Variables[root]; !ok {
			return cty.NilVal, function.NewArgErrorf(1, "vars map does not contain key %q, referenced at %s", root, traversal[0].SourceRange())
		}
	}
	if ctx.Variables == nil {
		ctx.Variables = map[string]cty.Value{}
	}
	r.scope.Budget.Put(ctx.Variables)
	out, diags := expr.Value(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if out.IsNull() {
		return cty.NilVal, fmt.Errorf("%s: Template result is null; The result of the template is null, which is not a valid result for a template", expr.Range())
	}
	return out, nil
}
