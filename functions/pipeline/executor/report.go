package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// reportLimit is the maximum length of a report, in bytes. The rest of GitHub's 65,535 bytes is for the text
// around the report in a comment or a check.
const reportLimit = 60_000

// maxListed is the maximum number of actions in the list of those that an apply has not begun.
const maxListed = 50

// A reporter writes the results of a job for people: plans, errors, and the actions that an apply has not
// begun. It removes secrets from all texts. No text is longer than a comment on GitHub may be.
type reporter struct {
	hide    *secrets
	files   map[string]*hcl.File // the files that messages may point to
	config  *config.Config       // nil if none was read
	schemas formats.Schemas
	change  notes.EncryptionChange // the change that a merge would bring
}

// reporter returns a reporter for the present content of the checkout. It removes the secrets in hide from
// texts.
func (o *checkout) reporter(hide *secrets) reporter {
	return reporter{hide: hide, files: o.files(), config: o.Config, schemas: o.Schemas, change: o.ciphers.change}
}

// plan returns a plan for people, in Markdown of limited length. If something is left out, full is the whole
// plan as plain text.
func (r reporter) plan(p *plans.Plan, warnings diags.Diagnostics) (report, full string) {
	whole := r.hide.From(render.PlanMarkdown(p, r.schemas)) + r.hide.From(r.codeBlock(warnings))
	if len(whole) <= reportLimit {
		return r.change.Above(whole), ""
	}
	var b strings.Builder
	(&render.Printer{}).Plan(&b, p, r.config, r.schemas)
	full = r.hide.From(b.String() + "\n" + r.plainly(warnings))
	return r.change.Above(markdown.Cut(whole, reportLimit)), full
}

// trouble returns errors for people, in Markdown of limited length. If some are left out, full has all of them
// as plain text.
func (r reporter) trouble(ds diags.Diagnostics) (report, full string) {
	report, full = r.within(ds, reportLimit)
	return r.change.Above(report), full
}

// within returns diagnostics in Markdown of at most limit bytes. If some are left out, full has all of them as
// plain text.
func (r reporter) within(ds diags.Diagnostics, limit int) (report, full string) {
	whole := r.hide.From(r.codeBlock(ds))
	if len(whole) > limit {
		full = r.hide.From(r.plainly(ds))
	}
	return markdown.Cut(whole, limit), full
}

// remains returns the errors of an apply for people, and the actions that it has not begun. If errors are left
// out, full has all of them as plain text.
func (r reporter) remains(left []operation.Action, ds diags.Diagnostics) (report, full string) {
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
		list = fmt.Sprintf("\n<details><summary>Not begun: %d</summary>\n\n%s\n\n</details>\n", len(left), markdown.Fence("", strings.TrimSuffix(b.String(), "\n")))
	}
	report, full = r.within(ds, reportLimit-len(list))
	return report + r.hide.From(list), full
}

var verbs = map[plans.Action]string{plans.Create: "create", plans.Update: "update", plans.Delete: "destroy"}

// maxDiagnostics is the maximum number of diagnostics in a report and in its full text. It is limited because
// Lockstep searches a file for each one.
const maxDiagnostics = 2000

// plainly returns diagnostics as plain text. If it leaves some out, errors come first. Warnings with the same
// first line are written once.
func (r reporter) plainly(ds diags.Diagnostics) string {
	var b strings.Builder
	groups := render.GroupWarnings(ds)
	more := len(groups) - maxDiagnostics
	if more > 0 {
		groups = slices.SortedStableFunc(slices.Values(groups), func(x, y render.Group) int { return cmp.Compare(x.Severity, y.Severity) })[:maxDiagnostics]
	}
	p, files := &render.Printer{}, r.files
	for _, g := range groups {
		text := p.Diagnostic(g.Full(), files) // nobody has that file
		b.WriteString(strings.Replace(text, "  on "+commandFile+" line ", "  on the command in the comment, line ", 1))
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nThere are %d more problems, which are not shown.\n", more)
	}
	return b.String()
}

// codeBlock returns diagnostics as one code block; "" if there are none.
func (r reporter) codeBlock(ds diags.Diagnostics) string {
	text := strings.Trim(r.plainly(ds), "\n")
	if text == "" {
		return ""
	}
	return "\n" + markdown.Fence("", text) + "\n"
}

// results returns the report of a successful apply: outputs and warnings. If something is left out, full has
// everything as plain text.
func (r reporter) results(s *states.State, warnings diags.Diagnostics) (report, full string) {
	text := ""
	var b strings.Builder
	if s.HasOutputs() {
		(&render.Printer{}).Outputs(&b, s)
		text = fmt.Sprintf("<details><summary>Outputs</summary>\n\n%s\n\n</details>\n", markdown.Fence("", b.String()))
	}
	whole := r.hide.From(text + r.codeBlock(warnings))
	if len(whole) > reportLimit {
		full = r.hide.From(b.String() + "\n" + r.plainly(warnings))
	}
	return markdown.Cut(whole, reportLimit), full
}
