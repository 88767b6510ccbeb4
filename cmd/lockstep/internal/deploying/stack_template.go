package deploying

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A stackTemplate is a CloudFormation template: its text, and its parameters in the order of the text.
type stackTemplate struct {
	Text       string
	Parameters []stackParameter
}

// A stackParameter is a parameter of a template.
type stackParameter struct {
	Name        string
	Description string
	Required    bool // there is no default
	Hidden      bool // CloudFormation does not show its value
	pattern     *regexp.Regexp
	values      []string // allowed ones; nil: all
}

// readTemplate parses a template.
func readTemplate(text string) (stackTemplate, error) {
	var root struct {
		Parameters yaml.Node `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return stackTemplate{}, fmt.Errorf("read template.yaml: %w", err)
	}
	t := stackTemplate{Text: text}
	for i := 0; i+1 < len(root.Parameters.Content); i += 2 {
		var x struct {
			Default        yaml.Node   `yaml:"Default"`
			Description    string      `yaml:"Description"`
			NoEcho         bool        `yaml:"NoEcho"`
			AllowedPattern string      `yaml:"AllowedPattern"`
			AllowedValues  []yaml.Node `yaml:"AllowedValues"`
		}
		if err := root.Parameters.Content[i+1].Decode(&x); err != nil {
			return stackTemplate{}, fmt.Errorf("read template.yaml: %w", err)
		}
		p := stackParameter{Name: root.Parameters.Content[i].Value, Description: x.Description, Required: x.Default.IsZero(), Hidden: x.NoEcho}
		for _, v := range x.AllowedValues {
			p.values = append(p.values, v.Value)
		}
		if x.AllowedPattern != "" {
			var err error
			if p.pattern, err = regexp.Compile("^(?:" + x.AllowedPattern + ")$"); err != nil {
				return stackTemplate{}, fmt.Errorf("read template.yaml: the pattern of %s: %w", p.Name, err)
			}
		}
		t.Parameters = append(t.Parameters, p)
	}
	if len(t.Parameters) == 0 {
		return stackTemplate{}, errors.New("read template.yaml: it has no parameters")
	}
	return t, nil
}

// Check returns the first error in the values of parameters. CloudFormation would report such an error only
// after minutes.
func (t stackTemplate) Check(values map[string]string) error {
	for name, value := range values {
		i := slices.IndexFunc(t.Parameters, func(p stackParameter) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("the template has no parameter %q", name)
		}
		p := t.Parameters[i]
		if p.pattern != nil && !p.pattern.MatchString(value) || p.values != nil && !slices.Contains(p.values, value) {
			return fmt.Errorf("the parameter %s cannot be %q: %s", name, value, p.Description)
		}
	}
	return nil
}

// codeURI matches the line with a function's code in the original template.
var codeURI = regexp.MustCompile(`(?m)^( +CodeUri: )dist/(\w+)\.zip$`)

// Code returns the names of the files with the functions' code, such as plan.zip.
func (t stackTemplate) Code() []string {
	var out []string
	for _, m := range codeURI.FindAllStringSubmatch(t.Text, -1) {
		out = append(out, m[2]+".zip")
	}
	return out
}

// Placed returns the template with the addresses of the functions' code filled in. code has the addresses by
// file name. Each one names a version of an object, so that a version uploaded later is not deployed.
// Source: https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-property-function-functioncode.html
func (t stackTemplate) Placed(code map[string]depotPlace) (stackTemplate, error) {
	var missing error
	t.Text = codeURI.ReplaceAllStringFunc(t.Text, func(line string) string {
		m := codeURI.FindStringSubmatch(line)
		at, ok := code[m[2]+".zip"]
		if !ok {
			missing = fmt.Errorf("%s.zip was not uploaded", m[2])
		}
		return fmt.Sprintf("%s{ Bucket: %q, Key: %q, Version: %q }", m[1], at.Bucket, at.Key, at.Version)
	})
	return t, missing
}

// templateDifferences returns the differences between two templates as texts for people: the names of functions
// that differ, and one text for all other differences.
func templateDifferences(old, new string) []string {
	placed := regexp.MustCompile(`(?m)^ +CodeUri: .*"[0-9a-z/]+/(\w+)\.zip".*$`)
	codes := func(text string) map[string]string {
		out := map[string]string{}
		for _, m := range placed.FindAllStringSubmatch(text, -1) {
			out[m[1]] = m[0]
		}
		return out
	}
	was, is := codes(old), codes(new)
	var out []string
	for name, line := range is {
		if was[name] != line {
			out = append(out, "the code of "+name)
		}
	}
	slices.Sort(out)
	if placed.ReplaceAllString(old, "") != placed.ReplaceAllString(new, "") {
		out = append(out, "the template")
	}
	return out
}

// sameLines returns a template's text with "\n" as line ends, for comparisons, because CloudFormation changes
// line ends.
func sameLines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
