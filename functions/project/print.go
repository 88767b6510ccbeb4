package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// print returns settings and steps as the text of lockstep.hcl, below comments. [Parse] returns the same settings for
// this text. print supports what atlantis.yaml can express, after [Settings.spell].
func (s *Settings) print(comments []string, steps []atlantis.Step) []byte {
	f := hclwrite.NewEmptyFile()
	body := f.Body()
	for _, text := range comments {
		line := strings.TrimRight("# "+text, " ") + "\n"
		body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte(line)}})
	}
	if s.exclude != nil || s.discover != nil {
		body.AppendNewline()
	}
	setTexts(body, "exclude", s.exclude)
	if s.discover != nil {
		body.SetAttributeValue("discover", cty.BoolVal(*s.discover))
	}
	block := func(kind string, labels ...string) *hclwrite.Body {
		body.AppendNewline()
		return body.AppendNewBlock(kind, labels).Body()
	}
	if a := s.Automerge; a != nil {
		setTrue(block(grammar.Automerge.Type), "delete_branch", a.DeleteBranch)
	}
	for _, p := range s.blocks() {
		p.print(block(grammar.Project.Type, p.Name))
	}
	for _, x := range steps {
		printStep(block("step", x.Name), x)
	}
	for _, r := range s.Require {
		b := block(grammar.Require.Type, r.Command)
		setTexts(b, "projects", r.Projects)
		if r.Approvals > 0 {
			b.SetAttributeValue("approvals", cty.NumberIntVal(int64(r.Approvals)))
		}
		setTrue(b, "mergeable", r.Mergeable)
		setTrue(b, "up_to_date", r.UpToDate)
	}
	return hclwrite.Format(f.Bytes())
}

// print writes the arguments of a project block.
func (p Project) print(b *hclwrite.Body) {
	b.SetAttributeValue("dir", cty.StringVal(p.Dir))
	if p.Workspace != DefaultWorkspace {
		b.SetAttributeValue("workspace", cty.StringVal(p.Workspace))
	}
	setTexts(b, "depends_on", p.DependsOn)
	setTexts(b, "when_changed", p.WhenChanged)
	setTexts(b, "var_files", p.VarFiles)
	if p.Language != language.Newest {
		b.SetAttributeValue("language", cty.StringVal(string(p.Language)))
	}
	setObject(b, "variables", p.Variables)
	setTexts(b, "backend_config", p.BackendFiles)
	setObject(b, "backend_config", p.BackendConfig)
}

// printStep writes the arguments of a step block.
func printStep(b *hclwrite.Body, x atlantis.Step) {
	b.SetAttributeValue("on", cty.StringVal(x.On))
	setTexts(b, "program", x.Program)
	setTexts(b, "projects", x.Projects)
	if len(x.Env) > 0 {
		env := map[string]cty.Value{}
		for name, value := range x.Env {
			env[name] = cty.StringVal(value)
		}
		b.SetAttributeValue("env", cty.ObjectVal(env))
	}
}

// blocks returns the project blocks, including those for many directories, in the order of the file.
func (s *Settings) blocks() []Project {
	all := slices.Clone(s.Projects)
	for _, w := range s.wildcards {
		all = append(all, w.Project)
	}
	slices.SortStableFunc(all, func(a, b Project) int {
		x, y := s.Range(a.Name).Start, s.Range(b.Name).Start
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	return all
}

// setTexts sets a list of texts, if it is not nil.
func setTexts(b *hclwrite.Body, name string, all []string) {
	if all == nil {
		return
	}
	items := []cty.Value{}
	for _, text := range all {
		items = append(items, cty.StringVal(text))
	}
	b.SetAttributeValue(name, cty.TupleVal(items))
}

// setTrue sets an argument to true if value is true. Otherwise it does not write the argument.
func setTrue(b *hclwrite.Body, name string, value bool) {
	if value {
		b.SetAttributeValue(name, cty.True)
	}
}

// setObject sets an object with values that are JSON, if it is not nil.
func setObject(b *hclwrite.Body, name string, all map[string]json.RawMessage) {
	if all == nil {
		return
	}
	out := map[string]cty.Value{}
	for key, data := range all {
		t, err := ctyjson.ImpliedType(data)
		if err == nil {
			out[key], err = ctyjson.Unmarshal(data, t)
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %s", key, err)) // it was written as JSON here
		}
	}
	b.SetAttributeValue(name, cty.ObjectVal(out))
}
