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
				names = append(names, fmt.Sprintf("[%s %s]", d.attribute, strings.Join(d.values, " ")))
			}
			got = append(got, strings.Join(names, " "))
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
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
	if title != "<summary>All 2 projects, and what differs" {
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
