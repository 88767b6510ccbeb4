package executor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// reportLimit is how long a report is at most, in bytes: what is around it in a comment
// and a check has the rest of GitHub's 65,535.
const reportLimit = 60_000

// maxListed is how many actions are listed that were not begun.
const maxListed = 50

// report returns a plan for people, as Markdown that fits; and if that leaves something
// out, all of it as text.
func (o *checkout) report(hide *secrets, p *plans.Plan, warnings diags.Diagnostics) (report, full string) {
	said := hide.From(o.said(warnings))
	whole := hide.From(render.PlanMarkdown(p, o.Config, o.Schemas, math.MaxInt)) + said
	if len(whole) <= reportLimit {
		return whole, ""
	}
	var b strings.Builder
	(&render.Printer{}).Plan(&b, p, o.Config, o.Schemas)
	full = hide.From(b.String() + "\n" + o.plainly(warnings))
	text := hide.From(render.PlanMarkdown(p, o.Config, o.Schemas, max(reportLimit-len(said), reportLimit/2)))
	return comment.Cut(text+said, reportLimit), full
}

// trouble says what went wrong.
func (o *checkout) trouble(hide *secrets, ds diags.Diagnostics) string {
	return comment.Cut(hide.From(o.said(ds)), reportLimit)
}

// remains says what went wrong with an apply, and what it has not begun.
func (o *checkout) remains(hide *secrets, left []operation.Action, ds diags.Diagnostics) string {
	var b strings.Builder
	for i, a := range left {
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more\n", len(left)-i)
			break
		}
		fmt.Fprintf(&b, "%s %s\n", verbs[a.Verb], a.Object)
	}
	list := ""
	if len(left) > 0 {
		list = fmt.Sprintf("\n<details><summary>Not begun: %d</summary>\n\n%s\n\n</details>\n", len(left), comment.Fence("", strings.TrimSuffix(b.String(), "\n")))
	}
	said := comment.Cut(hide.From(o.said(ds)), reportLimit-len(list))
	return said + hide.From(list)
}

var verbs = map[plans.Action]string{plans.Create: "create", plans.Update: "update", plans.Delete: "destroy"}

// maxSaid is how many diagnostics are shown. Nobody reads more, and each one costs a
// search through its file.
const maxSaid = 100

// plainly returns diagnostics as text, errors first where not all are shown. Warnings
// under one headline are shown once.
func (o *checkout) plainly(ds diags.Diagnostics) string {
	var b strings.Builder
	groups := render.GroupWarnings(ds)
	more := len(groups) - maxSaid
	if more > 0 {
		groups = slices.SortedStableFunc(slices.Values(groups), func(x, y render.Group) int { return cmp.Compare(x.Severity, y.Severity) })[:maxSaid]
	}
	p, files := &render.Printer{}, o.files()
	for _, g := range groups {
		b.WriteString(p.Diagnostic(g.Full(), files))
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nThere are %d more problems, which are not shown.\n", more)
	}
	return b.String()
}

// said returns diagnostics as one code block; nothing if there are none.
func (o *checkout) said(ds diags.Diagnostics) string {
	text := strings.Trim(o.plainly(ds), "\n")
	if text == "" {
		return ""
	}
	return "\n" + comment.Fence("", text) + "\n"
}

// results is what there is to show after an apply: outputs and warnings.
func (o *checkout) results(hide *secrets, s *states.State, warnings diags.Diagnostics) string {
	text := ""
	if s.HasOutputs() {
		var b strings.Builder
		(&render.Printer{}).Outputs(&b, s)
		text = fmt.Sprintf("<details><summary>Outputs</summary>\n\n%s\n\n</details>\n", comment.Fence("", b.String()))
	}
	return comment.Cut(hide.From(text+o.said(warnings)), reportLimit)
}
