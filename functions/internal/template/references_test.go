package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A reference is an occurrence of a name in the template.
type reference struct {
	from   string // the resource that contains it, or "Outputs"
	at     string // the path to it
	name   string // a resource, a parameter, a pseudo parameter, a condition
	kind   kind
	guards []guard // the conditions under which it is evaluated
}

type kind int

const (
	value     kind = iota // Ref, GetAtt, Sub
	dependsOn             // only an order, without a value
	condition             // Fn::If, Condition
)

// A guard is the condition of a branch of Fn::If.
type guard struct {
	condition string
	holds     bool
}

// references returns all references of a template, in the order of their paths.
func references(x templates.Template) []reference {
	var out []reference
	for _, name := range slices.Sorted(maps.Keys(x.Resources)) {
		r := x.Resources[name]
		w := walker{from: name, out: &out}
		if r.Condition != "" {
			w.add(name, r.Condition, condition)
			w.guards = []guard{{r.Condition, true}}
		}
		w.walk(name, r.Properties)
		for _, d := range texts(r.DependsOn) {
			w.add(name+".DependsOn", d, dependsOn)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.Outputs)) {
		w := walker{from: "Outputs", out: &out}
		at, o := "Outputs."+name, x.Outputs[name].(map[string]any)
		if c, ok := o["Condition"].(string); ok {
			w.add(at, c, condition)
			w.guards = []guard{{c, true}}
		}
		w.walk(at+".Value", o["Value"])
	}
	walker{from: "Conditions", out: &out}.walk("Conditions", x.Conditions)
	return out
}

// A walker descends into one value.
type walker struct {
	from   string
	guards []guard
	out    *[]reference
}

func (w walker) add(at, name string, k kind) {
	*w.out = append(*w.out, reference{w.from, at, name, k, slices.Clone(w.guards)})
}

func (w walker) walk(at string, v any) {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			w.walk(fmt.Sprintf("%s[%d]", at, i), x)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !w.function(at, k, v[k]) {
				w.walk(at+"."+k, v[k])
			}
		}
	}
}

// function follows a function of CloudFormation, if k is the name of one with references.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func (w walker) function(at, k string, arg any) bool {
	switch k {
	case "Ref":
		w.add(at, fmt.Sprint(arg), value)
	case "Condition":
		name, ok := arg.(string)
		if !ok {
			return false // of a policy's statement
		}
		w.add(at, name, condition)
	case "Fn::GetAtt":
		name, _, _ := strings.Cut(texts(arg)[0], ".")
		w.add(at, name, value)
	case "Fn::Sub":
		w.sub(at, arg)
	case "Fn::If":
		args, ok := arg.([]any)
		if !ok || len(args) != 3 {
			w.add(at, fmt.Sprintf("If of %v", arg), condition)
			break
		}
		name := fmt.Sprint(args[0])
		w.add(at, name, condition)
		for i, holds := range []bool{true, false} {
			branch := w
			branch.guards = append(slices.Clone(w.guards), guard{name, holds})
			branch.walk(at, args[i+1])
		}
	default:
		return false
	}
	return true
}

// sub follows the names in a text, except those to which the function gives values.
func (w walker) sub(at string, arg any) {
	own := map[string]any{}
	if list, ok := arg.([]any); ok && len(list) == 2 {
		own, _ = list[1].(map[string]any)
		w.walk(at, own)
		arg = list[0]
	}
	for _, part := range strings.Split(fmt.Sprint(arg), "${")[1:] {
		name, _, _ := strings.Cut(part, "}")
		name, _, _ = strings.Cut(name, ".")
		if _, given := own[name]; !given && !strings.HasPrefix(name, "!") {
			w.add(at, name, value)
		}
	}
}

// texts returns a text or a list of texts as a list, empty for nil.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, fmt.Sprint(x))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}
