package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestValidations is a table of validation rules of a variable, of its value, and of the record
// and the diagnostics. local.unknown is not known before apply.
func TestValidations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ condition, message, value, want string }{
		{`var.v == 1`, `"no"`, `1`, `pass`},
		{`var.v == 1`, `"v is ${var.v}."`, `2`, `fail v is 2.; Invalid value for variable: v is 2.`},
		{`var.v == local.two`, `"no"`, `2`, `pass`},
		{`var.v == 1`, `"no"`, `unknown`, `unknown`},
		{`var.v == local.unknown`, `"no"`, `1`, `unknown`},
		{`var.v == 1 ? null : true`, `"no"`, `1`, `error; Invalid variable validation result: Condition expression must return either true or false, not null.`},
		{`var.v == 1 ? "maybe" : "true"`, `"no"`, `1`, `error; Invalid variable validation result: Invalid condition result value: a bool is required.`},
		{`var.v == 1`, `local.unknown`, `1`, `pass`},
		{`var.v == 1`, `local.unknown`, `2`, `error; Invalid error message: The value refers to what is not known before apply, and the message is needed now.`},
		{`var.v == 1`, `null`, `2`, `fail Failed to evaluate condition error message.; Invalid value for variable: Failed to evaluate condition error message.`},
		{`var.v == 1`, `upper([])`, `1`, `pass; Invalid function argument: *`},
	} {
		t.Run(c.condition+" of "+c.value+" with "+c.message, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf("variable \"v\" {\n  validation {\n    condition     = %s\n    error_message = %s\n  }\n}\nlocals {\n  two     = 2\n  unknown = t_x.a.id\n}\nresource \"t_x\" \"a\" {}\n"+
				"-- resources --\nt_x.a = { id = unknown }\n-- variables --\nv = %s\n", c.condition, c.message, c.value)
			e := eval.New(t.Context(), world(t, text))
			_, ds := e.Variable(addrs.RootModuleInstance, "v")
			var got []string
			for _, check := range e.Checks() {
				got = append(got, strings.Join(append([]string{string(check.Status)}, check.Failures...), " "))
			}
			for _, d := range append(ds.Unreported(), e.Diagnostics()...) {
				detail, _, _ := strings.Cut(d.Detail, "\n\nThis was checked by")
				if strings.HasSuffix(c.want, "*") {
					detail = "*"
				}
				got = append(got, d.Summary+": "+detail)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestMarkedValidations is a table of declarations of a variable, and of what the record and the error
// show of its value: one that is sensitive or ephemeral is not shown.
func TestMarkedValidations(t *testing.T) {
	t.Parallel()
	for declaration, want := range map[string]string{
		"":                 "fail [v is 2.]; Invalid value for variable: v is 2.",
		"sensitive = true": "fail [The error message included a sensitive value, so it will not be displayed.]; Error message refers to sensitive values: *; Invalid value for variable: The error message included a sensitive value, so it will not be displayed.",
		"ephemeral = true": "fail [The error message included an ephemeral value, so it will not be displayed.]; Error message refers to ephemeral values: *; Invalid value for variable: The error message included an ephemeral value, so it will not be displayed.",
	} {
		e := eval.New(t.Context(), world(t, "variable \"v\" {\n  default = 2\n  "+declaration+"\n  validation {\n    condition     = var.v == 1\n    error_message = \"v is ${var.v}.\"\n  }\n}\n"))
		e.Variable(addrs.RootModuleInstance, "v")
		var got []string
		for _, check := range e.Checks() {
			got = append(got, fmt.Sprint(check.Status, " ", check.Failures))
		}
		for _, d := range e.Diagnostics() {
			detail, _, _ := strings.Cut(d.Detail, "\n\nThis was checked by")
			if d.Severity == diags.Warning {
				detail = "*"
			}
			got = append(got, d.Summary+": "+detail)
		}
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%q (-want +got)\n%s", declaration, diff)
		}
	}
}

// TestUnmetConditions is a table of a condition that is not met, of the phase, and of what it is
// about: the severity of the diagnostic, and the record.
func TestUnmetConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind          string
		warn, waiting bool // ConditionsWarn, AssertionsUnevaluated
		message       string
		want          string
	}{
		{"resource", false, false, `"no"`, "Error failed: no; fail no"},
		{"resource", true, false, `"no"`, "Warning failed: no; fail no"},
		{"resource", false, true, `"no"`, "Error failed: no; fail no"},
		{"check", false, false, `"no"`, "Warning failed: no; fail no"},
		{"check", false, true, `"no"`, ""},
		{"check", false, true, `[]`, "Error Invalid error message: *"},
	} {
		w := world(t, "locals {\n  one = 1\n}\ncheck \"c\" {\n  assert {\n    condition     = local.one == 2\n    error_message = "+c.message+"\n  }\n}\n")
		w.ConditionsWarn, w.AssertionsUnevaluated = c.warn, c.waiting
		e := eval.New(t.Context(), w)
		about := eval.Subject{Kind: c.kind, Config: "x", Object: "x"}
		var got []string
		for _, d := range e.Conditions(w.Config.Root.Checks["c"].Asserts, eval.Scope{}, about, "failed") {
			severity := map[diags.Severity]string{diags.Error: "Error", diags.Warning: "Warning"}[d.Severity]
			detail := d.Detail
			if strings.HasSuffix(c.want, "*") {
				detail = "*"
			}
			got = append(got, severity+" "+d.Summary+": "+detail)
		}
		for _, check := range e.Checks() {
			got = append(got, strings.Join(append([]string{string(check.Status)}, check.Failures...), " "))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s warn %v waiting %v: %s", c.kind, c.warn, c.waiting, diff)
		}
	}
}
