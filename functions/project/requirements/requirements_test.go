package requirements

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

func read(t *testing.T, src string) ([]Requirement, hcl.Diagnostics) {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "require", LabelNames: []string{"command"}}}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return Parse(content.Blocks)
}

// TestParse reads a block with everything in it.
func TestParse(t *testing.T) {
	got, ds := read(t, `
require "apply" {
  projects     = ["prod-*", "shared/**"]
  by           = ["@Acme/SRE", "Alice", "merge-queue[bot]"]
  permission   = "admin"
  approvals    = 2
  approved_by  = ["acme/sre"]
  codeowners   = true
  mergeable    = true
  up_to_date   = true
  resolved     = true
  draft        = false
  checks       = ["ci/*", "build by BuildKite"]
  labels       = ["Ready"]
  not_labels   = ["hold"]
  windows      = ["Mon-Fri 08:00-17:00 Europe/Berlin"]
  freeze       = ["2026-12-20/2027-01-06: year's end"]
  max_changes  = 50
  max_destroys = 0
  no_destroy   = ["aws_db_*"]
  no_risk      = ["public-ingress", "stateful-destroy"]
  override     = ["acme/leads"]
  alternative "owner" {
    codeowners = true
  }
}
require "plan" {
  draft = false
}
`)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	fifty, none := 50, 0
	want := []Requirement{{
		Command: "apply", At: "lockstep.hcl:2", Projects: []string{"prod-*", "shared/**"},
		Rules: Rules{
			By: []Party{{Org: "acme", Team: "sre"}, {Login: "alice"}, {Login: "merge-queue[bot]"}}, Permission: "admin",
			Approvals: 2, ApprovedBy: []Party{{Org: "acme", Team: "sre"}}, Codeowners: true, Mergeable: true, UpToDate: true, Resolved: true, Ready: true,
			Checks: []Check{{Pattern: "ci/*"}, {Pattern: "build", App: "buildkite"}}, Labels: []string{"ready"}, NotLabels: []string{"hold"},
			Windows: []Window{{"Mon-Fri 08:00-17:00 Europe/Berlin"}}, Freezes: []Freeze{{"2026-12-20/2027-01-06: year's end"}},
			MaxChanges: &fifty, MaxDestroys: &none, NoDestroy: []string{"aws_db_*"}, NoRisk: []string{"public-ingress", "stateful-destroy"},
		},
		Alternatives: []Alternative{{"owner", Rules{Codeowners: true}}}, Override: []Party{{Org: "acme", Team: "leads"}},
	}, {Command: "plan", At: "lockstep.hcl:27", Rules: Rules{Ready: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again []Requirement
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("read from JSON: %s", diff)
	}
}

// TestMistakes is the table of what is refused: each is an error with a range, and leaves no block.
func TestMistakes(t *testing.T) {
	for body, want := range map[string]string{
		`approval = 2`:                   "Unsupported argument",
		`group { }`:                      "Unsupported block type",
		`approvals = 0`:                  "a whole number from 1 to 20",
		`approvals = 1.5`:                "a whole number",
		`approvals = "2"`:                "a whole number",
		`approvals = 1e30`:               "a whole number",
		`approvals = -1`:                 "a whole number",
		`approvals = null`:               "a whole number",
		`approvals = var.n`:              "Variables not allowed",
		`codeowners = "yes"`:             "true or false",
		`codeowners = 1`:                 "true or false",
		`draft = true`:                   "draft = false",
		`permission = "read"`:            `"admin"`,
		`by = []`:                        "Empty list",
		`by = "alice"`:                   "list of texts",
		`by = [7]`:                       "list of texts",
		`by = [null]`:                    "list of texts",
		`by = ["a b"]`:                   "neither a login nor a team",
		`by = ["acme/"]`:                 "neither a login nor a team",
		`by = ["acme/a/b"]`:              "neither a login nor a team",
		`by = ["../x"]`:                  "neither a login nor a team",
		`approved_by = [""]`:             "neither a login nor a team",
		`checks = ["[a"]`:                "not a pattern",
		`checks = ["a by "]`:             "slug of an App",
		`checks = ["a by b c"]`:          "slug of an App",
		`checks = []`:                    "Empty list",
		`labels = [""]`:                  "name of a label",
		`labels = [" a"]`:                "name of a label",
		`projects = []`:                  "No projects",
		`projects = ["[x"]`:              "not a pattern",
		`projects = [""]`:                "not a pattern",
		`windows = ["Mon 8:00-9:00"]`:    "HH:MM",
		`windows = ["Mon 08:00-25:00"]`:  "HH:MM",
		`windows = ["Mon 08:00-08:00"]`:  "whole day",
		`windows = ["Mon 24:00-08:00"]`:  "whole day",
		`windows = ["Moon 08:00-09:00"]`: "no day",
		`windows = ["Mon 08:00"]`:        "HH:MM-HH:MM",
		`windows = ["Mon 08:00-09:00 Mars/Olympus"]`:   "time zone",
		`windows = ["Mon 08:00-09:00 Local"]`:          "time zone",
		`windows = ["always"]`:                         "DAYS HH:MM",
		`freeze = ["2026-12-20"]`:                      "FROM/TO",
		`freeze = ["2026-12-20/2026-12-19"]`:           "ends before it begins",
		`freeze = ["2026-13-20/2026-12-19"]`:           "not a day or a time",
		`freeze = ["2026-12-20/2026-12-24 Nowhere/X"]`: "time zone",
		`max_changes = -1`:                             "a whole number from 0",
		`no_destroy = ["{"]`:                           "not a pattern",
		`no_risk = ["stateful"]`:                       "There is no risk \"stateful\". Write one of stateful-destroy, stateful-replace, public-access, public-ingress, iam-widened",
		`no_risk = ["public-ingres"]`:                  "Did you mean \"public-ingress\"?",
		`no_risk = []`:                                 "Empty list",
		`override = ["renovate[bot]"]`:                 "only people can override",
		`override = ["x y"]`:                           "neither a login nor a team",
		"alternative \"a\" {\n}":                       "Empty alternative",
		"alternative \"a\" {\noverride = [\"a\"]\n}":   "Unsupported argument",
		"alternative \"\" {\ndraft = false\n}":         "Invalid alternative",
		"alternative \"a\" {\ndraft = false\n}\nalternative \"a\" {\ndraft = false\n}": "Invalid alternative",
		"alternative \"a\" {\napprovals = 99\n}":                                       "a whole number",
		`labels = [` + strings.Repeat(`"a",`, 101) + `]`:                               "Too many items",
		`labels = ["` + strings.Repeat(`a`, 501) + `"]`:                                "at most 500 bytes",
	} {
		got, ds := read(t, "require \"apply\" {\n"+body+"\n}\n")
		if !ds.HasErrors() || !strings.Contains(ds.Error()+fmt.Sprint(details(ds)), want) || len(got) > 0 {
			t.Errorf("%s: %v %v, %d blocks\nwant %s", body, ds, details(ds), len(got), want)
		}
		for _, d := range ds {
			if d.Subject == nil || d.Subject.Start.Line < 1 {
				t.Errorf("%s: there is no range", body)
			}
		}
	}
	for src, want := range map[string]string{
		`require "aply" {}`:                                                   "Invalid command",
		`require "override" {}`:                                               "Invalid command",
		"require \"plan\" {\nmax_changes = 3\n}":                              "Only for applies",
		"require \"plan\" {\noverride = [\"bob\"]\n}":                         "Only for applies",
		"require \"unlock\" {\nno_destroy = [\"x\"]\n}":                       "Only for applies",
		"require \"plan\" {\nno_risk = [\"iam-widened\"]\n}":                  "Only for applies",
		"require \"plan\" {\nalternative \"a\" {\nmax_destroys = 3\n}\n}":     "Only for applies",
		"require \"plan\" {\n}":                                               "Block that requires nothing",
		"require \"plan\" {\nresolved = false\n}":                             "Block that requires nothing",
		"require \"plan\" {\nalternative \"a\" {\nresolved = false\n}\n}":     "Empty alternative",
		strings.Repeat("require \"plan\" {\napprovals = 1\n}\n", maxBlocks+1): "Too many require blocks",
	} {
		if _, ds := read(t, src); !ds.HasErrors() || !strings.Contains(ds.Error(), want) {
			t.Errorf("%.80s: %v\nwant %s", src, ds, want)
		}
	}
}

func details(ds hcl.Diagnostics) (out []string) {
	for _, d := range ds {
		out = append(out, d.Detail)
	}
	return out
}

// TestUnreadableTimes holds that a time which cannot be read, as of another version, opens nothing.
func TestUnreadableTimes(t *testing.T) {
	now, _ := moment("2026-03-02T12:00", mustZone(t), false)
	if (Window{"always"}).Open(now) || !(Freeze{"never"}).Holds(now) {
		t.Error("a time that cannot be read opens the gate")
	}
}

// FuzzParse holds that no text makes the parser panic, and that what it reads can be asked.
func FuzzParse(f *testing.F) {
	f.Add(`approvals = 2`)
	f.Add(`windows = ["Sat-Mon 22:00-04:00 UTC"]`)
	f.Add("alternative \"a\" {\n  freeze = [\"2026-12-20/2027-01-06: x\"]\n}")
	f.Fuzz(func(t *testing.T, body string) {
		file, ds := hclparse.NewParser().ParseHCL([]byte("require \"apply\" {\n"+body+"\n}\n"), "lockstep.hcl")
		if ds.HasErrors() {
			return
		}
		content, ds := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "require", LabelNames: []string{"command"}}}})
		if ds.HasErrors() {
			return
		}
		all, _ := Parse(content.Blocks)
		for _, r := range all {
			r.About("apply", []string{"net"}, false)
			for _, c := range r.Checks {
				c.Matches("ci", "")
			}
		}
	})
}

func mustZone(t *testing.T) *time.Location {
	t.Helper()
	z, err := zone("UTC")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestParsePolicies reads policy blocks, right ones and others.
func TestParsePolicies(t *testing.T) {
	t.Parallel()
	parse := func(src string) ([]Requirement, hcl.Diagnostics) {
		f, ds := hclparse.NewParser().ParseHCL([]byte(src), "lockstep.hcl")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "policy", LabelNames: []string{"name"}}}})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return ParsePolicies(content.Blocks)
	}
	got, ds := parse("policy \"a\" {\n}\npolicy \"b\" {\n  dir = \"rules/./net/\"\n  namespaces = [\"net\", \"*\"]\n  data = [\"rules/net/data/\", \"lists\"]\n  rego = \"v0\"\n  projects = [\"prod-*\"]\n  override = [\"acme/sre\"]\n}\n")
	want := []Requirement{
		{Command: "apply", At: "lockstep.hcl:1", Rules: Rules{Policy: &Policy{Name: "a", Dir: "policy"}}},
		{
			Command: "apply", At: "lockstep.hcl:3", Projects: []string{"prod-*"}, Override: []Party{{Org: "acme", Team: "sre"}},
			Rules: Rules{Policy: &Policy{Name: "b", Dir: "rules/net", Data: []string{"rules/net/data", "lists"}, Namespaces: []string{"*"}, RegoV0: true}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || ds.HasErrors() {
		t.Error(ds, diff)
	}
	many := ""
	for i := range maxPolicies + 1 {
		many += fmt.Sprintf("policy \"p%d\" {\n}\n", i)
	}
	for src, want := range map[string]string{
		many:                                                      "at most 10 are allowed",
		"policy \"a\" {\n  dir = \"../x\"\n}":                     "is a path in the repository",
		"policy \"a\" {\n  dir = \"/x\"\n}":                       "is a path in the repository",
		"policy \"a\" {\n  dir = \"\"\n}":                         "is a path in the repository",
		"policy \"a\" {\n  dir = \"a/../..\"\n}":                  "is a path in the repository",
		"policy \"a\" {\n  data = [\"../x\"]\n}":                  "A directory with data is a path in the repository",
		"policy \"a\" {\n  data = [\"policy/.\"]\n}":              "not that of the policies",
		"policy \"a\" {\n  data = []\n}":                          "The argument \"data\" is empty",
		"policy \"a\" {\n  dir = 1\n}":                            "must be a text",
		"policy \"a b\" {\n}":                                     "The name consists of",
		"policy \"\" {\n}":                                        "The name consists of",
		"policy \"a\" {\n}\npolicy \"a\" {\n}":                    "Another policy block has the name \"a\"",
		"policy \"a\" {\n  rego = \"v2\"\n}":                      "The version of Rego is",
		"policy \"a\" {\n  namespaces = []\n}":                    "The argument \"namespaces\" is empty",
		"policy \"a\" {\n  namespaces = [\"data.main\"]\n}":       "is not the name of a package",
		"policy \"a\" {\n  namespaces = [\"\"]\n}":                "is not the name of a package",
		"policy \"a\" {\n  repository = \"policies\"\n}":          "one of the same account",
		"policy \"a\" {\n  repository = \"../x\"\n}":              "one of the same account",
		"policy \"a\" {\n  repository = \"\"\n}":                  "one of the same account",
		"policy \"a\" {\n  ref = \"main\"\n}":                     "A ref without a repository",
		"policy \"a\" {\n  repository = \"a/b\"\n  ref = \"\"\n}": "Invalid ref",
		"policy \"a\" {\n  projects = []\n}":                      "The argument \"projects\" is empty",
		"policy \"a\" {\n  override = []\n}":                      "The argument \"override\" is empty",
		"policy \"a\" {\n  approvals = 1\n}":                      "Its arguments are dir, data, repository, ref, namespaces, rego, projects, override",
	} {
		got, ds := parse(src)
		if !strings.Contains(fmt.Sprint(ds), want) || len(got) > maxPolicies {
			t.Errorf("%s: %v", src, ds)
		}
	}
}
