package comment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestDriftIssues holds the texts of the issues about drift and about applies, in each state.
func TestDriftIssues(t *testing.T) {
	t.Parallel()
	since, looked := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 11, 0, 0, 0, time.UTC)
	d := DriftIssue{Project: "network", Target: "network@default", Branch: "main", SHA: "4f2a1c9d0e4f2a1c9d0e", Since: since, Looked: looked, Objects: 1, Report: "`aws_vpc.a` has changed.\n"}
	many, ignored, problem, over, unwatched := d, d, d, d, d
	literal := d
	literal.Literals = Literals{More: 2, Left: []string{"aws_vpc.b: the object is gone"}, Lines: []LiteralLine{
		{"net/main.tf", 3, `  size = 1`, `  size = 2`}, {"net/main.tf", 7, "  name = \"```\"", `  name = "b"`}, {"net/other.tf", 1, `  a = true`, `  a = false`},
	}}
	many.Objects, many.Shortened = 10000, true
	ignored.Ignored = 3
	problem.Problem, over.Over, unwatched.Unwatched = "**Error:** no credentials", true, true
	r := RunTriggerIssue{Project: "app", Target: "app@default", Branch: "main", SHA: d.SHA, After: "network", Number: 12, Since: since, Looked: looked, Counts: counting.Counts{Change: 2}, Report: "`aws_lb.a` will change.\n"}
	done, unasked := r, r
	done.Over, unasked.Unwatched = true, true
	var b strings.Builder
	for _, x := range []interface {
		Title() string
		Body(int) string
	}{d, literal, many, ignored, problem, over, unwatched, r, done, unasked} {
		b.WriteString("# " + x.Title() + "\n\n" + x.Body(60000) + "\n")
	}
	golden.File(t, "testdata/driftissues.md", b.String())
}

// TestDriftIssueOfManyObjects holds that the issue about 10,000 objects fits, says how many there are, and how to see them all.
func TestDriftIssueOfManyObjects(t *testing.T) {
	t.Parallel()
	var changes strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&changes, "# aws_instance.web[%d] has changed\n!   resource \"aws_instance\" \"web\" {\n!       size = 1 -> 2\n    }\n", i)
	}
	report := "<details open><summary>Changes</summary>\n\n```diff\n" + changes.String() + "```\n\n</details>\n"
	var literals Literals
	for i := range 1000 {
		literals.Lines = append(literals.Lines, LiteralLine{"net/main.tf", i, strings.Repeat("a", 100), strings.Repeat("b", 100)})
		literals.Left = append(literals.Left, strings.Repeat("c", 100))
	}
	for _, limit := range []int{6000, 60000} {
		for _, body := range []string{
			DriftIssue{Project: "network", Target: "network@default", Objects: 10000, Ignored: 300, Report: report, Literals: literals}.Body(limit),
			RunTriggerIssue{Project: "network", Target: "network@default", Report: report}.Body(limit),
		} {
			if len(body) > limit || len(body) < limit/2 {
				t.Errorf("%d bytes of %d", len(body), limit)
			}
		}
	}
	body := DriftIssue{Project: "network", Target: "network@default", Objects: 10000, Report: report}.Body(60000)
	for _, want := range []string{"10000 objects of `network` changed outside of Lockstep", "Not all changes fit here"} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q: %s", want, body[len(body)-2000:])
		}
	}
}
