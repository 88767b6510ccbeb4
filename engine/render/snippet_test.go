package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Of long lines, what is around the mistake is shown; of many lines, the first and the last.
func TestLongSnippets(t *testing.T) {
	t.Parallel()
	show := func(src string, from, to int) string {
		start, end := hcl.Pos{Byte: from}, hcl.Pos{Byte: to}
		for _, p := range []*hcl.Pos{&start, &end} {
			p.Line = 1 + strings.Count(src[:p.Byte], "\n")
			p.Column = 1 + p.Byte - (strings.LastIndex(src[:p.Byte], "\n") + 1)
		}
		d := diags.Diagnostic{Severity: diags.Error, Summary: "Wrong", Subject: &hcl.Range{Filename: "x.tf.json", Start: start, End: end}}
		return (&Printer{}).Diagnostic(d, map[string]*hcl.File{"x.tf.json": {Bytes: []byte(src)}})
	}
	x, y := strings.Repeat("ä", 500_000), strings.Repeat("y", 1_000_000)
	long := show(x+"WRONG"+y, 1_000_000, 1_000_005)
	want := "   1: … " + strings.Repeat("ä", 50) + "WRONG" + strings.Repeat("y", 295) + " …\n"
	if !strings.Contains(long, want) || len(long) > 1000 {
		t.Errorf("%d bytes: %.1000s", len(long), long)
	}
	if all := show(x+y, 1000, 1_900_000); len(all) > 1000 || !strings.Contains(all, " …\n") {
		t.Errorf("%d bytes: %.1000s", len(all), all)
	}
	short := strings.Repeat("z", 400)
	if text := show(short, 10, 20); !strings.Contains(text, "   1: "+short+"\n") {
		t.Errorf("a line that is not too long: %s", text)
	}
	if text := show("a = {\n", 6, 6); !strings.Contains(text, "on x.tf.json line 2:\n   2: \n") {
		t.Errorf("the end of a file: %s", text)
	}
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	many := show(lines.String(), 0, lines.Len()-1)
	for _, want := range []string{"   1: line 1\n", "  30: line 30\n   …: (99940 lines left out)\n99971: line 99971\n", "100000: line 100000\n"} {
		if !strings.Contains(many, want) {
			t.Errorf("no %q in %.2000s", want, many)
		}
	}
}
