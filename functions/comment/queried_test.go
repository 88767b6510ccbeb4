package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestQueried holds what the answer to a query looks like, with names that try to be more than a text.
func TestQueried(t *testing.T) {
	t.Parallel()
	same := func(s string) string { return s }
	two := Queried{
		Lists: []QueriedList{{Address: "list.aws_s3_bucket.all", Found: 3, Managed: 1}, {Address: `list.aws_vpc.in["eu|1"]`, Found: 1, Unknown: 2}},
		Objects: []QueriedObject{
			{List: "list.aws_s3_bucket.all", Name: "logs`@acme/sre`|<img src=x>", Identity: `{"bucket":"logs"}`}, {List: "list.aws_s3_bucket.all", Name: "data", Identity: `{"bucket":"data"}`},
			{List: `list.aws_vpc.in["eu|1"]`, Name: strings.Repeat("long", 200), Identity: `{"id":"vpc-1"}`},
			{List: "list.aws_s3_bucket.all", Name: "state", Identity: `{"bucket":"state"}`, Managed: "aws_s3_bucket.state"},
		},
	}
	generated := two
	generated.Config, generated.Without = "resource \"aws_s3_bucket\" \"all_0\" {\n  bucket = \"```\"\n}\n", 2
	tooLong := two
	tooLong.Without = 3
	many := Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 10_000}}, Ended: true, Warnings: "```\nWarning: slow\n```\n"}
	for i := range 300 {
		many.Objects = append(many.Objects, QueriedObject{List: "list.x.all", Name: fmt.Sprint("o", i), Identity: "{}"})
	}
	var b strings.Builder
	for _, c := range []struct {
		name string
		Queried
	}{
		{"two lists", two}, {"generated", generated}, {"too long to show", tooLong}, {"many", many},
		{"all managed", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 2, Managed: 2}}}},
		{"nothing", Queried{Lists: []QueriedList{{Address: "list.x.all"}}}},
	} {
		c.Project, c.Dir = "network", "live/network"
		fmt.Fprintf(&b, "===== %s\n%s\n", c.name, c.Each(same).markdown())
	}
	fmt.Fprintf(&b, "===== failed\n%s\n", Failed{Project: "network", Verb: Query, Body: "```\nError: no\n```\n"}.markdown())
	golden.File(t, "testdata/queried.md", b.String())
	if got := many.Each(same); len(got.Objects) != MaxQueried {
		t.Errorf("%d objects", len(got.Objects))
	}
	hostile := Queried{Config: strings.Repeat("<", MaxQueryConfig)}
	for range 100 {
		all := strings.Repeat("<", 1000)
		hostile.Objects = append(hostile.Objects, QueriedObject{all, all, all, all})
	}
	if n := encodedSize(hostile.Each(same)); n > 350_000 {
		t.Errorf("%d bytes in a record", n)
	}
	generated.Config = strings.Repeat("x", MaxQueryConfig+1)
	if got := generated.Each(same); got.Config != "" {
		t.Error("too long a configuration is shown")
	}
	if got := two.Each(func(s string) string { return strings.ReplaceAll(s, "logs", "(hidden)") }); strings.Contains(got.markdown(), "logs") {
		t.Errorf("a secret is shown: %s", got.markdown())
	}
}
