package lambdatest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// A Template is a CloudFormation template, with functions in their long form: !Ref X is
// {"Ref": X}.
type Template struct {
	Parameters map[string]struct {
		Default any `yaml:"Default"`
	} `yaml:"Parameters"`
	Conditions map[string]any      `yaml:"Conditions"`
	Resources  map[string]Resource `yaml:"Resources"`
	Outputs    map[string]any      `yaml:"Outputs"`
	Metadata   map[string]any      `yaml:"Metadata"`
}

// A Resource is one of a template's.
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

// lengthen replaces tags by the functions that they are short for.
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

// resolver evaluates the functions of a template.
type resolver struct {
	template Template
	refs     map[string]string // values of Ref, by name
	atts     map[string]string // values of GetAtt, by name
}

// Resolve returns a value of the template without functions: refs are the values of Ref, atts those
// of GetAtt, by name. It panics where they lack a name.
func (x Template) Resolve(refs, atts map[string]string, v any) any {
	return resolver{x, refs, atts}.resolve(v)
}

// nothing is the value of AWS::NoValue.
type nothing struct{}

// resolve returns a value without functions. An unknown name is a mistake in the template, or
// something that the test does not play: it panics.
func (r resolver) resolve(v any) any {
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
			if y := r.resolve(x); y != (nothing{}) {
				out[k] = y
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			if y := r.resolve(x); y != (nothing{}) {
				out = append(out, y)
			}
		}
		return out
	}
	return v
}

func (r resolver) call(name string, arg any) any {
	switch name {
	case "Ref":
		if arg == "AWS::NoValue" {
			return nothing{}
		}
		return r.known(r.refs, arg.(string))
	case "Fn::GetAtt":
		return r.known(r.atts, arg.(string))
	case "Fn::If":
		args := arg.([]any)
		if r.holds(r.template.Conditions[args[0].(string)]) {
			return r.resolve(args[1])
		}
		return r.resolve(args[2])
	case "Fn::Sub":
		return r.substitute(arg.(string))
	}
	panic(fmt.Sprintf("lambdatest: no case for %s", name))
}

func (r resolver) known(of map[string]string, name string) string {
	v, ok := of[name]
	if !ok {
		panic(fmt.Sprintf("lambdatest: the template names %s, which is not known", name))
	}
	return v
}

func (r resolver) substitute(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		if strings.Contains(name, ".") {
			out.WriteString(r.known(r.atts, name))
		} else {
			out.WriteString(r.known(r.refs, name))
		}
		text = after
	}
}

// holds evaluates a condition.
func (r resolver) holds(c any) bool {
	for name, arg := range c.(map[string]any) {
		args := arg.([]any)
		switch name {
		case "Fn::Not":
			return !r.holds(args[0])
		case "Fn::Equals":
			return r.resolve(args[0]) == r.resolve(args[1])
		}
	}
	panic(fmt.Sprintf("lambdatest: no case for the condition %v", c))
}
