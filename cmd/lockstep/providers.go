package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var providersCommand = command{name: "providers", synopsis: "Show which modules need which providers", run: func(a *app, args []string) int {
	f := a.newFlags("providers", "providers [OPTIONS]")
	f.vars(&varFlags{}) // the backend may need them
	f.String("test-directory", "tests", "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	_, cfg, ds := a.load()
	if ds.HasErrors() {
		return a.show(ds)
	}
	op, more := a.stored(access{})
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	fmt.Fprint(a.out, "\nProviders required by configuration:\n.\n")
	writeRequirements(a.out, cfg.Root, "")
	fmt.Fprintln(a.out)
	if list := inState(op.state.Current); len(list) > 0 {
		fmt.Fprint(a.out, "Providers required by state:\n\n")
		for _, p := range list {
			fmt.Fprintf(a.out, "    provider[%s]\n\n", p)
		}
	}
	return a.show(ds)
}}

// writeRequirements writes what a module needs, and the modules it calls, as a tree.
func writeRequirements(w io.Writer, m *config.Module, indent string) {
	lines := requirementLines(m)
	children := slices.Sorted(maps.Keys(m.Children))
	n := len(lines) + len(children)
	branch := func(i int) (head, further string) {
		if i == n-1 {
			return "└── ", "    "
		}
		return "├── ", "│   "
	}
	for i, line := range lines {
		head, _ := branch(i)
		fmt.Fprintf(w, "%s%s%s\n", indent, head, line)
	}
	for i, name := range children {
		head, further := branch(len(lines) + i)
		fmt.Fprintf(w, "%s%smodule.%s\n", indent, head, name)
		writeRequirements(w, m.Children[name], indent+further)
	}
}

// requirementLines returns a line for each provider that a module itself needs, with
// the versions that it asks for, whatever local names it has for it.
func requirementLines(m *config.Module) []string {
	versions := map[addrs.Provider][]string{}
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		r := m.RequiredProviders[name]
		list := versions[r.Source]
		for _, v := range r.Versions {
			list = append(list, v.Text)
		}
		versions[r.Source] = list
	}
	var lines []string
	for _, p := range slices.SortedFunc(maps.Keys(versions), addrs.Provider.Compare) {
		asked := strings.Join(versions[p], ",")
		if set, err := constraint.Parse(asked); err == nil {
			asked = set.String()
		}
		line := fmt.Sprintf("provider[%s] %s", p, asked)
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// inState returns the providers that look after what is in a state.
func inState(s *states.State) []addrs.Provider {
	known := map[addrs.Provider]bool{}
	for _, r := range s.Resources() {
		known[r.Provider.Provider] = true
	}
	return slices.SortedFunc(maps.Keys(known), addrs.Provider.Compare)
}

var providersSchemaCommand = command{name: "providers schema", synopsis: "Write the schemas of all providers that are used", run: func(a *app, args []string) int {
	var asJSON bool
	f := a.newFlags("providers schema", "providers schema -json")
	f.vars(&varFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "required: there is no other form")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if !asJSON {
		return a.usage("providers schema needs -json: there is no other form")
	}
	op := &operation{a: a}
	defer op.close()
	ds := op.openAll(workdir.LocalPaths{})
	if ds.HasErrors() {
		return a.show(ds)
	}
	schemas := map[addrs.Provider]*schema.Provider{}
	used := cfgAndState(op)
	for p := range used {
		s, more := op.pool.Schema(a.ctx, p)
		ds = append(ds, more...)
		schemas[p] = s
	}
	if ds.HasErrors() {
		return a.show(ds)
	}
	data, err := formats.ProviderSchemas(schemas)
	return max(a.writeJSON(data, err), a.show(ds))
}}

// cfgAndState returns the providers that the configuration and the state use.
func cfgAndState(o *operation) map[addrs.Provider]bool {
	used := map[addrs.Provider]bool{}
	for p := range o.cfg.ProviderRequirements() {
		used[p] = true
	}
	for _, p := range inState(o.state.Current) {
		used[p] = true
	}
	return used
}

// openAll opens the directory, the state and the providers that both need. There
// need not be a configuration.
func (o *operation) openAll(paths workdir.LocalPaths) diags.Diagnostics {
	var ds, more diags.Diagnostics
	if o.dir, ds = o.a.dir(); ds.HasErrors() {
		return ds
	}
	o.cfg, more = o.dir.Load()
	if o.cfg != nil {
		maps.Copy(o.a.files, o.cfg.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, o.openState(o.a.ctx, paths, lockFlags{}, "")...); ds.HasErrors() {
		return ds
	}
	return append(ds, o.openProviders(o.a.ctx)...)
}
