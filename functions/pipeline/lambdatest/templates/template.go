package templates

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// A Template is a CloudFormation template. Its functions are in their long form: !Ref X is {"Ref": X}.
type Template struct {
	Parameters map[string]struct {
		Default        any    `yaml:"Default"`
		AllowedPattern string `yaml:"AllowedPattern"`
	} `yaml:"Parameters"`
	Conditions map[string]any      `yaml:"Conditions"`
	Resources  map[string]Resource `yaml:"Resources"`
	Outputs    map[string]any      `yaml:"Outputs"`
	Metadata   map[string]any      `yaml:"Metadata"`
}

// A Resource is a resource of a template.
type Resource struct {
	Type       string         `yaml:"Type"`
	Properties map[string]any `yaml:"Properties"`
	DependsOn  any            `yaml:"DependsOn"` // a name or a list of them
	Condition  string         `yaml:"Condition"`
}

// ReadTemplate reads a template from a file.
func ReadTemplate(t testing.TB, file string) Template {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	lengthen(&root)
	var out Template
	if err := root.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// lengthen replaces YAML tags such as !Ref by the functions in their long form.
func lengthen(n *yaml.Node) {
	for _, c := range n.Content {
		lengthen(c)
	}
	name, ok := strings.CutPrefix(n.Tag, "!")
	if !ok || strings.HasPrefix(name, "!") {
		return
	}
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	inner := *n
	inner.Tag, inner.Style = "", 0
	if n.Kind == yaml.ScalarNode {
		inner.Tag = "!!str"
	}
	*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, &inner}}
}

// A Resolver evaluates the functions of a template. It panics at a name whose value it does not know.
type Resolver struct {
	Template Template
	Refs     map[string]string // values of Ref, by name
	Atts     map[string]string // values of GetAtt, by name
}

// Resolve returns a value of the template with all functions evaluated. refs are the values of Ref, atts those
// of GetAtt, by name. It panics if a name is missing.
func (x Template) Resolve(refs, atts map[string]string, v any) any {
	return Resolver{x, refs, atts}.Resolve(v)
}

// nothing is the value of AWS::NoValue. A member with this value is left out.
type nothing struct{}

// Resolve returns a value with all functions evaluated. It panics at an unknown name: the template has a
// mistake, or the test lacks a resource.
func (r Resolver) Resolve(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return r.call(name, arg)
				}
			}
		}
		out := map[string]any{}
		for k, x := range v {
			if y := r.Resolve(x); y != (nothing{}) {
				out[k] = y
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			if y := r.Resolve(x); y != (nothing{}) {
				out = append(out, y)
			}
		}
		return out
	}
	return v
}

func (r Resolver) call(name string, arg any) any {
	switch name {
	case "Ref":
		if arg == "AWS::NoValue" {
			return nothing{}
		}
		return r.Known(r.Refs, arg.(string))
	case "Fn::GetAtt":
		return r.Known(r.Atts, arg.(string))
	case "Fn::If":
		args := arg.([]any)
		if r.holds(r.Template.Conditions[args[0].(string)]) {
			return r.Resolve(args[1])
		}
		return r.Resolve(args[2])
	case "Fn::Sub":
		return r.substitute(arg.(string))
	}
	panic(fmt.Sprintf("templates: no case for %s", name))
}

// Known returns the value of a name. values are the values by name, for example those of Ref. It panics if
// values does not have the name.
func (r Resolver) Known(values map[string]string, name string) string {
	v, ok := values[name]
	if !ok {
		panic(fmt.Sprintf("templates: the template names %s, which is not known", name))
	}
	return v
}

func (r Resolver) substitute(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		if strings.Contains(name, ".") {
			out.WriteString(r.Known(r.Atts, name))
		} else {
			out.WriteString(r.Known(r.Refs, name))
		}
		text = after
	}
}

// Has reports whether a stack of the template has the resource x, according to the resource's condition.
func (r Resolver) Has(x Resource) bool {
	return x.Condition == "" || r.holds(r.Template.Conditions[x.Condition])
}

// holds reports whether c, a condition of the template, is true.
func (r Resolver) holds(c any) bool {
	for name, arg := range c.(map[string]any) {
		args := arg.([]any)
		switch name {
		case "Fn::Not":
			return !r.holds(args[0])
		case "Fn::Equals":
			return r.Resolve(args[0]) == r.Resolve(args[1])
		}
	}
	panic(fmt.Sprintf("templates: no case for the condition %v", c))
}
