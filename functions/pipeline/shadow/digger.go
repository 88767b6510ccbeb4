package shadow

import (
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// The format of Digger of 2025-11-21 (commit 9b9539b). Source: libs/comment_utils, and reportTerraformPlanOutput in
// cli/pkg/digger/digger.go. Digger names projects, and no directories and commits.
var (
	// diggerRun is the first line of a comment about one project.
	diggerRun = lazyregexp.New(`^<details [^>]*><summary>(plan|apply) for (.+) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([A-Z0-9+-]+\)</summary>$`)
	// diggerReport is the first line of a comment about several projects. The name of a project comes after its plan.
	diggerReport = lazyregexp.New(`^<details [^>]*><summary>Digger (?:run report at .+|latest run report)</summary>$`)
	diggerPlan   = lazyregexp.New(`^ *<details [^>]*><summary>(Plan|Apply) output</summary>$`)
	diggerCheck  = lazyregexp.New(`^ *<details [^>]*><summary>Terraform plan validation check \((.+)\)</summary>$`)
	diggerFailed = lazyregexp.New(`^ *<details [^>]*><summary>Error during (?:init|applying)\.</summary>$`)
	diggerNone   = lazyregexp.New(`^ *→ No changes in terraform output for (?:.*#)?(.+)$`)
	// diggerGroup is in a comment about the projects of one location.
	diggerGroup = lazyregexp.New(`^<details [^>]*><summary>Plan for (.+)</summary>$`)
	// diggerRow is a row of the table of all projects. It counts a replaced object once: as destroyed, or as created if the
	// plan creates the new object first.
	diggerRow = lazyregexp.New(`^\|:[a-z_]+: \*\*(.+)\*\* \|<a href='[^']*'>([a-z ]+)</a> \| <a href='[^']*'>Plan</a> \| (\d+) \| (\d+) \| (\d+)\|$`)
)

// readDigger reads a comment of Digger.
func readDigger(body string) []Claim {
	first, _, _ := strings.Cut(body, "\n")
	whole, apply := Claim{}, false
	if m := diggerRun.FindStringSubmatch(first); m != nil {
		whole.Project, apply = m[2], m[1] == "apply"
	} else if !diggerReport.MatchString(first) && !strings.HasPrefix(first, "# Group: ") && !strings.HasPrefix(first, "| Project | Status | Plan |") {
		return nil
	}
	r := diggerReader{whole: whole, apply: apply}
	for _, p := range parts(body) {
		if p.fenced {
			r.fenced(p.text)
			continue
		}
		for line := range strings.Lines(p.text) {
			r.line(strings.TrimRight(line, "\n"))
		}
	}
	r.next(nil)
	return r.out
}

// A diggerReader reads the parts of a comment, one after the other.
type diggerReader struct {
	whole Claim // what the first line of the comment says about all its plans
	apply bool
	now   *Claim // whose plan comes next, or has come
	out   []Claim
}

// next adds the present claim to out, if the claim has a result. It then makes c the present claim.
func (r *diggerReader) next(c *Claim) {
	if r.now != nil && r.now.Project != "" && (r.now.Counted || r.now.Failed || r.now.Cut || r.now.Applied) {
		r.out = append(r.out, *r.now)
	}
	r.now = c
}

// fenced reads a fenced block: the text of a plan or of an apply.
func (r *diggerReader) fenced(text string) {
	switch {
	case r.now == nil || r.now.Counted || r.now.Failed:
	case r.apply:
		r.now.Applied = strings.Contains(text, "Apply complete!")
	default:
		r.now.Plan = readText(text)
	}
}

// line reads a line outside of fenced blocks.
func (r *diggerReader) line(line string) {
	if m := diggerPlan.FindStringSubmatch(line); m != nil {
		r.next(&Claim{Project: r.whole.Project})
		r.apply = r.apply || m[1] == "Apply"
	} else if m := diggerGroup.FindStringSubmatch(line); m != nil {
		r.next(&Claim{Project: m[1]})
	} else if m := diggerCheck.FindStringSubmatch(line); m != nil && r.now != nil && r.now.Project == "" {
		r.now.Project = m[1]
	} else if m := diggerNone.FindStringSubmatch(line); m != nil {
		r.next(&Claim{Project: m[1], Plan: Plan{Counted: true}})
	} else if diggerFailed.MatchString(line) {
		r.next(&Claim{Project: r.whole.Project, Plan: Plan{Failed: true}})
	} else if m := diggerRow.FindStringSubmatch(line); m != nil {
		r.next(diggerTable(m))
	}
}

// diggerTable returns the claim in a row of the table; nil for a project without a result.
func diggerTable(m []string) *Claim {
	c := &Claim{Project: m[1]}
	switch m[2] {
	case "failed":
		c.Failed = true
	case "succeeded":
		n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
		c.Cut, c.OutputsUnknown, c.Objects = true, true, &Counts{Add: n(3), Change: n(4), Destroy: n(5)}
	default:
		return nil
	}
	return c
}
