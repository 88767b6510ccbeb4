package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// planOf is the plan of a service: its name, the size of its instance and the ID of what exists.
func planOf(name, size, id string) string {
	return fmt.Sprintf("**Plan:** 1 to add, 1 to change, 0 to destroy.\n\n<details open><summary>Changes</summary>\n\n```diff\n"+
		"# aws_instance.app will be updated in-place\n!   resource \"aws_instance\" \"app\" {\n        id   = %q\n!       size = \"s\" -> %q\n    }\n\n"+
		"# aws_s3_bucket.logs will be created\n+   resource \"aws_s3_bucket\" \"logs\" {\n+       bucket = \"%s-logs\"\n+       copies = 3\n+       days   = 30\n    }\n```\n\n</details>\n", id, size, name)
}

func service(i int, size string) ProjectStatus {
	name := fmt.Sprintf("services/svc-%03d", i)
	return ProjectStatus{Name: name, Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 1, Change: 1}, Hash: fmt.Sprintf("%064x", i+1)},
		Texts: Texts{Body: planOf(fmt.Sprintf("svc-%03d", i), size, fmt.Sprintf("i-%d", i*7)), Check: "lockstep/" + name}}
}

// TestManyAlike holds what the comment about 26 services with one change looks like, of which 2 differ in a value and 1 has
// failed.
func TestManyAlike(t *testing.T) {
	s := Status{Head: someSHA}
	for i := range 26 {
		size := "m"
		if i == 7 || i == 9 {
			size = "l"
		}
		s.Projects = append(s.Projects, service(i, size))
	}
	broken := service(26, "m")
	broken.Standing, broken.Body, broken.Hash, broken.Counts = PlanFailed, "```\nError: Unsupported argument\n```\n", "", counting.Counts{}
	s.Projects = append(s.Projects, broken, ProjectStatus{Name: "dns", Standing: NoChanges, Texts: Texts{Body: "**No changes.**\n"}})
	golden.File(t, "testdata/status-alike.md", s.Markdown(65535))
}

func TestAlikePlans(t *testing.T) {
	base := service(1, "m")
	for _, c := range []struct {
		name   string
		change func(*ProjectStatus)
		want   string // the sections, with what differs
	}{
		{"only the name", func(*ProjectStatus) {}, "services/svc-001 services/svc-002"},
		{"a value", func(p *ProjectStatus) { p.Body = planOf("svc-002", "xl", "i") }, `services/svc-001 services/svc-002 [size "m" "xl"]`},
		{"a value that contains another name", func(p *ProjectStatus) { p.Body = planOf("svc-009", "m", "i") }, `services/svc-001 services/svc-002 [bucket "svc-001-logs" "svc-009-logs"]`},
		{"the ID of an object that exists", func(p *ProjectStatus) { p.Body = planOf("svc-002", "m", "other") }, "services/svc-001 services/svc-002"},
		{"an action", func(p *ProjectStatus) {
			p.Body = strings.Replace(p.Body, "# aws_s3_bucket.logs will be created\n+", "# aws_s3_bucket.logs will be destroyed\n-", 1)
		}, "services/svc-001 | services/svc-002"},
		{"an address", func(p *ProjectStatus) {
			p.Body = strings.ReplaceAll(p.Body, "aws_s3_bucket.logs", "aws_s3_bucket.data")
		}, "services/svc-001 | services/svc-002"},
		{"an attribute", func(p *ProjectStatus) { p.Body = strings.ReplaceAll(p.Body, "size", "kind") }, "services/svc-001 | services/svc-002"},
		{"one line more", func(p *ProjectStatus) {
			p.Body = strings.Replace(p.Body, "+       bucket", "+       tags = \"x\"\n+       bucket", 1)
		}, "services/svc-001 | services/svc-002"},
		{"the standing", func(p *ProjectStatus) { p.Standing = OnMerge }, "services/svc-001 | services/svc-002"},
		{"the number of changes", func(p *ProjectStatus) { p.Counts.Add++ }, "services/svc-001 | services/svc-002"},
		{"an error", func(p *ProjectStatus) { p.Standing = PlanFailed }, "services/svc-001 | services/svc-002"},
		{"the full text is elsewhere", func(p *ProjectStatus) { p.Whole = "https://example.com" }, "services/svc-001 | services/svc-002"},
		{"no plan", func(p *ProjectStatus) { p.Body = "" }, "services/svc-001 | services/svc-002"},
		{"too many values", func(p *ProjectStatus) {
			p.Body = strings.NewReplacer(`"m"`, `"a"`, `"s"`, `"b"`, `"svc-002-logs"`, `"c"`, `= 30`, `= 31`, `= 3`, `= 4`).Replace(p.Body)
		}, "services/svc-001 | services/svc-002"},
		{"a value with a quote", func(p *ProjectStatus) { p.Body = strings.Replace(p.Body, `"m"`, `"a\"|b"`, 1) }, `services/svc-001 services/svc-002 [size "m" "a\"|b"]`},
	} {
		other := service(2, "m")
		c.change(&other)
		s := Status{Projects: []ProjectStatus{base, other}}
		var got []string
		for _, x := range s.sections() {
			var names []string
			for _, p := range x.projects {
				names = append(names, p.Name)
			}
			for _, d := range x.differing {
				names = append(names, fmt.Sprintf("[%s %s]", d.names(), strings.Join(d.values, " ")))
			}
			got = append(got, strings.Join(names, " "))
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestAlikeLines holds of two plans, each with one or more lines, whether they are shown as one, and which values differ then. The
// projects are web/one and web/two.
func TestAlikeLines(t *testing.T) {
	for _, c := range []struct {
		name, one, two string
		want           string // "apart", or the values that differ
	}{
		{"equal lines", `+ a = "x"`, `+ a = "x"`, ""},
		{"texts", `+ a = "x"`, `+ a = "y"`, `a "x" "y"`},
		{"numbers", `+ a = 1`, `+ a = 2`, `a 1 2`},
		{"fractions", `+ a = 1.5`, `+ a = 2`, `a 1.5 2`},
		{"negative numbers", `+ a = -1`, `+ a = -2`, `a 1 2`},
		{"the sign of a number", `+ a = 1`, `+ a = -1`, "apart"},
		{"truth values", `+ a = true`, `+ a = false`, "apart"},
		{"null", `+ a = null`, `+ a = "x"`, "apart"},
		{"what is not known yet", `+ a = (known after apply)`, `+ a = "x"`, "apart"},
		{"what is sensitive", `+ a = (sensitive value)`, `+ a = "x"`, "apart"},
		{"both not known yet", `+ a = (known after apply)`, `+ a = (known after apply)`, ""},
		{"a text and a number", `+ a = "1"`, `+ a = 1`, `a "1" 1`},
		{"an empty text", `+ a = ""`, `+ a = "x"`, `a "" "x"`},
		{"a text with a quote", `+ a = "x\"y"`, `+ a = "x"`, `a "x\"y" "x"`},
		{"a text with a backslash at its end", `+ a = "x\\"`, `+ a = "x"`, `a "x\\" "x"`},
		{"a text with =", `+ a = "x=1"`, `+ a = "x=2"`, `a "x=1" "x=2"`},
		{"a text that contains the line of another attribute", `+ a = "b = 1"`, `+ a = "b = 2"`, `a "b = 1" "b = 2"`},
		{"the value before", `! a = "x" -> "z"`, `! a = "y" -> "z"`, `a "x" "y"`},
		{"the value after", `! a = "x" -> "y"`, `! a = "x" -> "z"`, `a "y" "z"`},
		{"both values", `! a = "x" -> "y"`, `! a = "u" -> "v"`, `a "x" "u", a "y" "v"`},
		{"both values in another order", `! a = "x" -> "y"`, `! a = "y" -> "x"`, `a "x" "y", a "y" "x"`},
		{"a replacement", `! a = "x" -> "y" # forces replacement`, `! a = "x" -> "y"`, "apart"},
		{"the name", `+ a = "one"`, `+ a = "two"`, ""},
		{"the whole name", `+ a = "web/one"`, `+ a = "web/two"`, ""},
		{"the name within a text", `+ a = "x-one-y"`, `+ a = "x-two-y"`, ""},
		{"the name twice", `+ a = "one-one"`, `+ a = "two-two"`, ""},
		{"the name once and twice", `+ a = "one-one"`, `+ a = "two"`, `a "one-one" "two"`},
		{"the name and something else", `+ a = "one-x"`, `+ a = "two-y"`, `a "one-x" "two-y"`},
		{"the other one's name", `+ a = "two"`, `+ a = "one"`, `a "two" "one"`},
		{"one name in both", `+ a = "one"`, `+ a = "one"`, ""},
		{"one name in both, beside a difference", "+ a = \"one\"\n+ b = 1", "+ a = \"one\"\n+ b = 2", "b 1 2"},
		{"the name in an address", `+ resource "x" "one" {`, `+ resource "x" "two" {`, ""},
		{"the name in a comment", `# x.a["one"] will be created`, `# x.a["two"] will be created`, ""},
		{"a key in a comment", `# x.a["p"] will be created`, `# x.a["q"] will be created`, `x.a "p" "q"`},
		{"an action in a comment", `# x.a will be created`, `# x.a will be destroyed`, "apart"},
		{"a line that changes nothing", `  size = "i-1"`, `  size = "i-2"`, `size "i-1" "i-2"`},
		{"an attribute that changes nothing", `  id = "i-1"`, `  ip = "i-1"`, "apart"},
		{"removed lines", `- a = "x"`, `- a = "y"`, `a "x" "y"`},
		{"an action", `+ a = "x"`, `- a = "x"`, "apart"},
		{"the width of an attribute", `+ a  = "x"`, `+ a = "x"`, "apart"},
		{"the order of lines", "+ a = 1\n+ b = 1", "+ b = 1\n+ a = 1", "apart"},
		{"a line more", "+ a = 1", "+ a = 1\n+ b = 1", "apart"},
		{"one value in two lines", "+ a = \"x\"\n+ b = \"x\"", "+ a = \"y\"\n+ b = \"y\"", `a, b "x" "y"`},
		{"four values", "+ a = 1\n+ b = 2\n+ c = 3\n+ d = 4", "+ a = 5\n+ b = 6\n+ c = 7\n+ d = 8", "a 1 5, b 2 6, c 3 7, d 4 8"},
		{"five values", "+ a = 1\n+ b = 2\n+ c = 3\n+ d = 4\n+ e = 5", "+ a = 6\n+ b = 7\n+ c = 8\n+ d = 9\n+ e = 10", "apart"},
		{"an element of a list", `+ "x",`, `+ "y",`, ` "x" "y"`},
		{"a key of a map", `+ "k" = 1`, `+ "l" = 1`, ` "k" "l"`},
		{"an address of the internet", `+ a = "10.0.0.1"`, `+ a = "0.0.0.0/0"`, `a "10.0.0.1" "0.0.0.0/0"`},
		{"a line of a document", `+ rule: 1`, `+ rule: 2`, `rule: 1 2`},
		{"the ID of an object", `        id   = "i-1"`, `        id   = "i-2"`, ""},
		{"an unchanged range of addresses beside a change", "!   ingress {\n        cidr_blocks = \"10.0.0.0/8\"\n!       to_port = 80 -> 22", "!   ingress {\n        cidr_blocks = \"0.0.0.0/0\"\n!       to_port = 80 -> 22",
			`cidr_blocks "10.0.0.0/8" "0.0.0.0/0"`},
		{"an unchanged line of a document", "!   doc = <<-EOT\n            port: 22\n+           open: yes", "!   doc = <<-EOT\n            port: 80\n+           open: yes", "port: 22 80"},
		{"equal values of two attributes", "+ description = \"x\"\n+ cidr = \"x\"", "+ description = \"0.0.0.0/0\"\n+ cidr = \"0.0.0.0/0\"", `description, cidr "x" "0.0.0.0/0"`},
		{"an equal value in a list", "+ description = \"x\"\n+ cidrs = [\n+   \"x\",", "+ description = \"y\"\n+ cidrs = [\n+   \"y\",", `description, cidrs "x" "y"`},
		{"an equal value without an attribute", "+ description = \"x\"\n+   \"x\",", "+ description = \"y\"\n+   \"y\",", `description, … "x" "y"`},
		{"equal values of many attributes", "+ a = 1\n+ b = 1\n+ c = 1\n+ d = 1\n+ e = 1\n+ f = 1", "+ a = 2\n+ b = 2\n+ c = 2\n+ d = 2\n+ e = 2\n+ f = 2", `a, b, c, d, … 1 2`},
	} {
		of := func(name, lines string) ProjectStatus {
			p := service(1, "m")
			p.Name, p.Body = "web/"+name, "**Plan:** 1 to add.\n\n```diff\n"+lines+"\n```\n"
			return p
		}
		got := "apart"
		if all := (Status{Projects: []ProjectStatus{of("one", c.one), of("two", c.two)}}).sections(); len(all) == 1 {
			var parts []string
			for _, d := range all[0].differing {
				parts = append(parts, d.names()+" "+strings.Join(d.values, " "))
			}
			got = strings.Join(parts, ", ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAlikeOutsideCode holds that plans whose texts differ outside of the code are apart: values are read in code only.
func TestAlikeOutsideCode(t *testing.T) {
	for _, text := range []string{"**Plan:** 2 to add.", "**Plan:** 1 to add.\n\nWarning: 1", "Another plan."} {
		one, two := service(1, "m"), service(2, "m")
		one.Body, two.Body = "**Plan:** 1 to add.\n\n```diff\n+ a = 1\n```\n", text+"\n\n```diff\n+ a = 1\n```\n"
		if all := (Status{Projects: []ProjectStatus{one, two}}).sections(); len(all) != 2 {
			t.Errorf("%q is alike", text)
		}
	}
}

// TestAlikeGroups holds how many projects become sections: in which order, and which of them differ.
func TestAlikeGroups(t *testing.T) {
	for plans, want := range map[string]string{
		"a":       "0",
		"aa":      "0+1",
		"ab":      "0+1",
		"aX":      "0 1",
		"aXa":     "0+2 1",
		"XaXa":    "0+2 1+3",
		"aab":     "0+1+2",
		"abab":    "0+2+1+3",
		"aFa":     "0+2 1",
		"FF":      "0+1",
		"N":       "",
		"aNa":     "0+2",
		"aXYbXYc": "0+3+6 1+4 2+5",
		"12345":   "0 1 2 3 4", // numbers that are names of projects
	} {
		var s Status
		for i, kind := range plans {
			p := service(1, "m")
			p.Name = fmt.Sprintf("n%d", i)
			lines := fmt.Sprintf("+ v = %q", string(kind))
			switch {
			case kind == 'F':
				p.Standing, lines = PlanFailed, "+ v = 1"
			case kind == 'N':
				p.Body = ""
			case kind >= 'A' && kind <= 'Z':
				lines = fmt.Sprintf("+ %c = 1", kind)
			case kind >= '1' && kind <= '9':
				p.Name = fmt.Sprintf("d/%c%c", kind, kind)
				lines = fmt.Sprintf("+ a = %c1\n+ b = %c2\n+ c = %c3\n+ d = %c4\n+ e = %c%c", kind, kind, kind, kind, kind, kind)
			}
			if kind != 'N' {
				p.Body = "```diff\n" + lines + "\n```\n"
			}
			s.Projects = append(s.Projects, p)
		}
		var got []string
		for _, x := range s.sections() {
			if x.projects[0].Body == "" {
				continue
			}
			var names []string
			for _, p := range x.projects {
				for i, q := range s.Projects {
					if p.Name == q.Name {
						names = append(names, fmt.Sprint(i))
					}
				}
			}
			got = append(got, strings.Join(names, "+"))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", plans, text, want)
		}
	}
}

// TestAlikeIsInert holds that a name from a plan cannot become HTML in the line that unfolds the projects, and
// that a value cannot leave its cell.
func TestAlikeIsInert(t *testing.T) {
	plan := func(value string) string {
		return "**Plan:** 1 to add.\n\n```diff\n!   <img src=x onerror=alert(1)> = " + value + "\n!   ok = " + value + "x\n```\n"
	}
	one, two := service(1, "m"), service(2, "m")
	one.Body, two.Body = plan(`"a"`), plan(`"|</details>@acme"`)
	got := Status{Projects: []ProjectStatus{one, two}}.Markdown(65535)
	title, rest, _ := strings.Cut(got[strings.Index(got, "<summary>"):], "</summary>")
	if title != "<summary>All 2 projects, which differ in ok" {
		t.Errorf("the title is %q", title)
	}
	if table, _, _ := strings.Cut(rest, "The plan of"); !strings.Contains(table, "`\"\\|</details>@acme\"`") {
		t.Errorf("the table is\n%s", table)
	}
}

// TestAlikeRisks holds that plans with different risks are not shown as one, and plans with the same risks are.
func TestAlikeRisks(t *testing.T) {
	t.Parallel()
	for ports, want := range map[[2]int]int{{22, 22}: 1, {22, 3389}: 2} {
		var s Status
		for i, port := range ports {
			p := service(i, "m")
			p.Body = RiskLines([]Risk{{Name: "public-ingress", Object: "aws_security_group.a", Text: fmt.Sprintf("opens %d/tcp to 0.0.0.0/0", port)}}) + chain(3).Markdown() + p.Body
			s.Projects = append(s.Projects, p)
		}
		if got := s.sections(); len(got) != want || len(got[0].differing) != 0 {
			t.Errorf("%v: %d sections, %v", ports, len(got), got[0].differing)
		}
	}
}

// TestAlikeNames holds that the names of projects, which the author of a pull request chooses, do not hide addresses,
// accounts or ports.
func TestAlikeNames(t *testing.T) {
	for _, c := range []struct{ name, value, other, otherValue string }{
		{"net/10.0.0.0", `"10.0.0.0/8"`, "net/0.0.0.0", `"0.0.0.0/0"`},
		{"net/10.0.0.0", `"10.0.0.0/0"`, "net/0.0.0.0", `"0.0.0.0/0"`},
		{"net/10", `"10.0.0.0/8"`, "net/22", `"22.0.0.0/8"`},
		{"net/fd00", `"fd00::/7"`, "net/2a00", `"2a00::/7"`},
		{"accounts/111111111111", `"arn:aws:iam::111111111111:root"`, "accounts/999999999999", `"arn:aws:iam::999999999999:root"`},
		{"ports/443", `"443"`, "ports/22", `"22"`},
	} {
		one, two := service(1, "m"), service(1, "m")
		one.Name, one.Body = c.name, "```diff\n+ a = "+c.value+"\n```\n"
		two.Name, two.Body = c.other, "```diff\n+ a = "+c.otherValue+"\n```\n"
		all := Status{Projects: []ProjectStatus{one, two}}.sections()
		if len(all) == 1 && len(all[0].differing) == 0 {
			t.Errorf("%s of %s is hidden behind %s of %s", c.otherValue, c.other, c.value, c.name)
		}
	}
}
