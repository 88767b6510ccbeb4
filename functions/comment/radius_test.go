package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// chain is a radius of n resources in a row, of which the first is replaced.
func chain(n int) Radius {
	r := Radius{Objects: n - 1}
	for i := range n {
		r.Nodes = append(r.Nodes, RadiusNode{Name: fmt.Sprintf("aws_subnet.s%d", i), Objects: 1 + i%2})
		if i > 0 {
			r.Edges = append(r.Edges, [2]int{i - 1, i})
		}
	}
	r.Nodes[0].Action = "replace"
	return r
}

// breaking are names that are made to break a picture.
var breaking = []string{
	"end", "graph TD", "a\"]\nn9[\"x", "a`b", "```", "<script>alert(1)</script>", "#quot;", "a;b", "click n0 href", "%%{init: {}}%%", "a|b", "\u202e\u0000", "--> n1",
	"style n0 fill:red", "subgraph", "&lt;", "javascript:alert(1)", "äöü", strings.Repeat("x", 500), "a]}>)", "$$x^2$$", "fa:fa-ban", "::: changed", "@alice", "\\n",
}

// TestRadius holds the words and pictures of what depends on changes.
func TestRadius(t *testing.T) {
	t.Parallel()
	hostile := Radius{Objects: len(breaking)}
	for i, name := range breaking {
		hostile.Nodes = append(hostile.Nodes, RadiusNode{Name: name, Objects: 1, Action: "delete"})
		hostile.Edges = append(hostile.Edges, [2]int{0, i})
	}
	several := chain(4)
	several.Readers = []string{"app", "dns"}
	var b strings.Builder
	for _, c := range []struct {
		title   string
		r       Radius
		picture bool
	}{
		{"nothing", Radius{}, false}, {"one", chain(2), true}, {"several, with readers", several, true}, {"30 nodes", chain(30), true}, {"31 nodes", chain(31), false},
		{"a reader", Radius{Readers: []string{"app"}}, false}, {"many readers", Radius{Readers: strings.Fields("a b c d e f g h i")}, false}, {"hostile", hostile, true},
	} {
		text := c.r.Markdown()
		if strings.Contains(text, "```mermaid") != c.picture || len(text) > 10_000 {
			t.Errorf("%s: a picture %t, %d bytes", c.title, !c.picture, len(text))
		}
		if c.title != "30 nodes" {
			fmt.Fprintf(&b, "### %s\n\n%s", c.title, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "n") && strings.Contains(line, "[") && strings.Count(line, "\"") != 2 {
				t.Errorf("%s: %s", c.title, line)
			}
		}
		// A shortened text has the picture as a whole, or not at all.
		plan := text + "```diff\n" + strings.Repeat("# aws_a.b will be created\n+ resource \"aws_a\" \"b\" {\n+     x = 1\n  }\n\n", 200) + "```\n"
		if short := markdown.CutTo(plan, len(text)+1000, ""); strings.Contains(short, "not listed: ") && !strings.Contains(short, "to create.*") || strings.Contains(short, "n0[") && !strings.Contains(short, "```mermaid\n"+c.r.mermaid()+"```\n") {
			t.Errorf("%s: a part of the picture is left:\n%s", c.title, short)
		}
	}
	golden.File(t, "testdata/radius.md", b.String())
}
