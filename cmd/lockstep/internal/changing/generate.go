package changing

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// generateTo returns an error if the file for generated configuration already exists. Such a file is never
// overwritten.
func generateTo(a *cli.App, path string) diags.Diagnostics {
	if _, err := os.Stat(a.Path(path)); err == nil {
		return diags.Errorf(nil, "Target generated file already exists",
			"The option -generate-config-out writes a new file, but %s already exists. Name another file, or move this one.", path)
	}
	return nil
}

// A generation is the result of the option -generate-config-out.
type generation struct {
	blocks []generating.Generated // for imported objects that had none
	found  engine.Found           // the objects, as they were read
	ok     bool                   // a plan can be made, possibly in spite of errors
}

// generate writes resource blocks to the file that -generate-config-out names: one block for each import block
// whose target has no resource block. It also adds this file to the configuration in memory.
func generate(o *opening.Operation, f *operationFlags, v cli.View) (g generation, ds diags.Diagnostics) {
	g.blocks, g.found, ds = engine.Generate(o.App.Ctx, o.RunWith(f.parallelism, v), o.State.Current)
	if ds.HasErrors() && len(g.found.Failed) == 0 {
		return g, ds
	}
	if g.ok = len(g.blocks) == 0; g.ok {
		return g, ds
	}
	ds = append(ds, diags.Warningf(nil, "Config generation is experimental",
		"The generated configuration is a draft. Check it before you apply it.")...)
	text, path := generating.File(g.blocks), o.App.Path(f.generate)
	if err := workdir.WriteFile(path, text, 0o644); err != nil {
		return g, append(ds, diags.FromError("Failed to write generated configuration", err)...)
	}
	var more diags.Diagnostics
	more, g.ok = loadWith(o, generatedName(path), text)
	if ds = append(ds, more...); g.ok {
		v.Say("\nThe new resource blocks of imported objects are in %s. Check them, and move them into your configuration.\n", f.generate)
	}
	return g, ds
}

// loadWith reads the configuration once more, with an additional file in the root module. It returns false if
// there are errors.
func loadWith(o *opening.Operation, name string, text []byte) (diags.Diagnostics, bool) {
	installed, err := o.Dir.Installed()
	if err != nil {
		return diags.FromError("Invalid module manifest", err), false
	}
	cfg, ds := loading.Load(loading.Input{Tree: withFile{source.Dir(o.Dir.Path), name, text}, Installed: installed, Early: o.Dir.Early(), Language: o.Dir.Language(), Budget: o.App.Budget})
	o.Config = cfg
	maps.Copy(o.App.Files, cfg.Files)
	return ds, !ds.HasErrors()
}

// generatedName returns the name under which generated configuration is read: the base name of path, ending in
// ".tf". The configuration is part of the root module, even if path is in another directory.
func generatedName(path string) string {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, ".tf") {
		name += ".tf"
	}
	return name
}

// A withFile is a tree of source files with an additional file in the root module.
type withFile struct {
	source.Tree
	name string
	text []byte
}

func (t withFile) ReadDir(dir string) ([]string, error) {
	names, err := t.Tree.ReadDir(dir)
	if dir == "." && err == nil && !slices.Contains(names, t.name) {
		names = append(slices.Clone(names), t.name)
		slices.Sort(names)
	}
	return names, err
}

func (t withFile) ReadFile(name string) ([]byte, error) {
	if name == t.name {
		return t.text, nil
	}
	return t.Tree.ReadFile(name)
}

// note sets the generated block of each imported object in the object's planned change.
func (g generation) note(p *plans.Plan) {
	for _, x := range g.blocks {
		for _, c := range p.Changes {
			if c.Addr.Instance == x.Addr && c.Importing != nil {
				c.GeneratedConfig = x.Text
			}
		}
	}
}
