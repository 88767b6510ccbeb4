package atlantis

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// values collects the effects of a workflow's arguments on one project.
type values struct {
	*reader
	project     *Project
	environment map[string]string // variables that env steps have set
	unknown     []string          // variables that a command would have set
	waiting     *argument         // an argument whose value is the next one
	variables   bool              // some have been set
}

// apply adds the effect of an argument.
func (v *values) apply(a argument) {
	switch a.command {
	case "unknown":
		if strings.HasPrefix(a.name, "TF_CLI_ARGS") {
			v.errorf(a.text.At, "Arguments of a command", "The arguments in %s come from a command, and Lockstep does not run it. Write the arguments into extra_args.", visible(a.name))
		}
		if name, ours := strings.CutPrefix(a.name, "TF_VAR_"); ours {
			v.errorf(a.text.At, "Variable of a command", "The value of the variable %s comes from a command, and Lockstep does not run it. Write the value into extra_args, or as a secret into an environment block of lockstep.hcl.", visible(name))
		}
		v.unknown = append(v.unknown, a.name)
		delete(v.environment, a.name)
	case "env":
		v.variable(a)
	case "init", "plan":
		v.argument(a)
	}
}

// variable adds the effect of an environment variable. TF_VAR_x sets the variable x, and TF_CLI_ARGS_plan
// contains arguments.
func (v *values) variable(a argument) {
	text := a.text.Value
	name, ours := strings.CutPrefix(a.name, "TF_VAR_")
	switch {
	case ours:
		v.set(name, a.text, text)
		v.notices.add(a.text.At.Start.Line, a.name, "TF_VAR")
	case strings.HasPrefix(a.name, "TF_CLI_ARGS"):
		command := strings.TrimPrefix(strings.TrimPrefix(a.name, "TF_CLI_ARGS"), "_")
		for _, word := range strings.Fields(text) {
			if command == "" || command == "init" || command == "plan" {
				v.argument(argument{command: command, text: Text{word, a.text.At}})
			}
		}
	case a.name == "TF_WORKSPACE":
		v.errorf(a.text.At, "Workspace of the environment", "Lockstep reads the workspace of a project from its key workspace. Remove TF_WORKSPACE, and set the key.")
	case a.name != "TF_IN_AUTOMATION" && a.name != "TF_INPUT":
		v.notices.add(a.text.At.Start.Line, "env "+a.name, "env")
	}
	v.environment[a.name] = text
}

// valued are the arguments with a value, which may be the next argument.
var valued = map[string]bool{"-var-file": true, "-var": true, "-backend-config": true, "-target": true, "-replace": true, "-parallelism": true, "-exclude": true, "-lock-timeout": true, "-state": true, "-plugin-dir": true}

// argument adds the effect of an argument of init or plan. Like Terraform, it accepts -x and --x.
func (v *values) argument(a argument) {
	if w := v.waiting; w != nil && w.command == a.command {
		v.waiting = nil
		v.option(a.command, w.text.Value, a.text)
		return
	}
	v.complete()
	text := a.text.Value
	if strings.HasPrefix(text, "--") {
		text = text[1:]
	}
	name, value, has := strings.Cut(text, "=")
	if n, rest, spaced := strings.Cut(name, " "); spaced && valued[n] {
		// Versions of Atlantis that used a shell split such an argument at the space.
		name, value, has = n, strings.TrimSpace(text[len(n)+1:]), rest != ""
	}
	switch {
	case harmless(text):
		if why, ok := noticeFor(a.command, text); ok {
			v.notices.add(a.text.At.Start.Line, a.command+" "+text, why)
		}
	case valued[name] && !has:
		v.waiting = &argument{command: a.command, text: Text{name, a.text.At}}
	default:
		v.option(a.command, name, Text{value, a.text.At})
	}
}

// complete adds an error if the last argument needs a value, and has none.
func (v *values) complete() {
	if w := v.waiting; w != nil {
		v.errorf(w.text.At, "Argument without a value", "The argument %s needs a value, after = or as the next argument.", w.text.Value)
	}
	v.waiting = nil
}

// option adds the effect of an argument of init or plan with its value. command is "" if both have the
// argument.
func (v *values) option(command, name string, value Text) {
	switch {
	case command == "init" && (name == "-var" || name == "-var-file"):
		v.notices.add(value.At.Start.Line, "init "+name, "init")
		return
	case command == "plan" && name == "-backend-config":
		v.errorf(value.At, "Argument of another command", "The command plan has no argument -backend-config. Write it into the extra_args of the step init.")
		return
	}
	switch name {
	case "-var-file":
		if at, ok := v.file(name, value); ok {
			v.project.VarFiles = append(v.project.VarFiles, at)
			if v.variables {
				v.notices.add(value.At.Start.Line, name, "order")
			}
		}
	case "-var":
		text, ok := v.expanded(name, value, "")
		key, rest, is := strings.Cut(text, "=")
		if ok && !is {
			v.errorf(value.At, "Invalid -var", "The argument -var needs a name and a value, as in -var=size=3.")
		} else if ok {
			v.set(key, value, rest)
		}
	case "-backend-config":
		v.backend(value)
	default:
		why := name
		if instead[name] == "" {
			why = "argument"
		}
		v.notices.add(value.At.Start.Line, name, why)
	}
}

// set sets a variable. A value in the syntax of a list or an object becomes a list or an object. Any other
// value is a text, which is converted to the variable's type later.
func (v *values) set(name string, at Text, text string) {
	if !hclsyntax.ValidIdentifier(name) {
		v.errorf(at.At, "Invalid name of a variable", "%q is not the name of a variable.", visible(name))
		return
	}
	v.variables = true
	if v.project.Variables == nil {
		v.project.Variables = map[string]json.RawMessage{}
	}
	v.project.Variables[name] = literal(text)
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return
	}
	e, ds := parsing.Expression([]byte(text), v.name, hcl.InitialPos)
	if !ds.HasErrors() {
		data, more := grammar.Literal(e)
		if ds = more; !ds.HasErrors() {
			v.project.Variables[name] = data
		}
	}
	if ds.HasErrors() {
		v.errorf(at.At, "Invalid value", "The value of the variable %s begins like a list or an object, but is not a constant one. Write it without references.", visible(name))
	}
}

// backend adds an argument of the backend: a file, or name=value.
func (v *values) backend(value Text) {
	if !strings.Contains(value.Value, "=") {
		if at, ok := v.file("-backend-config", value); ok {
			v.project.BackendFiles = append(v.project.BackendFiles, at)
		}
		return
	}
	text, ok := v.expanded("-backend-config", value, "")
	if !ok {
		return
	}
	name, rest, _ := strings.Cut(text, "=")
	if !hclsyntax.ValidIdentifier(name) {
		v.errorf(value.At, "Invalid name of an argument", "%q is not the name of a backend argument. Write -backend-config=NAME=VALUE.", visible(name))
		return
	}
	if v.project.BackendConfig == nil {
		v.project.BackendConfig = map[string]json.RawMessage{}
	}
	v.project.BackendConfig[name] = literal(rest)
}

// file returns the path of a file relative to the repository. In the argument, the path is relative to the
// project.
func (v *values) file(name string, value Text) (Text, bool) {
	if strings.ContainsAny(v.project.Dir.Value, "*?[") {
		v.errorf(v.project.At, "Files of many directories", "The workflow names the file %q with %s, but the project is a pattern of directories. Write project blocks in lockstep.hcl.", visible(value.Value), name)
		return Text{}, false
	}
	text, ok := v.expanded(name, value, ".")
	if !ok {
		return Text{}, false
	}
	if path.IsAbs(text) {
		v.errorf(value.At, "File outside of the repository", "The file %q is on Atlantis' server. Copy it into the repository, or write its values into variables of lockstep.hcl.", visible(text))
		return Text{}, false
	}
	return Text{path.Join(v.project.Dir.Value, text), value.At}, true
}
