// Package projectinputs has the inputs of projects: expressions in lockstep.hcl that make variable values of
// one project from the outputs of others.
//
//	inputs = { vpc_id = project.network.outputs.vpc_id }
//
// This package is pure. It parses the expressions ([Parse]), names the outputs that they use
// ([Link.References]), and evaluates them ([Link.Value]). It does not know states, and who may read them.
// Start reading at [Parse].
package projectinputs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A Link is an input: a variable of the project, and the expression for its value.
type Link struct {
	Variable string
	// Expression is the text of the expression, and At its place in the file.
	Expression string
	At         At `json:",omitzero"`
}

// An At is the place of a text in a file.
type At struct {
	File               string
	Line, Column, Byte int
}

// A Reference is an output of another project, or all of its outputs, in an expression.
type Reference struct {
	Project string
	Output  string // "" means all
	At      hcl.Range
}

// These are the words of a reference: project.NAME.outputs.OUTPUT.
const (
	root    = "project"
	outputs = "outputs"
)

// These are the limits of a project's inputs. Each job of the project contains all expressions.
const (
	maxLinks      = 100
	maxExpression = 4 << 10 // bytes
)

// Parse parses an argument whose value is an object of expressions. src is the file that contains the argument.
// If there are errors, Parse returns the inputs that have none, in the order of the text.
func Parse(src []byte, a *hcl.Attribute) (out []Link, ds hcl.Diagnostics) {
	pairs, more := hcl.ExprMap(a.Expr)
	if more.HasErrors() {
		return nil, refused(a.Expr.Range(), "Invalid value", "The argument %q must be values by names of variables: { vpc_id = project.network.outputs.vpc_id }.", a.Name)
	}
	for _, p := range pairs {
		name, more := p.Key.Value(nil)
		if more.HasErrors() || name.IsNull() || name.Type() != cty.String || !hclsyntax.ValidIdentifier(name.AsString()) {
			ds = append(ds, refused(p.Key.Range(), "Invalid name of a variable", "Write the name of a variable of the project's configuration, as it is declared there: vpc_id = project.network.outputs.vpc_id.")...)
			continue
		}
		at := p.Value.Range()
		l := Link{Variable: name.AsString(), Expression: string(at.SliceBytes(src)), At: At{at.Filename, at.Start.Line, at.Start.Column, at.Start.Byte}}
		if slices.ContainsFunc(out, func(x Link) bool { return x.Variable == l.Variable }) {
			ds = append(ds, refused(p.Key.Range(), "Two inputs for one variable", "The variable %q has two inputs. Remove one of them.", l.Variable)...)
			continue
		}
		if more := l.check(at); more.HasErrors() {
			ds = append(ds, more...)
			continue
		}
		out = append(out, l)
	}
	if len(out) > maxLinks {
		return nil, append(ds, refused(a.Expr.Range(), "Too many inputs", "There are %d inputs, and at most %d are allowed. Use an output that is an object with many values.", len(out), maxLinks)...)
	}
	return out, ds
}

// Plain returns inputs without their places, sorted. The result is for comparing the inputs of two files.
func Plain(all []Link) []Link {
	out := slices.Clone(all)
	for i := range out {
		out[i].At = At{}
	}
	slices.SortFunc(out, func(a, b Link) int { return strings.Compare(a.Variable, b.Variable) })
	return out
}

// Range returns the range of the expression's first character.
func (l Link) Range() hcl.Range {
	return hcl.Range{Filename: l.At.File, Start: l.At.pos(), End: l.At.pos()}
}

func (at At) pos() hcl.Pos { return hcl.Pos{Line: at.Line, Column: at.Column, Byte: at.Byte} }

// check returns the errors in an expression that do not depend on the outputs' values.
func (l Link) check(at hcl.Range) hcl.Diagnostics {
	if len(l.Expression) > maxExpression {
		return refused(at, "Too long", "The input has %d bytes, and at most %d are allowed. Compute the value in an output of the other project.", len(l.Expression), maxExpression)
	}
	tree, ds := parsing.Tree([]byte(l.Expression), l.At.File, l.At.pos())
	if ds.HasErrors() { // The text is an expression only together with the end of the line, such as a heredoc.
		return refused(at, "Invalid input", "The input cannot be read by itself. Write it without <<.")
	}
	if _, ds = referencesOf(tree); ds.HasErrors() {
		return ds
	}
	return hclsyntax.VisitAll(tree, simple)
}

// simple returns errors for expressions that make large values from little text.
func simple(n hclsyntax.Node) hcl.Diagnostics {
	switch n.(type) {
	case *hclsyntax.ForExpr, *hclsyntax.FunctionCallExpr:
		return refused(n.Range(), "Invalid input", "An input cannot have loops or functions. Pass the whole output, and compute the value in the configuration of one of the two projects.")
	}
	return nil
}

// parse parses the expression. The text was checked before.
func (l Link) parse() (hclsyntax.Expression, hcl.Diagnostics) {
	return parsing.Expression([]byte(l.Expression), l.At.File, l.At.pos())
}

// References returns the outputs that the value uses, in the order of the text.
func (l Link) References() []Reference {
	e, ds := l.parse()
	if ds.HasErrors() {
		return nil
	}
	out, _ := referencesOf(e)
	return out
}

// Projects returns the names of all projects that inputs use, sorted, each once.
func Projects(all []Link) []string {
	var out []string
	for _, l := range all {
		for _, r := range l.References() {
			out = append(out, r.Project)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// referencesOf returns the references in an expression. References with errors are missing.
func referencesOf(e hcl.Expression) (out []Reference, ds hcl.Diagnostics) {
	for _, t := range e.Variables() {
		r, more := reference(t)
		if ds = append(ds, more...); !more.HasErrors() {
			out = append(out, r)
		}
	}
	return out, ds
}

func reference(t hcl.Traversal) (Reference, hcl.Diagnostics) {
	at := t.SourceRange()
	if t.RootName() != root {
		return Reference{}, refused(at, "Invalid reference", "An input can use only outputs of other projects, such as project.network.outputs.vpc_id, so %q has no meaning here. Write constants into the argument variables.", t.RootName())
	}
	name, ok := step(t, 1, true)
	if !ok {
		return Reference{}, refused(at, "Invalid reference", "Write the name of the project: project.network.outputs.vpc_id, or project[\"svc-net\"].outputs.vpc_id.")
	}
	if word, ok := step(t, 2, false); !ok || word != outputs {
		return Reference{}, refused(at, "Invalid reference", "An input can use only the outputs of another project. Write project[%q].outputs.NAME.", name)
	}
	output, _ := step(t, 3, true)
	return Reference{name, output, at}, nil
}

// step returns the name at an index of a traversal. The name is an attribute. If keys is set, it may also be an
// index in brackets. The bool is false if there is no such name.
func step(t hcl.Traversal, i int, keys bool) (string, bool) {
	if i >= len(t) {
		return "", false
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name, true
	case hcl.TraverseIndex:
		if keys && s.Key.Type() == cty.String && !s.Key.IsNull() {
			return s.Key.AsString(), true
		}
	}
	return "", false
}

func refused(at hcl.Range, summary, detail string, args ...any) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at}}
}
