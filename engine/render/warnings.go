package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Group is a diagnostic, and the number of similar ones that are left out.
type Group struct {
	diags.Diagnostic
	More int
}

// GroupWarnings groups warnings; see [Groups].
func GroupWarnings(ds diags.Diagnostics) []Group { return Groups(ds, diags.Warning) }

// Groups groups diagnostics of some severities that have the same headline and refer to places in the
// configuration, so that a construct used everywhere does not fill pages. Every other diagnostic is a group of
// its own, even if it is a warning about a check block. The groups are in the order of ds.
func Groups(ds diags.Diagnostics, of ...diags.Severity) []Group {
	out := make([]Group, 0, len(ds))
	type kind struct {
		diags.Severity
		summary string
	}
	at := map[kind]int{}
	for _, d := range ds {
		if !slices.Contains(of, d.Severity) || d.Subject == nil || d.Check {
			out = append(out, Group{Diagnostic: d})
			continue
		}
		k := kind{d.Severity, d.Summary}
		if i, ok := at[k]; ok {
			out[i].More++
			continue
		}
		at[k] = len(out)
		out = append(out, Group{Diagnostic: d})
	}
	return out
}

// Full returns the diagnostic. At its end, it has the number of similar diagnostics that were left out.
func (g Group) Full() diags.Diagnostic {
	d := g.Diagnostic
	switch {
	case g.More == 1:
		d.Detail += fmt.Sprintf("\n\n(and one more similar %s elsewhere)", d.Severity)
	case g.More > 1:
		d.Detail += fmt.Sprintf("\n\n(and %d more similar %ss elsewhere)", g.More, d.Severity)
	}
	return d
}

// Headlines returns the headlines and places of warnings, as text; "" if there are none.
func (p *Printer) Headlines(groups []Group) string {
	if len(groups) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n", p.in(bold, p.in(yellow, "Warnings:")))
	for _, g := range groups {
		fmt.Fprintf(&b, "- %s\n", visible(g.Summary))
		if g.Subject == nil {
			continue
		}
		fmt.Fprintf(&b, "  on %s line %d", visible(g.Subject.Filename), g.Subject.Start.Line)
		if g.More > 0 {
			fmt.Fprintf(&b, " (and %d more)", g.More)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nTo see the full warnings, leave out -compact-warnings.\n")
	return b.String()
}
