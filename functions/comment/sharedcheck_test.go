package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// sharing returns a shared check run of n projects, whose names and plans have the given lengths.
func sharing(n, name, plan int, where string) SharedCheck {
	var c SharedCheck
	for i := range n {
		p := ProjectStatus{Name: fmt.Sprintf("%s%03d", strings.Repeat("n", name), i), Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: i}}}
		switch i % 10 {
		case 3:
			p.Standing = NoChanges
		case 7:
			p.Standing = PlanFailed
		}
		if where != "" {
			p.Whole = where + p.Name
		}
		c.Rows = append(c.Rows, p.SharedRow())
	}
	c.Body = func(i int) (string, error) { return fmt.Sprintf("**Plan:** %s\n", strings.Repeat("x", plan)), nil }
	return c
}

// TestSharedCheck shows a shared check run of 1, 12 and 100 projects.
func TestSharedCheck(t *testing.T) {
	var all string
	for _, test := range []struct {
		c     SharedCheck
		limit int
	}{
		{sharing(1, 3, 20, ""), 65535}, {sharing(12, 3, 20, "https://page.example.com/plan/"), 65535}, {sharing(100, 3, 2000, "aws s3 cp s3://bucket/"), 8000},
	} {
		text, err := test.c.Text(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintf("## %s\n\n%s\n%s\n", test.c.Title(255), test.c.Summary(test.limit), text)
	}
	golden.File(t, "testdata/sharedcheck.md", all)
}

// TestSharedCheckFits holds that a shared check run stays within GitHub's limits, and that each project is named in it.
func TestSharedCheckFits(t *testing.T) {
	const limit = 65535
	for _, name := range []int{3, 100, 197} {
		for _, plan := range []int{10, 1000, 100_000} {
			c := sharing(100, name, plan, "aws s3 cp s3://bucket/"+strings.Repeat("k", 300))
			c.Waiting = 20
			text, err := c.Text(limit)
			if err != nil || len(text) > limit || len(c.Summary(limit)) > limit || len(c.Title(255)) > 255 {
				t.Errorf("names of %d bytes, plans of %d: title %d, summary %d, text %d: %v", name, plan, len(c.Title(255)), len(c.Summary(limit)), len(text), err)
			}
			for _, r := range c.Rows {
				if !strings.Contains(c.Summary(limit), "`"+r.Label+"`") {
					t.Fatalf("names of %d bytes, plans of %d: the summary lacks %s", name, plan, r.Label)
				}
			}
		}
	}
}
