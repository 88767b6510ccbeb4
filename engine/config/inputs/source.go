package inputs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// An Origin is a kind of source of values for root variables.
type Origin byte

const (
	FromEnvironment Origin = 'e' // TF_VAR_name
	FromAutoFile    Origin = 'a' // terraform.tfvars, *.auto.tfvars, and their JSON forms
	FromNamedFile   Origin = 'f' // -var-file
	FromOption      Origin = 'o' // -var
	FromPrompt      Origin = 'p' // typed in by a person
)

// A Source is one source of values for root variables: a file, the environment, or one option.
type Source struct {
	Origin Origin
	// Literals are values as text. The variable's type decides how the text is read.
	Literals map[string]string
	// Expressions are the values of a file.
	Expressions map[string]hcl.Expression
	// FileName and File are the file that was read, for code snippets.
	FileName string
	File     *hcl.File
	// By says how the values were set, for messages, as in "by the settings of the project". It is "" if Origin
	// says enough.
	By string
}

// Environment returns the values in the environment variables TF_VAR_NAME. environ has the form KEY=value.
func Environment(environ []string) Source {
	s := Source{Origin: FromEnvironment, Literals: map[string]string{}}
	for _, kv := range environ {
		if rest, ok := strings.CutPrefix(kv, "TF_VAR_"); ok {
			if name, value, ok := strings.Cut(rest, "="); ok {
				s.Literals[name] = value
			}
		}
	}
	return s
}

// Settings returns a source of values that a store other than a file has as JSON, such as the settings of a
// project. Like environment variables, the values may be for several configurations: a value for an undeclared
// variable is ignored. by says how the values were set, for messages.
func Settings(by string, values map[string]json.RawMessage) (Source, error) {
	s := Source{Origin: FromEnvironment, Expressions: map[string]hcl.Expression{}, By: by}
	for name, data := range values {
		t, err := ctyjson.ImpliedType(data)
		if err != nil {
			return s, fmt.Errorf("the value of %s: %w", name, err)
		}
		v, err := ctyjson.Unmarshal(data, t)
		if err != nil {
			return s, fmt.Errorf("the value of %s: %w", name, err)
		}
		s.Expressions[name] = hcl.StaticExpr(v, hcl.Range{})
	}
	return s, nil
}

// Option reads the argument of a -var option, name=value.
func Option(arg string) (Source, diags.Diagnostics) {
	s := Source{Origin: FromOption}
	name, value, ok := strings.Cut(arg, "=")
	if !ok {
		return s, diags.Errorf(nil, "Invalid -var option", "The option needs a variable's name and a value, as in -var=\"name=value\", but there is no equals sign.")
	}
	if trimmed := strings.TrimRight(name, " \t"); trimmed != name {
		return s, diags.Errorf(nil, "Invalid -var option", "The name %q ends with a space: write -var=\"%s=...\", without spaces around the equals sign.", name, trimmed)
	}
	s.Literals = map[string]string{name: value}
	return s, nil
}
