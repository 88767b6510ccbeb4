package diags

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

var place = &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 3, Column: 1}, End: hcl.Pos{Line: 3, Column: 9}}

func lines(ds Diagnostics) string {
	var out []string
	for _, d := range ds {
		s := fmt.Sprintf("%s %s", d.Severity, d)
		if d.Address != "" {
			s += " (" + d.Address + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	var none Diagnostics
	warned := Warningf(place, "Careful", "Not %s.", "now")
	failed := Errorf(place, "Wrong", "No format: 100%")
	for _, c := range []struct {
		name string
		got  any
		want any
	}{
		{"a warning is no error", warned.HasErrors(), false},
		{"nor is nothing", none.HasErrors(), false},
		{"an error is one, behind a warning, too", append(warned, failed...).HasErrors(), true},
		{"no errors, no error", append(none, warned...).Err() == nil, true},
		{"an error's text leaves warnings out", append(warned, failed...).Error(), "main.tf:3: Wrong: No format: 100%"},
		{"text", lines(append(warned, failed...)), "warning main.tf:3: Careful: Not now.\nerror main.tf:3: Wrong: No format: 100%"},
		{"without a place and detail", lines(Errorf(nil, "Wrong", "")), "error Wrong"},
		{"an address is filled in where there is none",
			lines(append(Errorf(nil, "A", "").At("t_x.a"), Errorf(nil, "B", "")...).At("t_x.b")), "error A (t_x.a)\nerror B (t_x.b)"},
		{"what is reported elsewhere is left out", lines(append(Reported(), failed...).Unreported()), "error main.tf:3: Wrong: No format: 100%"},
		{"but is an error", Reported().HasErrors(), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestDistinct(t *testing.T) {
	t.Parallel()
	other := *place
	other.Start.Line = 4
	all := Diagnostics{}
	all = append(all, Errorf(place, "A", "detail")...)
	all = append(all, Errorf(place, "A", "detail")...)
	all = append(all, Errorf(place, "A", "another detail")...)
	all = append(all, Errorf(&other, "A", "detail")...)
	all = append(all, Errorf(nil, "A", "detail")...)
	all = append(all, Errorf(nil, "A", "detail").At("t_x.a")...)
	want := "error main.tf:3: A: detail\nerror main.tf:3: A: another detail\nerror main.tf:4: A: detail\nerror A: detail\nerror A: detail (t_x.a)"
	if diff := cmp.Diff(want, lines(all.Distinct())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFromHCL(t *testing.T) {
	t.Parallel()
	got := FromHCL(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "A", Detail: "a", Subject: place, Context: place},
		{Severity: hcl.DiagWarning, Summary: "B", Extra: 1},
	})
	if lines(got) != "error main.tf:3: A: a\nwarning B" || got[0].Context != place || got[1].Extra != 1 {
		t.Errorf("%+v", got)
	}
	if FromHCL(nil) != nil {
		t.Error("something comes of nothing")
	}
}

func TestFromError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("the disk is full"), "error Cannot save: The disk is full."},
		{errors.New("Ends with a stop."), "error Cannot save: Ends with a stop."},
		{errors.New("100%d"), "error Cannot save: 100%d."},
		{errors.New(""), "error Cannot save"},
		{Errorf(place, "Wrong", "No."), "error main.tf:3: Wrong: No."},
	} {
		if got := lines(FromError("Cannot save", c.err)); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
