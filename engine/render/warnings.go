package render

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Group is a diagnostic, and the number of similar ones that are left out.
type Group struct {
	diags.Diagnostic
	More int
}

// GroupWarnings groups warnings with the same headline that refer to places in the configuration, so that a
// construct used everywhere does not fill pages. Every other diagnostic is a group of its own, even if it is a
// warning about a check block. The groups are in the order of ds.
func GroupWarnings(ds diags.Diagnostics) []Group {
	out := make([]Group, 0, len(ds))
	at := map[string]int{}
	for _, d := range ds {
		if d.Severity != diags.Warning || d.Subject == nil || d.Check {
			out = append(out, Group{Diagnostic: d})
			continue
		}
		if i, ok := at[d.Summary]; ok {
			out[i].More++
			continue
		}
		at[d.Summary] = len(out)
		out = append(out, Group{Diagnostic: d})
	}
	return out
}

// EachWarning groups diagnostics as [GroupWarnings] does, but each diagnostic is in a group of its own.
func EachWarning(ds diags.Diagnostics) []Group {
	out := make([]Group, len(ds))
	for i, d := range ds {
		out[i].Diagnostic = d
	}
	return out
}

// Full returns the diagnostic. At its end, it has the number of similar diagnostics that were left out.
func (g Group) Full() diags.Diagnostic {
	d := g.Diagnostic
	switch {
	case g.More == 1:
		d.Detail += "\n\n(and one more similar warning elsewhere)"
	case g.More > 1:
		d.Detail += fmt.Sprintf("\n\n(and %d more similar warnings elsewhere)", g.More)
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
