package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

func TestGroupWarnings(t *testing.T) {
	t.Parallel()
	at := func(line int) *hcl.Range {
		return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line, Column: 1}, End: hcl.Pos{Line: line, Column: 2}}
	}
	old := func(line int) diags.Diagnostic {
		return diags.Diagnostic{Severity: diags.Warning, Summary: "Old", Detail: "It is old.", Subject: at(line)}
	}
	once := diags.Diagnostic{Severity: diags.Warning, Summary: "Once", Subject: at(2)}
	nowhere := diags.Diagnostic{Severity: diags.Warning, Summary: "Old", Detail: "No place."}
	check := diags.Diagnostic{Severity: diags.Warning, Summary: "Check", Subject: at(4), Check: true}
	wrong := diags.Diagnostic{Severity: diags.Error, Summary: "Wrong", Subject: at(5)}
	ds := diags.Diagnostics{old(1), once, wrong, old(3), nowhere, check, check, old(1), wrong, once, nowhere}
	var got []string
	for _, g := range GroupWarnings(ds) {
		d := g.Full()
		got = append(got, d.Severity.String()+" "+d.Summary+": "+d.Detail)
	}
	want := []string{
		"warning Old: It is old.\n\n(and 2 more similar warnings elsewhere)",
		"warning Once: \n\n(and one more similar warning elsewhere)",
		"error Wrong: ",
		"warning Old: No place.",
		"warning Check: ",
		"warning Check: ",
		"error Wrong: ",
		"warning Old: No place.",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	text := (&Printer{}).Headlines(GroupWarnings(diags.Diagnostics{old(1), old(3), nowhere}))
	for _, line := range []string{"Warnings:", "- Old\n  on main.tf line 1 (and 1 more)\n- Old\n\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in:\n%s", line, text)
		}
	}
	if text := (&Printer{}).Headlines(nil); text != "" {
		t.Errorf("of nothing: %q", text)
	}
}
