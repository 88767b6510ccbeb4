package operating

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A report is at most this long, in bytes; the whole comment has a little more.
const reportLimit = 60_000

// report is a plan for people.
func (o *operation) report(p *plans.Plan, warnings diags.Diagnostics) string {
	said := o.said(warnings)
	text := render.PlanMarkdown(p, o.cfg, o.schemas, max(reportLimit-len(said), reportLimit/2))
	return comment.Cut(text+said, reportLimit)
}

// trouble says what went wrong.
func (o *operation) trouble(ds diags.Diagnostics) string { return comment.Cut(o.said(ds), reportLimit) }

// said returns diagnostics as one code block; nothing if there are none.
func (o *operation) said(ds diags.Diagnostics) string {
	var b strings.Builder
	p := &render.Printer{}
	for _, d := range ds {
		b.WriteString(p.Diagnostic(d, o.cfg.Files))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + comment.Fence("", strings.Trim(b.String(), "\n")) + "\n"
}

// results is what there is to show after an apply: outputs and warnings.
func (o *operation) results(s *states.State, warnings diags.Diagnostics) string {
	text := ""
	if s.HasOutputs() {
		var b strings.Builder
		(&render.Printer{}).Outputs(&b, s)
		text = fmt.Sprintf("<details><summary>Outputs</summary>\n\n%s\n\n</details>\n", comment.Fence("", b.String()))
	}
	return comment.Cut(text+o.said(warnings), reportLimit)
}

// secrets are texts that must not be shown, wherever they turn up.
type secrets map[string]bool

// Shorter ones are not looked for: they are parts of too many words, and taking them
// out would tell where they were.
const shortestSecret = 5

// secretsOf collects the sensitive values of a plan, which may be nil, and of the
// variables of an operation.
func secretsOf(p *plans.Plan, o *operation) secrets {
	found := secrets{}
	if o.cfg != nil && o.cfg.Root != nil && o.cfg.Root.Content != nil {
		for name, v := range o.cfg.Root.Variables {
			if value, ok := o.variables[name]; ok && (v.Sensitive || v.Ephemeral) {
				found.all(value)
			}
		}
	}
	if p == nil {
		return found
	}
	for _, c := range p.Changes {
		found.marked(c.Before)
		found.marked(c.After)
	}
	for _, c := range p.Drift {
		found.marked(c.Before)
		found.marked(c.After)
	}
	for _, c := range p.Outputs {
		if c.Sensitive {
			found.all(c.Before)
			found.all(c.After)
		}
	}
	return found
}

// marked takes what is marked sensitive in a value.
func (s secrets) marked(v cty.Value) {
	if v == cty.NilVal || !v.ContainsMarked() {
		return
	}
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		if x.HasMark(marks.Sensitive) {
			s.all(x)
			return false, nil
		}
		return true, nil
	})
}

// all takes all texts in a value.
func (s secrets) all(v cty.Value) {
	if v == cty.NilVal {
		return
	}
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, x cty.Value) (bool, error) {
		if x.IsKnown() && !x.IsNull() && x.Type() == cty.String {
			for line := range strings.Lines(x.AsString()) { // rendering indents them
				if line = strings.TrimSpace(line); len(line) >= shortestSecret {
					s[line] = true
				}
			}
		}
		return true, nil
	})
}

// from returns text with "(sensitive value)" in the place of each secret.
func (s secrets) from(text string) string {
	for secret := range s {
		text = strings.ReplaceAll(text, secret, "(sensitive value)")
	}
	return text
}
