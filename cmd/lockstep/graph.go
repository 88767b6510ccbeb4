package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

var graphCommand = command{name: "graph", synopsis: "Write which resource depends on which, in the DOT language", run: func(a *app, args []string) int {
	var kind, plan string
	f := a.newFlags("graph", "graph [OPTIONS]")
	f.vars(&varFlags{}) // the backend may need them
	f.StringVar(&kind, "type", "", "")
	f.StringVar(&plan, "plan", "", "")
	f.Bool("draw-cycles", false, "")
	f.Int("module-depth", -1, "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	if kind != "" || plan != "" {
		return f.refuse("Unsupported graph type", "graph shows how the resources of the configuration depend on each other: leave out -type and -plan, which are not supported")
	}
	d, ds := a.dir()
	cfg, more := a.loadIfAny(d)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	rs, more := refs.Analyze(cfg)
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	writeGraph(a.out, cfg, rs)
	return a.show(ds)
}}

// writeGraph writes the resources of a configuration, modules as clusters, and of
// their dependencies those that do not follow from others.
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

// A graph is the resources of a configuration, and which depends directly on which.
type graph struct {
	nodes []addrs.ConfigResource // by module, outer first
	after map[addrs.ConfigResource][]addrs.ConfigResource
}

// resourceGraph looks through providers: who uses one depends on what it is
// configured with.
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

// reduced returns what n depends on directly but not by way of others, too.
func (g *graph) reduced(n addrs.ConfigResource) []addrs.ConfigResource {
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
