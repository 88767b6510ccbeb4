package atlantis

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// HCL returns the document as lockstep.hcl: reading that gives the same projects and requirements. The
// notices are comments at its beginning. there reports whether a file is in the repository: Atlantis
// takes values from env/WORKSPACE.tfvars in a project's directory if it is there. configured are the
// directories with a configuration: equal projects are one block with a pattern if it is for them alone.
func (d Document) HCL(configured []string, there func(name string) bool) []byte {
	f := hclwrite.NewEmptyFile()
	w := &writer{body: f.Body()}
	w.comment("Written from " + FileName + ".")
	for _, n := range d.Notices {
		w.comment("")
		how := "not carried over"
		if n.Carried {
			how = "carried over in another form"
		}
		w.comment(n.Where() + ": " + how + ".")
		w.comment("  " + n.Instead)
	}
	if len(d.Exclude) > 0 {
		w.body.AppendNewline()
		texts(w.body, "exclude", d.Exclude)
	}
	if d.Discover != (len(d.Projects) == 0) {
		if len(d.Exclude) == 0 {
			w.body.AppendNewline()
		}
		w.body.SetAttributeValue("discover", cty.BoolVal(d.Discover))
	}
	lower := lower(d.Projects)
	if d.Automerge {
		w.automerge(d.DeleteBranch)
	}
	d.Projects = slices.Clone(d.Projects)
	for i, p := range d.Projects {
		d.Projects[i].DependsOn = unique(slices.Concat(p.DependsOn, lower[p.Group]))
		d.Projects[i].Group = 0
	}
	d = d.folded(configured, there)
	for _, p := range d.Projects {
		w.project(p, there)
	}
	for _, r := range d.Require {
		w.require(r)
	}
	return hclwrite.Format(f.Bytes())
}

type writer struct{ body *hclwrite.Body }

// comment adds a line, which is ours or has been made visible.
func (w *writer) comment(text string) {
	line := strings.TrimRight("# "+text, " ")
	w.body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte(line + "\n")}})
}

func (w *writer) block(kind string, labels ...string) *hclwrite.Body {
	w.body.AppendNewline()
	return w.body.AppendNewBlock(kind, labels).Body()
}

func (w *writer) automerge(deletes bool) {
	if b := w.block("automerge"); deletes {
		b.SetAttributeValue("delete_branch", cty.True)
	}
}

func (w *writer) project(p Project, there func(string) bool) {
	b := w.block("project", p.Name.Value)
	b.SetAttributeValue("dir", cty.StringVal(p.Dir.Value))
	workspace := p.Workspace.Value
	if workspace == "" {
		workspace = "default"
	} else {
		b.SetAttributeValue("workspace", cty.StringVal(workspace))
	}
	if len(p.DependsOn) > 0 {
		texts(b, "depends_on", p.DependsOn)
	}
	if p.WhenChanged != nil {
		texts(b, "when_changed", p.WhenChanged)
	}
	files := p.VarFiles
	if name := WorkspaceFile(p.Dir.Value, workspace); there(name) && !slices.ContainsFunc(files, func(t Text) bool { return t.Value == name }) {
		files = append(slices.Clone(files), Text{Value: name})
	}
	if files != nil {
		texts(b, "var_files", files)
	}
	if p.Variables != nil {
		b.SetAttributeValue("variables", object(p.Variables))
	}
	switch {
	case p.BackendFiles != nil:
		texts(b, "backend_config", p.BackendFiles)
	case p.BackendConfig != nil:
		b.SetAttributeValue("backend_config", object(p.BackendConfig))
	}
}

// lower returns the names of the projects of the next lower group, by group: those depend on the ones of lower groups
// in turn.
func lower(all []Project) map[int][]Text {
	groups := map[int][]Text{}
	for _, p := range all {
		groups[p.Group] = append(groups[p.Group], p.Name)
	}
	out := map[int][]Text{}
	numbers := slices.Sorted(maps.Keys(groups))
	for i, n := range numbers[min(1, len(numbers)):] {
		out[n] = groups[numbers[i]]
	}
	return out
}

// unique returns texts in their order, each once.
func unique(all []Text) []Text {
	var out []Text
	for _, t := range all {
		if !slices.ContainsFunc(out, func(o Text) bool { return o.Value == t.Value }) {
			out = append(out, t)
		}
	}
	return out
}

func (w *writer) require(r requirements.Requirement) {
	b := w.block("require", r.Command)
	if r.Projects != nil {
		var names []Text
		for _, name := range r.Projects {
			names = append(names, Text{Value: name})
		}
		texts(b, "projects", names)
	}
	if r.Approvals > 0 {
		b.SetAttributeValue("approvals", cty.NumberIntVal(int64(r.Approvals)))
	}
	if r.Mergeable {
		b.SetAttributeValue("mergeable", cty.True)
	}
	if r.UpToDate {
		b.SetAttributeValue("up_to_date", cty.True)
	}
}

// WorkspaceFile is the file of values that Atlantis adds to a project without being told.
//
// Source: https://www.runatlantis.io/docs/using-atlantis, its automatic files of values; they come last.
func WorkspaceFile(dir, workspace string) string { return path.Join(dir, "env", workspace+".tfvars") }

// texts sets a list of texts.
func texts(b *hclwrite.Body, name string, all []Text) {
	var items []hclwrite.Tokens
	for _, t := range all {
		items = append(items, hclwrite.TokensForValue(cty.StringVal(t.Value)))
	}
	b.SetAttributeRaw(name, hclwrite.TokensForTuple(items))
}

// object is a value with the given attributes.
func object(all map[string]json.RawMessage) cty.Value {
	out := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t, err := ctyjson.ImpliedType(all[name])
		if err == nil {
			out[name], err = ctyjson.Unmarshal(all[name], t)
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %s", name, err)) // it was written as JSON here
		}
	}
	return cty.ObjectVal(out)
}
