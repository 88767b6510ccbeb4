package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestShown holds what the answers to "output" and "show" look like: for 1, 30, 300 and 3,000 entries, with texts that try to be more
// than a text, and for one entry that is too long. No answer is longer than a comment, and what is left out is counted.
func TestShown(t *testing.T) {
	t.Parallel()
	same := func(s string) string { return s }
	of := func(v Verb, arguments ...string) *Shown {
		return &Shown{Project: "network", Command: Command{Verb: v, Arguments: arguments}}
	}
	var b strings.Builder
	write := func(name string, s *Shown) {
		text := s.Each(same).markdown()
		if len(text) > 60_000 || encodedSize(*s) > 250_000 {
			t.Errorf("%s: %d bytes, %d in a record", name, len(text), encodedSize(*s))
		}
		if got := strings.Count(s.Text, "\n"); !s.Cut && !s.Object && got+s.Left != s.Total {
			t.Errorf("%s: %d lines and %d left of %d", name, got, s.Left, s.Total)
		}
		lines := strings.Split(text, "\n")
		if len(lines) > 16 {
			lines = append(append(lines[:8:8], "..."), lines[len(lines)-7:]...)
		}
		for i, l := range lines {
			lines[i] = cutTitle(l, 300)
		}
		fmt.Fprintf(&b, "===== %s\n%s\n", name, strings.Join(lines, "\n"))
	}
	for _, n := range []int{0, 1, 30, 300, 3000} {
		outputs, objects := of(Output), of(Show)
		for i := range n {
			outputs.Add(fmt.Sprintf("name_%d = %q\n", i, strings.Repeat("v", 40)))
			objects.Add(fmt.Sprintf("module.one[%d].aws_instance.of_some_name[\"key-%d\"]\n", i, i))
		}
		outputs.Hidden = n / 10
		write(fmt.Sprintf("%d outputs", n), outputs)
		write(fmt.Sprintf("%d objects", n), objects)
	}
	one := of(Output, "vpc_id")
	one.Add("vpc_id = \"```\\n<img src=x>@acme/sre\"\n")
	write("an output", one)
	secret := of(Output, "token")
	secret.Add("token = <sensitive>\n")
	secret.Hidden = 1
	write("a sensitive output", secret)
	module := of(Show, `module.a["x|y"]`)
	module.Add("module.a[\"x|y\"].aws_vpc.b\n")
	module.Add("module.a[\"x|y\"].aws_vpc.c\n")
	write("a module", module)
	object := of(Show, "aws_vpc.b")
	object.Object = true
	object.Add("# aws_vpc.b:\nresource \"aws_vpc\" \"b\" {\n    id       = \"vpc-1\"\n    password = (sensitive value)\n}\n")
	write("an object", object)
	long := of(Output)
	long.Add("long = \"" + strings.Repeat("<&", 100_000) + "\"\n")
	long.Add("short = 1\n")
	if !long.Cut || long.Left != 1 {
		t.Errorf("too long: cut %v, left %d", long.Cut, long.Left)
	}
	write("a long output, and another", long)
	fmt.Fprintf(&b, "===== failed\n%s\n", Failed{Project: "network", Verb: Show, Body: "```\nError: no\n```\n"}.markdown())
	golden.File(t, "testdata/shown.md", b.String())
	forged := Shown{Total: 3, Text: strings.Repeat("x", 1<<20)}
	if got := forged.Each(same); got.Text != "" || got.Left != 3 {
		t.Errorf("a text without end is shown")
	}
	if got := one.Each(func(s string) string { return strings.ReplaceAll(s, "vpc_id", "(hidden)") }); strings.Contains(got.Text, "vpc_id") {
		t.Errorf("a secret is shown: %s", got.Text)
	}
}
