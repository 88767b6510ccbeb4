package atlantis

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v4"
)

// A Step is a run step that a step block of lockstep.hcl can replace: one program with plain arguments.
type Step struct {
	At hcl.Range
	// Name is unique in the document: that of the program, and a number if several steps have the same program.
	Name string
	// On is when the program runs: before_plan, after_plan, before_apply or after_apply.
	On string
	// Program has the program and its arguments. Texts such as {plan_json} stand for values of the run.
	Program []string
	// Env are the variables that env steps before this step set to fixed values.
	Env map[string]string
	// Projects are the names of the projects whose workflow has the step; nil for all of the repository.
	Projects []string
}

// A decisive is a step of a workflow with a command of a team's own. step is the step block that replaces it. If there
// is none, why is the reason, as a phrase; "" if the options do not ask for step blocks.
type decisive struct {
	Text
	step *Step
	why  string
}

// A stage has what the steps of a stage have set so far, for the commands after them.
type stage struct {
	name string // plan, apply, policy_check
	done bool   // the step that the stage is named after was read
	env  map[string]string
	// dynamic is the name of a variable whose value comes from a command; "" if there is none.
	dynamic string
}

// run reads a step with a command.
func (r *reader) run(f field) {
	d := decisive{Text: Text{f.key, r.at(f.at)}}
	if r.options.Steps {
		d.step, d.why = r.convert(f)
	}
	if d.step == nil && r.applying && r.carriedOut && f.key == "run" {
		if d.why != "" {
			r.notices.say(r.name, f.at.Line, f.key, fmt.Sprintf("No step block can replace it, because %s. %s", d.why, instead["run of the shell"]), false)
			return
		}
		r.notice(f)
		return
	}
	r.decides = append(r.decides, d)
}

// convert returns the step block for a step with a command, or the phrase that says why there is none.
func (r *reader) convert(f field) (*Step, string) {
	if f.key == "multienv" {
		return nil, "its output sets variables"
	}
	text, why := r.commandOf(f)
	if why != "" {
		return nil, why
	}
	c := parse(text.Value, r.stage.env)
	on := map[string]string{"plan": "before_plan", "apply": "before_apply"}[r.stage.name]
	if r.stage.done || r.stage.name == "policy_check" {
		on = map[string]string{"plan": "after_plan", "policy_check": "after_plan", "apply": "after_apply"}[r.stage.name]
	}
	switch {
	case c.why != "":
		return nil, c.why
	case on == "":
		return nil, "its stage has no step block"
	case r.stage.dynamic != "":
		return nil, fmt.Sprintf("the value of the variable %s comes from a command", visible(r.stage.dynamic))
	case on == "before_plan" && slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(w, planJSON) }):
		return nil, "it reads the plan before there is one"
	}
	return &Step{At: text.At, On: on, Program: c.words, Env: maps.Clone(r.stage.env)}, ""
}

// commandOf returns the command of a run step: a text, or a mapping with the key command.
func (r *reader) commandOf(f field) (command Text, why string) {
	if n := r.follow(f.value); n != nil && len(n.Content) == 0 {
		t, _ := r.scalar(f)
		return t, ""
	}
	for _, x := range r.fields(f.value, "a run step") {
		switch x.key {
		case "command":
			command, _ = r.scalar(x)
		case "output":
			if r.hides(x.value) {
				why = "it hides a part of its output, and a step block would show it"
			}
		case "shell", "shellArgs":
			why = "it chooses a shell of its own"
		default:
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q of a run step. The keys are command, output, shell and shellArgs.", visible(x.key))
		}
	}
	return command, why
}

// hides reports whether the key output of a run step hides more than lines of Terraform: the output may have secrets.
func (r *reader) hides(n *yaml.Node) bool {
	x := r.follow(n)
	if null(x) {
		return false
	}
	if x.Kind == yaml.SequenceNode {
		return slices.ContainsFunc(x.Content, r.hides)
	}
	return x.Kind != yaml.ScalarNode || x.Value != "show" && x.Value != "strip_refreshing"
}

// variable matches names of environment variables.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// exported adds a variable of an env step to those of the commands after it. value is nil if it comes from a command.
func (r *reader) exported(name string, value *Text) {
	switch {
	case strings.HasPrefix(name, "TF_CLI_ARGS") || name == "TF_WORKSPACE": // for Terraform only
	case value == nil || name == "PATH" || !variable.MatchString(name):
		r.stage.dynamic = cmp.Or(r.stage.dynamic, name)
	default:
		if r.stage.env == nil {
			r.stage.env = map[string]string{}
		}
		r.stage.env[name] = value.Value
	}
}

// ended completes a stage after its last step. first is the number of decisive steps before it. If the stage does not
// have the step after which it is named, the team's commands do the work of that step. So no step block can replace
// them.
func (r *reader) ended(first int) {
	if r.stage.done || r.stage.name == "policy_check" {
		return
	}
	for i := first; i < len(r.decides); i++ {
		if d := &r.decides[i]; d.step != nil {
			d.step, d.why = nil, fmt.Sprintf("the stage has no step %s, so its commands do that work", r.stage.name)
		}
	}
}

// blocks reports whether a workflow has a decisive step that nothing replaces.
func (w *workflow) blocks() bool {
	return slices.ContainsFunc(w.decides, func(d decisive) bool { return d.step == nil })
}

// maxSteps is the maximum number of different steps in a document.
const maxSteps = 100

// replaced adds the steps of a workflow to the document.
func (r *reader) replaced(w *workflow) {
	for _, d := range w.decides {
		if d.step == nil {
			continue
		}
		same := func(x Step) bool {
			return x.On == d.step.On && slices.Equal(x.Program, d.step.Program) && maps.Equal(x.Env, d.step.Env)
		}
		i := slices.IndexFunc(r.doc.Steps, same)
		if i < 0 && len(r.doc.Steps) >= maxSteps {
			r.errorf(d.At, "Too many steps", "The workflows have more than %d different steps of one program, and lockstep.hcl can have no more. Leave some out.", maxSteps)
			return
		}
		if i < 0 {
			i = len(r.doc.Steps)
			r.doc.Steps = append(r.doc.Steps, *d.step)
		}
		r.doc.Steps[i].Projects = append(r.doc.Steps[i].Projects, w.projects...)
	}
}

// completed returns the steps of a document with names, in the order of their files. A step for more projects than a
// block may name becomes several steps.
func completed(steps []Step, projects int, notices *notices) (out []Step) {
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Start.Line, b.At.Start.Line))
	})
	used := map[string]int{}
	for _, s := range steps {
		slices.Sort(s.Projects)
		s.Projects = slices.Compact(s.Projects)
		parts := slices.Collect(slices.Chunk(s.Projects, maxNames))
		if len(s.Projects) >= projects {
			parts = [][]string{nil}
		}
		for _, part := range parts {
			base := stepName(s.Program[0])
			s.Name, s.Projects = base, part
			if used[base]++; used[base] > 1 {
				s.Name = fmt.Sprintf("%s-%d", base, used[base])
			}
			notices.say(s.At.Filename, s.At.Start.Line, "run", fmt.Sprintf("The step block %q replaces it. Add the program %s to the toolbox.", s.Name, s.Program[0]), true)
			out = append(out, s)
		}
	}
	return out
}

// unnamed matches characters that have no place in the name of a step.
var unnamed = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// stepName returns a name for the step with this program.
func stepName(program string) string {
	name := strings.Trim(unnamed.ReplaceAllString(path.Base(program), "-"), "-_")
	return cmp.Or(name[:min(len(name), 50)], "step")
}
