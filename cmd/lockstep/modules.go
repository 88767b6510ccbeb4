package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

var modulesCommand = command{name: "modules", synopsis: "List the modules that the configuration calls", run: func(a *app, args []string) int {
	var asJSON bool
	f := a.newFlags("modules", "modules [OPTIONS]")
	f.vars(&varFlags{}) // sources and versions may need them
	f.BoolVar(&asJSON, "json", false, "in JSON, for programs")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	d, ds := a.dir()
	cfg, more := a.loadIfAny(d)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	tree := calledModules(cfg.Root, "", cfg.Manifest().Lookup())
	switch {
	case asJSON:
		data, err := json.Marshal(modulesJSON{FormatVersion: "1.0", Modules: flat(tree)})
		return max(a.writeJSON(data, err), a.show(ds))
	case len(tree) == 0:
		fmt.Fprintln(a.out, "No modules found in configuration.")
	default:
		fmt.Fprint(a.out, "\nModules declared by configuration:\n.\n")
		writeModules(a.out, tree, "")
		fmt.Fprintln(a.out)
	}
	return a.show(ds)
}}

// modulesJSON is what modules -json writes. Source: Terraform 1.11, format version 1.0.
type modulesJSON struct {
	FormatVersion string         `json:"format_version"`
	Modules       []calledModule `json:"modules"` // null if there are none
}

// A calledModule is a module call with what is installed for it.
type calledModule struct {
	Name    string `json:"key"`
	Source  string `json:"source"`
	Version string `json:"version"` // "" if not from a registry
	asked   string // which versions the call allows, as written
	inner   []calledModule
}

// calledModules returns the calls in m by name. key names m in the manifest, with a dot
// behind it unless it is the root.
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

// flat returns modules without their tree, each before those in it.
func flat(tree []calledModule) []calledModule {
	var out []calledModule
	for _, m := range tree {
		out = append(append(out, m), flat(m.inner)...)
	}
	return out
}

// writeModules writes modules as a tree.
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
