package preparing

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var Providers = cli.Command{Name: "providers", Synopsis: "Show which modules need which providers", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("providers", "providers [OPTIONS]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.String("test-directory", "tests", "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	_, cfg, ds := a.Load()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	op, more := opening.Stored(a, opening.Access{})
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	fmt.Fprint(a.Out, "\nProviders required by configuration:\n.\n")
	writeRequirements(a.Out, cfg.Root, "")
	fmt.Fprintln(a.Out)
	if list := inState(op.State.Current); len(list) > 0 {
		fmt.Fprint(a.Out, "Providers required by state:\n\n")
		for _, p := range list {
			fmt.Fprintf(a.Out, "    provider[%s]\n\n", p)
		}
	}
	return a.Show(ds)
}}

// writeRequirements writes the providers of a module, and of the modules that it calls, as a tree.
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

// requirementLines returns a line for each provider that a module itself needs, with its version
// constraints under all local names.
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

// inState returns the providers of the resources in a state.
func inState(s *states.State) []addrs.Provider {
	known := map[addrs.Provider]bool{}
	for _, r := range s.Resources() {
		known[r.Provider.Provider] = true
	}
	return slices.SortedFunc(maps.Keys(known), addrs.Provider.Compare)
}
