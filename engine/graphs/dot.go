package graphs

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Cycles returns the names of the nodes in each cycle, sorted.
func (g *Graph) Cycles() [][]string {
	members := map[int][]string{}
	for n, c := range g.cycles() {
		members[c] = append(members[c], n.name)
	}
	out := slices.Collect(maps.Values(members))
	for _, names := range out {
		slices.Sort(names)
	}
	slices.SortFunc(out, slices.Compare[[]string])
	return out
}

// WriteDOT writes the graph in the DOT language. If cycles is true, the edges of each cycle are red.
// (Terraform draws these edges in the wrong direction, unless a cycle has just two nodes.)
func (g *Graph) WriteDOT(w io.Writer, cycles bool) error {
	var red map[*node]int
	if cycles {
		red = g.cycles()
	}
	type line struct{ name, text string }
	var nodes []line
	var edges []string
	for _, n := range g.nodes {
		from := quoted(n)
		if n.label != "" {
			nodes = append(nodes, line{from[:len(from)-1], fmt.Sprintf("%s [label = %q, shape = %q]", from, n.label, n.shape)})
		}
		for x := range n.after {
			e := from + " -> " + quoted(x)
			if c := red[n]; c > 0 && c == red[x] {
				e += ` [color = "red", penwidth = "2.0"]`
			}
			edges = append(edges, e)
		}
	}
	// Sort by the name without its closing quote, as Terraform does.
	slices.SortStableFunc(nodes, func(x, y line) int { return strings.Compare(x.name, y.name) })
	slices.Sort(edges)
	out := bufio.NewWriter(w)
	out.WriteString("digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n")
	for _, n := range nodes {
		out.WriteString("\t\t" + n.text + "\n")
	}
	for _, e := range slices.Compact(edges) {
		out.WriteString("\t\t" + e + "\n")
	}
	out.WriteString("\t}\n}\n")
	return out.Flush()
}

// quoted returns a node's name as DOT writes it: quoted, after "[root] ".
func quoted(n *node) string {
	return `"[root] ` + strconv.Quote(n.name)[1:]
}
