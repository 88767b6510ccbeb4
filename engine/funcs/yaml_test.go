package funcs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// aliases returns a document in which each line stands for nine of the line before.
func aliases(lines int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	return b.String()
}

func TestYAMLDecodeBounds(t *testing.T) {
	t.Parallel()
	nested := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	var wide, chain strings.Builder
	chain.WriteString("a0: &a0 [x]\n")
	for i := range 3000 {
		fmt.Fprintf(&wide, "- a%d: [x, {b: -1}]\n", i)
		fmt.Fprintf(&chain, "a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	var blocks strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&blocks, "%sa:\n", strings.Repeat(" ", i))
	}
	for _, c := range []struct{ name, src, want string }{
		{"flat and long", wide.String(), ""},
		{"as deep as may be", nested("[", "", "]", 1000), ""},
		{"lists", nested("[", "", "]", 1001), "nested more than 1000 levels deep"},
		{"far too deep", nested("[", "", "]", 100_000), "exceeded max depth"},
		{"mappings", nested("{a: ", "1", "}", 1001), "nested more than 1000 levels deep"},
		{"lists on a line", nested("- ", "1", "", 1001), "nested more than 1000 levels deep"},
		{"mappings by lines", blocks.String(), "nested more than 1000 levels deep"},
		{"aliases one in another", chain.String(), "nested more than 1000 levels deep"},
		{"some aliases", aliases(3), ""},
		{"many aliases", aliases(60), "stand for more than 1000000 values"},
		{"merged", "a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n", ""},
		{"an alias within itself", "a: &a [*a]\n", "anchor"},
		{"no aliases", "a: '&b'\nb: \"* * * * *\"\n", ""},
		{"no YAML", "a: &b [\n", "did not find expected node content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			_, err := yamlDecodeFunc.Call([]cty.Value{cty.StringVal(c.src)})
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
