package preparing

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

var Modules = cli.Command{Name: "modules", Synopsis: "List the modules that the configuration calls", Run: func(a *cli.App, args []string) int {
	var asJSON bool
	f := a.NewFlags("modules", "modules [OPTIONS]")
	f.Vars(&cli.VarFlags{}) // sources and versions may need them
	f.BoolVar(&asJSON, "json", false, "print JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	d, ds := a.Dir()
	cfg, more := a.LoadIfAny(d)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	tree := calledModules(cfg.Root, "", cfg.Manifest().Lookup())
	switch {
	case asJSON:
		data, err := json.Marshal(modulesJSON{FormatVersion: "1.0", Modules: flat(tree)})
		return max(a.WriteJSON(data, err), a.Show(ds))
	case len(tree) == 0:
		fmt.Fprintln(a.Out, "No modules found in configuration.")
	default:
		fmt.Fprint(a.Out, "\nModules declared by configuration:\n.\n")
		writeModules(a.Out, tree, "")
		fmt.Fprintln(a.Out)
	}
	return a.Show(ds)
}}

// modulesJSON is the output of `modules -json`. Source: Terraform 1.11, format version 1.0.
type modulesJSON struct {
	FormatVersion string         `json:"format_version"`
	Modules       []calledModule `json:"modules"` // null if there are none
}

// A calledModule is a module call, with the source and version of the installed module.
type calledModule struct {
	Name    string `json:"key"`
	Source  string `json:"source"`
	Version string `json:"version"` // "" if not from a registry
	asked   string // the version constraint of the call, as written
	inner   []calledModule
}

// calledModules returns the module calls in m, sorted by name. key is the prefix of their keys in the manifest
// of installed modules: "" for the root module, such as "network." for others.
func calledModules(m *config.Module, key string, installed func(string) (source.Installed, bool)) []calledModule {
	var out []calledModule
	for _, name := range slices.Sorted(maps.Keys(m.Children)) {
		x, _ := installed(key + name)
		var asked []string
		for _, v := range m.Calls[name].Version {
			asked = append(asked, v.Text)
		}
		out = append(out, calledModule{
			Name: name, Source: source.Redact(x.Source), Version: x.Version, asked: strings.Join(asked, ","),
			inner: calledModules(m.Children[name], key+name+".", installed),
		})
	}
	return out
}

// flat returns a tree of module calls as a list. Each call comes before the calls in its module.
func flat(tree []calledModule) []calledModule {
	var out []calledModule
	for _, m := range tree {
		out = append(append(out, m), flat(m.inner)...)
	}
	return out
}

// writeModules prints modules as a tree.
func writeModules(w io.Writer, tree []calledModule, indent string) {
	for i, m := range tree {
		head, further := "├── ", "│   "
		if i == len(tree)-1 {
			head, further = "└── ", "    "
		}
		line := fmt.Sprintf("%s%s\"%s\"[%s]", indent, head, m.Name, m.Source)
		if m.Version != "" {
			line += " " + m.Version
		}
		if m.Version != "" && m.asked != "" && m.asked != m.Version {
			line += " (" + m.asked + ")"
		}
		fmt.Fprintln(w, line)
		writeModules(w, m.inner, indent+further)
	}
}
