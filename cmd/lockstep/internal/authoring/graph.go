package authoring

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/graphs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var Graph = cli.Command{Name: "graph", Synopsis: "Write the graph of dependencies, in the DOT language", Run: func(a *cli.App, args []string) int {
	var o graphOptions
	f := a.NewFlags("graph", "graph [OPTIONS]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.StringVar(&o.kind, "type", "", "show the steps of plan, plan-refresh-only, plan-destroy or apply")
	f.StringVar(&o.plan, "plan", "", "show the steps of applying this saved plan")
	f.BoolVar(&o.cycles, "draw-cycles", false, "with -type or -plan: draw cycles in red")
	f.StringVar(&o.format, "format", "dot", "the language of the graph: dot, or mermaid for the graph of resources")
	f.Int("module-depth", -1, "")
	f.Bool("verbose", false, "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	if o.kind == "" && o.plan != "" {
		o.kind = "apply"
	}
	kind, known := graphKinds[o.kind]
	switch {
	case o.format != "dot" && o.format != "mermaid":
		return f.Refuse("Unsupported graph format", "-format must be dot or mermaid")
	case o.format == "mermaid" && o.kind != "":
		return f.Refuse("Unsupported graph format", "The steps of an operation are written in the DOT language only. Remove -format, or the options -type and -plan")
	case o.kind == "":
		return graphOfResources(a, o.format)
	case slices.Contains([]string{"validate", "eval"}, o.kind):
		return f.Refuse("Graph type no longer available", "Lockstep has no graph of the type %q. Use -type=plan for a similar one.", o.kind)
	case !known:
		return f.Refuse("Unsupported graph type", "-type must be plan, plan-refresh-only, plan-destroy or apply")
	}
	return graphOfOperation(a, kind, o)
}}

// graphOptions are the options of the command graph.
type graphOptions struct {
	kind, plan, format string
	cycles             bool
}

var graphKinds = map[string]graphs.Operation{
	"plan": graphs.Plan, "plan-refresh-only": graphs.Plan, "plan-destroy": graphs.PlanDestroy, "apply": graphs.Apply,
}

// graphOfOperation writes the graph of the steps of an operation, such as a plan. It does not validate the
// configuration first, because the graph may help users find an error in the configuration.
func graphOfOperation(a *cli.App, kind graphs.Operation, o graphOptions) int {
	in := graphs.Input{Operation: kind}
	op := opening.New(a)
	var ds, more diags.Diagnostics
	if o.plan != "" {
		var plan *plans.Plan
		plan, op, ds = opening.OpenPlan(a, a.Path(o.plan), cli.LockFlags{}, workdir.LocalPaths{}, "")
		if in.Config = op.Config; !ds.HasErrors() {
			in.State = plan.PriorState
			if kind == graphs.Apply {
				in.Plan = plan
			}
		}
	} else if op.Dir, ds = a.Dir(); !ds.HasErrors() {
		op.Config, more = a.LoadIfAny(op.Dir)
		in.Config = op.Config
		if ds = append(ds, more...); !ds.HasErrors() {
			ds = append(ds, op.OpenSelected(workdir.LocalPaths{}, cli.LockFlags{}, "")...)
		}
		if !ds.HasErrors() {
			in.State = op.State.Current
		}
	}
	defer op.Close()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	g := graphs.Build(in)
	if !o.cycles {
		for _, names := range g.Cycles() {
			ds = append(ds, diags.Errorf(nil, "Cycle: "+strings.Join(names, ", "), "Each of these steps would have to wait for another one. With -draw-cycles the graph shows how.")...)
		}
		if ds.HasErrors() {
			return a.Show(ds)
		}
	}
	if err := g.WriteDOT(a.Out, o.cycles); err != nil {
		return a.Show(diags.FromError("The graph cannot be written", err))
	}
	return 0
}

// graphOfResources writes the resources with their dependencies.
func graphOfResources(a *cli.App, format string) int {
	d, ds := a.Dir()
	cfg, more := a.LoadIfAny(d)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	rs, more := refs.Analyze(cfg)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.Show(ds)
	}
	if format == "mermaid" {
		writeMermaid(a.Out, resourceGraph(cfg, rs))
	} else {
		writeGraph(a.Out, cfg, rs)
	}
	return a.Show(ds)
}

// writeGraph writes the graph of a configuration's resources in the DOT language, with a cluster for each
// module. A dependency that follows from other dependencies is omitted.
func writeGraph(w io.Writer, cfg *config.Config, rs *refs.Refs) {
	g := resourceGraph(cfg, rs)
	fmt.Fprint(w, "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n")
	var last addrs.Module
	for _, n := range g.nodes {
		if n.Module != last {
			if !last.IsRoot() {
				fmt.Fprint(w, "  }\n")
			}
			fmt.Fprintf(w, "  subgraph \"cluster_%s\" {\n    label = %q\n    fontname = \"sans-serif\"\n", n.Module, n.Module.String())
			last = n.Module
		}
		indent := "  "
		if !last.IsRoot() {
			indent = "    "
		}
		fmt.Fprintf(w, "%s%q [label=%q];\n", indent, n.String(), n.Resource.String())
	}
	if !last.IsRoot() {
		fmt.Fprint(w, "  }\n")
	}
	for _, n := range g.nodes {
		for _, d := range g.reduced(n) {
			fmt.Fprintf(w, "  %q -> %q;\n", n.String(), d.String())
		}
	}
	fmt.Fprint(w, "}\n")
}

// writeMermaid writes a graph of resources in the language of Mermaid, which GitHub draws in Markdown.
// Source: https://mermaid.js.org/syntax/flowchart.html
func writeMermaid(w io.Writer, g graph) {
	fmt.Fprint(w, "flowchart RL\n")
	ids := map[addrs.ConfigResource]string{}
	var last addrs.Module
	for i, n := range g.nodes {
		if n.Module != last {
			if !last.IsRoot() {
				fmt.Fprint(w, "  end\n")
			}
			fmt.Fprintf(w, "  subgraph m%d[\"%s\"]\n", i, n.Module)
			last = n.Module
		}
		indent := "  "
		if !last.IsRoot() {
			indent = "    "
		}
		ids[n] = fmt.Sprint("n", i)
		fmt.Fprintf(w, "%s%s[\"%s\"]\n", indent, ids[n], n.Resource) // names are identifiers: nothing needs an escape
	}
	if !last.IsRoot() {
		fmt.Fprint(w, "  end\n")
	}
	for _, n := range g.nodes {
		for _, d := range g.reduced(n) {
			fmt.Fprintf(w, "  %s --> %s\n", ids[n], ids[d])
		}
	}
}

// A graph is the resources of a configuration with their direct dependencies.
type graph struct {
	nodes []addrs.ConfigResource // by module, outer first
	after map[addrs.ConfigResource][]addrs.ConfigResource
}

// resourceGraph returns the graph of a configuration's resources. If the provider block of a resource refers to
// other resources, the resource depends on them, too.
func resourceGraph(cfg *config.Config, rs *refs.Refs) graph {
	g := graph{after: map[addrs.ConfigResource][]addrs.ConfigResource{}}
	for _, m := range cfg.Order {
		for r := range m.Resources {
			n := addrs.ConfigResource{Module: m.Addr, Resource: r}
			g.nodes = append(g.nodes, n)
			seen := map[addrs.Object]bool{}
			g.add(n, addrs.Object{Module: m.Addr, Kind: addrs.KindResource, Res: r}, rs, seen)
			slices.SortFunc(g.after[n], addrs.ConfigResource.Compare)
		}
	}
	slices.SortFunc(g.nodes, addrs.ConfigResource.Compare)
	return g
}

func (g *graph) add(n addrs.ConfigResource, o addrs.Object, rs *refs.Refs, seen map[addrs.Object]bool) {
	for _, d := range rs.Resources(o) {
		switch {
		case seen[d]:
		case d.Kind == addrs.KindResource:
			if r := (addrs.ConfigResource{Module: d.Module, Resource: d.Res}); r != n {
				g.after[n] = append(g.after[n], r)
			}
		case d.Kind == addrs.KindProvider:
			seen[d] = true
			g.add(n, d, rs, seen)
			continue
		}
		seen[d] = true
	}
}

// reduced returns the direct dependencies of n that no other dependency implies. For example, if n depends on a
// and b, and a depends on b, it returns only a.
func (g *graph) reduced(n addrs.ConfigResource) []addrs.ConfigResource {
	if len(g.after[n]) < 2 {
		return g.after[n] // a single dependency follows from no other one
	}
	further := map[addrs.ConfigResource]bool{}
	var visit func(addrs.ConfigResource)
	visit = func(x addrs.ConfigResource) {
		for _, d := range g.after[x] {
			if !further[d] {
				further[d] = true
				visit(d)
			}
		}
	}
	for _, d := range g.after[n] {
		visit(d)
	}
	return slices.DeleteFunc(slices.Clone(g.after[n]), func(d addrs.ConfigResource) bool { return further[d] })
}
