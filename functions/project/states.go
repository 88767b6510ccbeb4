package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// unreadable is the reason why the state of a project is unknown if the project's files have errors.
const unreadable = "its configuration cannot be read"

// locate sets the place of a project's state. The block's arguments may contain variables, whose values come
// from the project's files.
func (p *Project) locate(files fs.FS, c contents) {
	b := c.backend
	if c.broken {
		p.Nowhere = unreadable
		return
	}
	given := p.BackendConfig
	if u := p.Unit; u != nil && u.Problem != "" {
		p.Nowhere = u.Problem
		return
	} else if u != nil && u.Backend == p.Backend {
		given = maps.Clone(u.Config)
		maps.Copy(given, p.BackendConfig)
	}
	if p.Backend != "s3" {
		// The path in the block of a local state is ignored: Lockstep chooses the path.
		p.stay(places.Of(p.Backend, nil, p.Workspace))
		return
	}
	attrs := hcl.Attributes{}
	if b != nil && b.Type == p.Backend {
		attrs, _ = b.Body.JustAttributes() // the backend refuses blocks
	}
	if slices.ContainsFunc([]string{"endpoint", "endpoints"}, func(name string) bool { return attrs[name] != nil || given[name] != nil }) {
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
	for name, data := range given {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			p.Nowhere = fmt.Sprintf("the argument %s of its backend_config is not known: %s", name, err)
			return
		}
		arguments[name] = v
	}
	p.stay(places.Of(p.Backend, arguments, p.Workspace))
}

func (p *Project) stay(at places.Place, err error) {
	if p.Place = at; err != nil {
		p.Nowhere = err.Error()
	}
}

// evaluated returns the backend block of a project, with the evaluator of its arguments. Functions
// see no files.
func evaluated(files fs.FS, p Project) *config.Backend {
	cfg, _ := loading.Load(loading.Input{Tree: source.FS(files, p.Dir), Early: early.New(early.Input{
		Workspace: p.Workspace, Sources: func() []inputs.Source { return variableFiles(files, p) },
	})})
	return cfg.Root.Backend
}

// configure adds the arguments in the files of backend_config to those in lockstep.hcl. at is the range for
// diagnostics.
func (p *Project) configure(files fs.FS, at hcl.Range) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, name := range p.BackendFiles {
		src, err := fs.ReadFile(files, name)
		if err != nil {
			ds = append(ds, diags.Errorf(&at, "File of backend_config is missing", "The backend_config of the project %q names the file %s, which is not in the repository. Add it, or correct the list.", p.Name, name)...)
			continue
		}
		expressions, more := inputs.ParseFile(name, src)
		ds = append(ds, more...)
		for argument, e := range expressions {
			v, more := grammar.Literal(e)
			if ds = append(ds, diags.FromHCL(more)...); more.HasErrors() {
				continue
			}
			if p.BackendConfig == nil {
				p.BackendConfig = map[string]json.RawMessage{}
			}
			p.BackendConfig[argument] = v
		}
	}
	return ds
}

// argument returns the value of a backend's argument, as encoding/json decodes it.
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

// variableFiles returns the files with values of a project's variables, as a plan reads them. The plan reports
// their errors.
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
	if s, err := inputs.Settings("", p.Variables); err == nil {
		out = append(out, s)
	}
	return out
}

// dropSharedStates removes projects that share a state, with an error for each. If such projects were applied
// one after another, each apply would destroy the objects of the other project. Usually somebody copied a
// directory together with its backend block. at are the ranges for diagnostics.
func dropSharedStates(all []Project, at map[string]hcl.Range) ([]Project, diags.Diagnostics) {
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
				"The projects %s keep their state at %s: each would destroy the objects of the other. Give each a key of its own, or a workspace of its own in %s.",
				strings.Join(names, " and "), p.Place, FileName)...)
		}
		return true
	})
	return all, ds
}
