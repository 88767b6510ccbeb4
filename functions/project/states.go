package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// locate finds out where a project's configuration keeps its state. The arguments of the
// block may be made of variables, whose values are in the files that the project has.
func (p *Project) locate(files fs.FS, c contents) {
	b := c.backend
	if c.broken {
		p.Nowhere = "its configuration cannot be read"
		return
	}
	if b == nil || b.Type != "s3" {
		// Of a local state the block says nothing, whatever path it names.
		p.stay(places.Of(c.kind(), nil, p.Workspace))
		return
	}
	attrs, _ := b.Body.JustAttributes() // blocks, the backend refuses
	if slices.ContainsFunc([]string{"endpoint", "endpoints"}, func(name string) bool { return attrs[name] != nil }) {
		p.Nowhere = "its backend names another server"
		return
	}
	for _, a := range attrs {
		if _, ds := a.Expr.Value(nil); ds.HasErrors() {
			b = evaluated(files, *p)
			break
		}
	}
	arguments := map[string]any{}
	for name, a := range attrs {
		v, err := argument(b, a.Expr)
		if err != nil {
			p.Nowhere = fmt.Sprintf("the argument %s of its backend is not known: %s", name, err)
			return
		}
		arguments[name] = v
	}
	p.stay(places.Of(b.Type, arguments, p.Workspace))
}

func (p *Project) stay(at places.Place, err error) {
	if p.Place = at; err != nil {
		p.Nowhere = err.Error()
	}
}

// evaluated returns the backend block of a project, with what evaluates its arguments.
// Functions see no files.
func evaluated(files fs.FS, p Project) *config.Backend {
	cfg, _ := loading.Load(loading.Input{Tree: source.FS(files, p.Dir), Early: early.New(early.Input{
		Workspace: p.Workspace, Sources: func() []inputs.Source { return variableFiles(files, p) },
	})})
	return cfg.Root.Backend
}

// argument returns the value of a backend's argument as JSON has it.
func argument(b *config.Backend, e hcl.Expression) (any, error) {
	v, ds := b.Value(e)
	if ds.HasErrors() {
		return nil, ds
	}
	if v == cty.NilVal || !v.IsWhollyKnown() {
		return nil, errors.New("it has no value yet")
	}
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return nil, err
	}
	var out any
	err = json.Unmarshal(data, &out)
	return out, err
}

// variableFiles are the files with values of a project's variables, as a plan takes them.
// What is wrong with one is said by the plan.
func variableFiles(files fs.FS, p Project) []inputs.Source {
	entries, _ := fs.ReadDir(files, p.Dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	var out []inputs.Source
	add := func(origin inputs.Origin, name, at string) {
		if src, err := fs.ReadFile(files, at); err == nil {
			s, _ := inputs.File(origin, name, src)
			out = append(out, s)
		}
	}
	for _, name := range inputs.AutoFiles(names) {
		add(inputs.FromAutoFile, name, path.Join(p.Dir, name))
	}
	for _, name := range p.VarFiles {
		add(inputs.FromNamedFile, name, name)
	}
	return out
}

// apart leaves out the projects that keep their states in one place: planned one
// after the other, each would destroy what the other has made. Most often a directory
// was copied, and its backend block with it. at are the lines that say where.
func apart(all []Project, at map[string]hcl.Range) ([]Project, diags.Diagnostics) {
	sharers := map[string][]string{}
	for _, p := range all {
		if p.Place.Backend == "s3" {
			sharers[p.Place.String()] = append(sharers[p.Place.String()], p.Name)
		}
	}
	var ds diags.Diagnostics
	all = slices.DeleteFunc(all, func(p Project) bool {
		names := sharers[p.Place.String()]
		if len(names) < 2 {
			return false
		}
		if p.Name == names[len(names)-1] {
			line := at[p.Name]
			ds = append(ds, diags.Errorf(&line, "Two projects with one state",
				"The projects %s keep their state at %s: each would destroy what the other has made. Give each a key of its own, or a workspace of its own in %s.",
				strings.Join(names, " and "), p.Place, FileName)...)
		}
		return true
	})
	return all, ds
}
