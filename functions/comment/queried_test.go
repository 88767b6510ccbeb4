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
		{"with secrets", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 3}}, Secret: 1, Config: "resource \"x\" \"all_0\" {\n}\n"}},
		{"imported", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 30, Managed: 2}}, Import: &QueriedImport{Number: 12, File: "live/network/imports.tf"}}},
		{"imported in part", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 3000}}, Without: 1200, Secret: 1, Import: &QueriedImport{Number: 12, File: "live/network/imports.tf"}}},
		{"imported earlier", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 30}}, Import: &QueriedImport{Number: 9, Earlier: true}}},
		{"imported in vain", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 30}}, Import: &QueriedImport{Problem: "open a pull request from the branch b of acme/infra: GitHub says 403 Forbidden", Remedy: "The GitHub App needs the permission to write contents."}}},
		{"nothing to import", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 2, Managed: 2}}, Import: &QueriedImport{}}},
		{"only secrets to import", Queried{Lists: []QueriedList{{Address: "list.x.all", Found: 2}}, Secret: 2, Import: &QueriedImport{}}},
	} {
		c.Project, c.Dir = "network", "live/network"
		fmt.Fprintf(&b, "===== %s\n%s\n", c.name, c.Each(same, MaxQueryConfig).markdown())
	}
	fmt.Fprintf(&b, "===== failed\n%s\n", Failed{Project: "network", Verb: Query, Body: "```\nError: no\n```\n"}.markdown())
	golden.File(t, "testdata/queried.md", b.String())
	if got := many.Each(same, MaxQueryConfig); len(got.Objects) != MaxQueried {
		t.Errorf("%d objects", len(got.Objects))
	}
	hostile := Queried{Config: strings.Repeat("<", MaxQueryConfig)}
	for range 100 {
		all := strings.Repeat("<", 1000)
		hostile.Objects = append(hostile.Objects, QueriedObject{all, all, all, all})
	}
	if n := encodedSize(hostile.Each(same, MaxQueryConfig)); n > 350_000 {
		t.Errorf("%d bytes in a record", n)
	}
	generated.Config = strings.Repeat("x", MaxQueryConfig+1)
	if got := generated.Each(same, MaxQueryConfig); got.Config != "" {
		t.Error("too long a configuration is shown")
	}
	if got := two.Each(func(s string) string { return strings.ReplaceAll(s, "logs", "(hidden)") }, MaxQueryConfig); strings.Contains(got.markdown(), "logs") {
		t.Errorf("a secret is shown: %s", got.markdown())
	}
}

// TestImportPull holds what people read in a pull request with imports: of one object, of thirty, and of too many for one file, with
// names that try to be more than a text.
func TestImportPull(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, n := range []int{1, 30, 3000} {
		p := ImportPull{By: "alice", Number: 5, Queried: Queried{Project: "network", Lists: []QueriedList{{Address: "list.x.all", Found: n + 1, Managed: 1}}}}
		for i := range min(n, MaxQueried) {
			p.Objects = append(p.Objects, QueriedObject{Name: fmt.Sprintf("o%d", i), Identity: fmt.Sprintf(`{"id":%d}`, i)})
		}
		p.Objects[0].Name = "logs`@acme/sre`|<img src=x>\n\n# no"
		if n == 3000 {
			p.Without, p.Secret = 1200, 2
		}
		p.Objects = append(p.Objects, QueriedObject{Name: "managed", Managed: "x.y"})
		fmt.Fprintf(&b, "===== %s\n%s\n", p.Title(256), p.Body(65_536))
		if n == 3000 {
			for i := range p.Objects {
				p.Objects[i].Identity = strings.Repeat("&", maxQueriedText)
				p.Objects[i].Name = p.Objects[i].Identity
			}
			if got := p.Body(20_000); len(got) > 20_000 || strings.Contains(got, "managed |") {
				t.Errorf("%d bytes", len(got))
			}
			p.Project = strings.Repeat("n", 300)
			if got := p.Title(256); len(got) > 256 {
				t.Errorf("a title of %d bytes", len(got))
			}
		}
	}
	golden.File(t, "testdata/importpull.md", b.String())
}
