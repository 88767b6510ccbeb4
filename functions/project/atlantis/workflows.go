package atlantis

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// An argument is an argument of a command in a workflow's stage, or an environment variable.
type argument struct {
	command string // "init" or "plan"; "env" for a variable
	name    string // of a variable
	text    Text
}

// A workflow has the effects of its steps on a plan.
type workflow struct {
	steps  []argument
	broken bool // some may be missing
	// decides are the steps with a team's own commands that decide whether something is applied, or what. These
	// are all such steps of a plan and of its policies. They are also those steps of an apply that do not
	// follow the step apply.
	decides []decisive
	// projects are the names of the projects with this workflow.
	projects []string
}

// readWorkflows reads the workflows of the file.
func (r *reader) readWorkflows(f field) {
	for _, w := range r.fields(f.value, f.key) {
		x, before := &workflow{}, r.count
		r.decides, r.carriedOut = nil, false
		for _, stage := range r.fields(w.value, "a workflow") {
			switch stage.key {
			case "plan":
				x.steps = r.arguments(stage)
			case "apply":
				r.applies(stage)
			case "policy_check":
				r.notice(stage)
				r.arguments(stage)
			case "import", "state_rm":
				r.notice(stage)
			default:
				r.formf(r.at(stage.at), "Unknown key", "Atlantis does not know the stage %q of a workflow. The stages are plan, apply, policy_check, import and state_rm.", visible(stage.key))
			}
		}
		x.broken, x.decides = r.count > before, r.decides
		r.workflows[w.key] = x
	}
}

// applies reads the stage of an apply. The arguments of the stage have no effect, because Lockstep applies a
// saved plan.
func (r *reader) applies(stage field) {
	r.applying = true
	defer func() { r.applying = false }()
	for _, a := range r.arguments(stage) {
		key := a.text.Value
		if a.command == "env" {
			key = a.name
		}
		if !harmless(key) {
			r.notices.add(a.text.At.Start.Line, key, "apply")
		}
	}
}

// arguments reads the steps of a stage, and returns the arguments in them.
func (r *reader) arguments(f field) []argument {
	var out []argument
	r.stage = stage{name: f.key}
	first := len(r.decides)
	defer func() { r.ended(first) }()
	for _, x := range r.fields(f.value, "a stage") {
		if x.key != "steps" {
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q of a stage. The only key is steps.", visible(x.key))
			continue
		}
		for _, n := range r.items(x) {
			out = append(out, r.step(n)...)
		}
	}
	if len(out) > maxArguments {
		r.errorf(r.at(f.at), "Too many arguments", "The stage has %d arguments, and Lockstep reads at most %d. Write values of variables into a file.", len(out), maxArguments)
		return out[:maxArguments]
	}
	return out
}

// maxArguments is the maximum number of arguments in a stage, because each project with the workflow reads
// them.
const maxArguments = 300

// known are the names of Atlantis' steps. All other names are errors.
var known = []string{"init", "plan", "apply", "show", "policy_check", "import", "state_rm", "env", "multienv", "run"}

// step reads a step: its name, or a mapping from its name to arguments.
func (r *reader) step(n *yaml.Node) []argument {
	x := r.follow(n)
	if null(x) {
		r.formf(r.at(n), "Empty step", "Write the name of a command here, such as plan, or a mapping with one.")
		return nil
	}
	if x.Kind == yaml.ScalarNode {
		r.carriedOut = r.carriedOut || r.applying && x.Value == "apply"
		r.stage.done = r.stage.done || x.Value == r.stage.name
		if !slices.Contains(known, x.Value) || x.Value == "run" {
			r.formf(r.at(n), "Unknown step", "%q is not a step of Atlantis. For a command of your own, write the key run.", visible(x.Value))
		}
		return nil
	}
	fields := r.fields(n, "a step")
	if len(fields) > 1 {
		r.formf(r.at(fields[1].at), "Step with several keys", "A step has one key, its name, and this step also has %q. Indent %[1]q further, below the name.", visible(fields[1].key))
	}
	if len(fields) != 1 {
		return nil
	}
	return r.stepWith(fields[0])
}

// stepWith reads a step with arguments.
func (r *reader) stepWith(f field) []argument {
	switch {
	case !slices.Contains(known, f.key):
		r.formf(r.at(f.at), "Unknown step", "%q is not a step of Atlantis.", visible(f.key))
	case f.key == "run" || f.key == "multienv":
		r.run(f)
	case f.key == "env":
		return r.env(f)
	default:
		r.carriedOut = r.carriedOut || r.applying && f.key == "apply"
		r.stage.done = r.stage.done || f.key == r.stage.name
		return r.extra(f)
	}
	return nil
}

// env reads a step that sets an environment variable.
func (r *reader) env(f field) []argument {
	var name, value, command *Text
	for _, x := range r.fields(f.value, "an env step") {
		into := map[string]**Text{"name": &name, "value": &value, "command": &command}[x.key]
		switch {
		case into != nil:
			t, _ := r.scalar(x)
			*into = &t
		case x.key == "shell" || x.key == "shellArgs":
		default:
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q of an env step. The keys are name, value and command.", visible(x.key))
		}
	}
	switch {
	case name == nil || name.Value == "":
		r.formf(r.at(f.at), "No name", "An env step must have the key name.")
	case command != nil:
		r.exported(name.Value, nil)
		r.notices.add(f.at.Line, "env "+name.Value, "env command")
		return []argument{{command: "unknown", name: name.Value, text: *name}}
	case value != nil:
		r.exported(name.Value, value)
		return []argument{{command: "env", name: name.Value, text: *value}}
	}
	return nil
}

// extra reads the additional arguments of a command.
func (r *reader) extra(f field) []argument {
	var out []argument
	for _, x := range r.fields(f.value, "a step") {
		if x.key != "extra_args" {
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q of the step %s. The only key is extra_args.", visible(x.key), f.key)
			continue
		}
		for _, t := range r.texts(x) {
			out = append(out, argument{command: f.key, text: t})
		}
	}
	return out
}

// noticeFor returns the name of the notice about an argument of init that has no effect, but that people may
// rely on. ok is false if no notice is needed.
func noticeFor(command, arg string) (why string, ok bool) {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch {
	case name == "lockfile":
		return "-lockfile", true
	case command == "init" && slices.Contains([]string{"upgrade", "reconfigure", "migrate-state", "force-copy", "get"}, name):
		return "init", true
	}
	return "", false
}

// harmless reports whether an argument can be ignored, because Lockstep behaves that way anyway.
func harmless(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
	return slices.Contains([]string{"-no-color", "-input", "-compact-warnings", "-reconfigure", "-upgrade", "-auto-approve", "-detailed-exitcode", "-get", "-lockfile", "-migrate-state", "-force-copy", "-lock-timeout"}, "-"+strings.TrimPrefix(name, "-")) ||
		arg == "-lock=true" || arg == "-refresh=true" || arg == "-refresh"
}
