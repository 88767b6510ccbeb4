package docs

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A stack is what the documentation has of template.yaml.
type stack struct {
	Metadata struct {
		Interface struct {
			ParameterGroups []struct {
				Label struct {
					Default string `yaml:"default"`
				} `yaml:"Label"`
				Parameters []string `yaml:"Parameters"`
			} `yaml:"ParameterGroups"`
		} `yaml:"AWS::CloudFormation::Interface"`
	} `yaml:"Metadata"`
	Parameters map[string]struct {
		Type          string  `yaml:"Type"`
		Description   string  `yaml:"Description"`
		Default       *string `yaml:"Default"`
		MinValue      *int    `yaml:"MinValue"`
		MaxValue      *int    `yaml:"MaxValue"`
		AllowedValues []int   `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
	Resources map[string]struct {
		Type string `yaml:"Type"`
	} `yaml:"Resources"`
	Outputs map[string]struct {
		Description string `yaml:"Description"`
	} `yaml:"Outputs"`
}

// TestReference generates the pages whose sources are no tables of code.
func TestReference(t *testing.T) {
	t.Run("template", func(t *testing.T) {
		golden.File(t, "reference/template.md", templatePage(t))
	})
}

// templatePage is the page of the parameters and outputs of template.yaml.
func templatePage(t *testing.T) string {
	var s stack
	if err := yaml.Unmarshal([]byte(read(t, "template.yaml")), &s); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Stack: parameters and outputs\n\nThis page lists the parameters and outputs of `template.yaml`, the CloudFormation stack of a deployment on AWS.\n\n" +
		"`lockstep deploy` sets the parameters that it needs. Change one with `lockstep deploy -parameter NAME=VALUE`.\n")
	listed := 0
	for _, g := range s.Metadata.Interface.ParameterGroups {
		fmt.Fprintf(&b, "\n## %s\n", g.Label.Default)
		for _, name := range g.Parameters {
			p, ok := s.Parameters[name]
			if !ok || p.Description == "" {
				t.Errorf("template.yaml: the parameter %s of a group is not there, or has no description", name)
			}
			listed++
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", name, literal(p.Description))
			value := map[string]string{"Number": "a number", "String": "a text"}[p.Type]
			switch {
			case p.AllowedValues != nil:
				value = "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(p.AllowedValues), " ", ", "), "[]")
			case p.MinValue != nil && p.MaxValue != nil:
				value += fmt.Sprintf(" from %d to %d", *p.MinValue, *p.MaxValue)
			case p.MinValue != nil:
				value += fmt.Sprintf(" from %d", *p.MinValue)
			}
			standard := "Required"
			if p.Default != nil {
				standard = "Default: `" + *p.Default + "`"
				if *p.Default == "" {
					standard = "Default: empty"
				}
			}
			fmt.Fprintf(&b, "Value: %s. %s.\n", value, standard)
		}
	}
	if listed != len(s.Parameters) {
		t.Errorf("template.yaml: %d parameters of %d are in a group", listed, len(s.Parameters))
	}
	b.WriteString("\n## Outputs\n\n| output | meaning |\n|---|---|\n")
	for name, o := range ordered(s.Outputs) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, literal(o.Description))
	}
	return b.String()
}

// literal returns a text whose characters have no meaning in Markdown.
func literal(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;").Replace(strings.TrimSpace(text))
}

// ordered yields a map by its keys.
func ordered[V any](m map[string]V) func(func(string, V) bool) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return func(yield func(string, V) bool) {
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
