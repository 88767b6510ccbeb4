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
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var Providers = cli.Command{Name: "providers", Synopsis: "Show which modules need which providers", Run: func(a *cli.App, args []string) int {
	var testDir string
	f := a.NewFlags("providers", "providers [OPTIONS]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.StringVar(&testDir, "test-directory", testfiles.DefaultDirectory, "the directory with test files")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	d, ds := a.Dir()
	suite, more := d.LoadTests("", testDir)
	a.Remember(suite)
	if ds = append(ds, more...); !ds.HasErrors() && suite.Empty() {
		ds = append(ds, cli.NoConfiguration(d)...)
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	op, more := opening.Stored(a, opening.Access{})
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	fmt.Fprint(a.Out, "\nProviders required by configuration:\n.\n")
	writeTree(a.Out, requirementsOf(suite.Config.Root, suite.Files), "")
	fmt.Fprintln(a.Out)
	if list := inState(op.State.Current); len(list) > 0 {
		fmt.Fprint(a.Out, "Providers required by state:\n\n")
		for _, p := range list {
			fmt.Fprintf(a.Out, "    provider[%s]\n\n", p)
		}
	}
	return a.Show(ds)
}}

// A branch is a line of an indented tree, with the lines below it.
type branch struct {
	line  string
	below []branch
}

// requirementsOf returns the tree of the providers that a module needs: the module itself, its tests if it is a
// root module, and the modules that it calls.
func requirementsOf(m *config.Module, tests []*testfiles.File) []branch {
	var out []branch
	for _, line := range requirementLines(m) {
		out = append(out, branch{line: line})
	}
	for _, f := range tests {
		file := branch{line: f.Key()}
		for _, r := range f.Runs {
			if r.Config != nil {
				file.below = append(file.below, branch{"run." + r.Name, requirementsOf(r.Config.Root, nil)})
			}
		}
		out = append(out, file)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Children)) {
		out = append(out, branch{"module." + name, requirementsOf(m.Children[name], nil)})
	}
	return out
}

func writeTree(w io.Writer, tree []branch, indent string) {
	for i, b := range tree {
		head, further := "├── ", "│   "
		if i == len(tree)-1 {
			head, further = "└── ", "    "
		}
		fmt.Fprintf(w, "%s%s%s\n", indent, head, b.line)
		writeTree(w, b.below, indent+further)
	}
}

// requirementLines returns a line for each provider that the module m requires, without the modules that m
// calls. If m has several local names for a provider, the line has the version constraints of all of them.
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
