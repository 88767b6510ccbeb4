package executor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// variableLinks are those inputs of a job that come from outputs of other projects.
type variableLinks struct {
	Job    jobs.Job
	Root   *config.Content
	Budget *budget.Budget
	// Secrets are the variables whose values are secrets of the job. A secret is more important than an input
	// for the same variable.
	Secrets inputs.Source
	// Read reads the outputs of a project's state. name is "project." and the project's name; the project's
	// encryption settings are found by it. The error is for people, and wraps [builtin.ErrNoState] if there is
	// no state. If Read is nil, all outputs are unknown.
	Read func(ctx context.Context, name string, at places.Place) (map[string]states.Output, error)

	known map[string]map[string]cty.Value // by project
	read  map[string]bool                 // projects that were read, with or without an error
	ds    diags.Diagnostics
}

// Values returns the values of the inputs, except those that another value overrides. Unknown outputs stay
// unknown. If an output is sensitive, only a sensitive variable may get it. Without this rule, values that are
// computed from the variable would be shown.
func (l *variableLinks) Values(ctx context.Context) (inputs.Source, diags.Diagnostics) {
	s := inputs.Source{Origin: inputs.FromEnvironment, Expressions: map[string]hcl.Expression{}, By: "by inputs in lockstep.hcl"}
	l.known, l.read, l.ds = map[string]map[string]cty.Value{}, map[string]bool{}, nil
	for _, link := range l.Job.Inputs {
		at, v := link.Range(), l.Root.Variables[link.Variable]
		if v == nil {
			l.ds = append(l.ds, diags.Errorf(&at, "Input for undeclared variable", "The project %q has an input for %q, but its root module declares no variable of that name. Check the name, or add a variable block.", l.Job.Project, link.Variable)...)
			continue
		}
		if l.won(link.Variable) {
			continue
		}
		value := cty.DynamicVal
		if l.outputs(ctx, link) {
			var more diags.Diagnostics
			value, more = link.Value(l.Budget, l.known)
			l.ds = append(l.ds, more...)
		}
		if marks.Contains(value, marks.Sensitive) && !v.Sensitive && !v.Ephemeral {
			l.ds = append(l.ds, diags.Errorf(&at, "Sensitive output for a variable that is not sensitive", "The input for the variable %q is made of an output that is sensitive. Declare the variable with sensitive = true: then what is computed from it is hidden, too.", link.Variable)...)
			value = cty.DynamicVal
		}
		s.Expressions[link.Variable] = hcl.StaticExpr(marks.Plain(value), at)
	}
	return s, l.ds
}

// won reports whether a secret or an option of the plan sets the variable, so that its input has no effect.
func (l *variableLinks) won(variable string) bool {
	_, secret := l.Secrets.Literals[variable]
	return secret || slices.ContainsFunc(l.Job.Options.Variables, func(given string) bool { return strings.HasPrefix(given, variable+"=") })
}

// outputs reads the outputs of all projects to which an input refers. It returns false if the input cannot be
// evaluated.
func (l *variableLinks) outputs(ctx context.Context, link projectinputs.Link) (ok bool) {
	ok = true
	for _, r := range link.References() {
		if !l.read[r.Project] {
			l.read[r.Project] = true
			l.project(ctx, r)
		}
		of, known := l.known[r.Project]
		if ok = ok && (known || !l.reads(r.Project)); !known || !l.Job.Options.Destroy {
			continue
		}
		if _, there := of[r.Output]; !there && r.Output != "" {
			// The other project may be destroyed already. This plan only destroys, and needs no values for that.
			of[r.Output] = cty.DynamicVal
		}
	}
	return ok
}

// reads reports whether to read the outputs of a project. They are not read if the job has no rights, or does
// not need the values.
func (l *variableLinks) reads(name string) bool { return l.Read != nil && l.at(name) >= 0 }

func (l *variableLinks) at(name string) int {
	return slices.IndexFunc(l.Job.Linked, func(x jobs.Linked) bool { return x.Project == name })
}

// project reads the outputs of one project.
func (l *variableLinks) project(ctx context.Context, r projectinputs.Reference) {
	if !l.reads(r.Project) {
		if l.Job.Snapshot != nil {
			l.ds = append(l.ds, diags.Warningf(&r.At, "Input is not known", "This plan of a fork's commit is made without credentials, so that the outputs of the project %q are not read for it: they are unknown here.", r.Project)...)
		}
		return
	}
	from := l.Job.Linked[l.at(r.Project)]
	if from.Nowhere != "" {
		l.ds = append(l.ds, diags.Errorf(&r.At, "Outputs of another project cannot be read", "The outputs of the project %q cannot be read: %s.", r.Project, from.Nowhere)...)
		return
	}
	found, err := l.Read(ctx, "project."+r.Project, from.Place)
	switch {
	case errors.Is(err, builtin.ErrNoState) && l.Job.Options.Destroy:
	case errors.Is(err, builtin.ErrNoState):
		l.ds = append(l.ds, diags.Errorf(&r.At, "Project was never applied", "The project %q has no state yet, and so no outputs. %s", r.Project, l.remedy(r.Project))...)
		return
	case err != nil:
		l.ds = append(l.ds, diags.Errorf(&r.At, "Outputs of another project cannot be read", "The outputs of the project %q cannot be read: %s.", r.Project, strings.TrimSuffix(err.Error(), "."))...)
		return
	}
	of := map[string]cty.Value{}
	for name, o := range found {
		of[name] = o.Value
		if o.Sensitive {
			of[name] = o.Value.Mark(marks.Sensitive)
		}
	}
	l.known[r.Project] = of
}

// remedy returns the advice if a project has no outputs, because it has no state.
func (l *variableLinks) remedy(name string) string {
	for _, f := range l.Job.Foreseen {
		if f.Project == name && f.Failed {
			return "Its plan in this pull request has failed: repair that first."
		}
	}
	return "Apply it first, or plan it in the same pull request, whose plan of it has outputs, too: comment \"lockstep plan -p " + name + "\"."
}
