package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// TestVariableLinks is a table of the inputs of a project with the variables a, b and secret, which is sensitive. The project net has
// outputs, none was never applied, and broken cannot be read.
func TestVariableLinks(t *testing.T) {
	t.Parallel()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte("variable \"a\" {}\nvariable \"b\" {}\nvariable \"secret\" {\n  sensitive = true\n}\n")})})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		name, inputs string
		change       func(*variableLinks)
		want, said   string
		read         string // projects, in their order
	}{
		{"an output", "a = project.net.outputs.id", nil, `a=cty.StringVal("vpc-1")`, "", "net"},
		{"each project is read once", "a = project.net.outputs.id; b = project.net.outputs.zone", nil, `a=cty.StringVal("vpc-1") b=cty.UnknownVal(cty.String)`, "", "net"},
		{"a sensitive one", "secret = project.net.outputs.password", nil, `secret=cty.StringVal("horse")`, "", "net"},
		{"in a variable that is not", "a = \"x${project.net.outputs.password}\"", nil, `a=cty.DynamicVal`, "Sensitive output for a variable that is not sensitive", "net"},
		{"no variable", "c = project.net.outputs.id", nil, "", "Input for undeclared variable", ""},
		{"no output", "a = project.net.outputs.x", nil, "a=cty.DynamicVal", "No such output", "net"},
		{"never applied", "a = project.none.outputs.id", nil, "a=cty.DynamicVal", "Project was never applied", "none"},
		{"one of two", "a = \"${project.none.outputs.id}${project.net.outputs.id}\"", nil, "a=cty.DynamicVal", "Project was never applied", "none net"},
		{"its plan has failed", "a = project.none.outputs.id", func(l *variableLinks) { l.Job.Foreseen = []jobs.PlannedOutputs{{Project: "none", Failed: true}} }, "a=cty.DynamicVal", "repair that first", "none"},
		{"no rights", "a = project.broken.outputs.id", nil, "a=cty.DynamicVal", "cannot be read: access denied.", "broken"},
		{"nowhere", "a = project.lost.outputs.id", nil, "a=cty.DynamicVal", "cannot be read: nobody knows where", ""},
		{"nothing is read", "a = project.net.outputs.id", func(l *variableLinks) { l.Read = nil }, "a=cty.DynamicVal", "", ""},
		{"a job without rights", "a = project.net.outputs.id", func(l *variableLinks) { l.Job.Linked, l.Job.Snapshot = nil, &jobs.Snapshot{} }, "a=cty.DynamicVal", "Input is not known", ""},
		{"an option wins", "a = project.none.outputs.id", func(l *variableLinks) { l.Job.Options = grammar.Options{Variables: []string{"a=1"}} }, "", "", ""},
		{"of that name", "a = project.net.outputs.id", func(l *variableLinks) { l.Job.Options = grammar.Options{Variables: []string{"ab=1"}} }, `a=cty.StringVal("vpc-1")`, "", "net"},
		{"a secret wins", "a = project.none.outputs.id", func(l *variableLinks) { l.Secrets = inputs.Source{Literals: map[string]string{"a": "x"}} }, "", "", ""},
		{"destroyed before", "a = project.none.outputs.id; b = project.net.outputs.x", func(l *variableLinks) { l.Job.Options = grammar.Options{Destroy: true} }, "a=cty.DynamicVal b=cty.DynamicVal", "", "none net"},
		{"to be destroyed, without rights", "a = project.broken.outputs.id", func(l *variableLinks) { l.Job.Options = grammar.Options{Destroy: true} }, "a=cty.DynamicVal", "access denied", "broken"},
	} {
		var read []string
		l := variableLinks{Root: cfg.Root.Content}
		for i, text := range strings.Split(c.inputs, "; ") {
			name, e, _ := strings.Cut(text, " = ")
			l.Job.Inputs = append(l.Job.Inputs, projectinputs.Link{Variable: name, Expression: e, At: projectinputs.At{File: "lockstep.hcl", Line: i + 1, Column: 1}})
		}
		for _, name := range []string{"net", "none", "broken"} {
			l.Job.Linked = append(l.Job.Linked, jobs.Linked{Project: name, Place: places.Place{Backend: "s3", Bucket: "states", Key: name}})
		}
		l.Job.Linked = append(l.Job.Linked, jobs.Linked{Project: "lost", Nowhere: "nobody knows where"})
		l.Read = func(_ context.Context, name string, at places.Place) (map[string]states.Output, error) {
			read = append(read, at.Key)
			switch name {
			case "project.net":
				return map[string]states.Output{"id": {Value: cty.StringVal("vpc-1")}, "zone": {Value: cty.UnknownVal(cty.String)}, "password": {Value: cty.StringVal("horse"), Sensitive: true}}, nil
			case "project.none":
				return nil, fmt.Errorf("read: %w", builtin.ErrNoState)
			}
			return nil, errors.New("access denied.")
		}
		if c.change != nil {
			c.change(&l)
		}
		s, ds := l.Values(t.Context())
		var got []string
		for _, name := range slices.Sorted(maps.Keys(s.Expressions)) {
			v, _ := s.Expressions[name].Value(nil)
			got = append(got, name+"="+v.GoString())
		}
		if text := strings.Join(got, " "); text != c.want || strings.Join(read, " ") != c.read {
			t.Errorf("%s: %s, want %s; it read %v, want %s", c.name, text, c.want, read, c.read)
		}
		text := ""
		for _, d := range ds {
			text += d.String() + "\n"
		}
		if (len(ds) > 0) != (c.said != "") || !strings.Contains(text, c.said) || strings.Contains(text, "horse") {
			t.Errorf("%s: it says %s", c.name, text)
		}
	}
}
