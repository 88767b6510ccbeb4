package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
)

// TestSettings is a table of values of prevent_destroy and enabled: the answer, or a part of the
// error.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, protects, enabled string }{
		{`true`, "yes", "yes"},
		{`false`, "no", "no"},
		{`"true"`, "yes", "yes"},
		{`var.on`, "yes", "yes"},
		{`!var.on`, "no", "no"},
		{`sensitive(var.on)`, "yes", "is sensitive"},
		{`sensitive(!var.on)`, "no", "is sensitive"},
		{`ephemeralasnull(var.pin)`, "value is null", "value is null"},
		{`var.pin`, "yes", "is ephemeral"},
		{`var.none`, "value is null", "value is null"},
		{`var.word`, "is unsuitable", "is unsuitable"},
		{`t_x.b.id`, "not known until apply", "not known until apply"},
		{`upper([var.on])`, "string required", "string required"},
	} {
		for argument, want := range map[string]string{"prevent_destroy": c.protects, "enabled": c.enabled} {
			w := world(t, fmt.Sprintf(`
variable "on" { default = true }
variable "none" { default = null }
variable "word" { default = "perhaps" }
variable "pin" {
  ephemeral = true
  default   = true
}
resource "t_x" "a" {
  lifecycle {
    %s = %s
  }
}
resource "t_x" "b" {}
-- resources --
t_x.b = { id = unknown }
`, argument, c.value))
			e := eval.New(t.Context(), w)
			r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
			on, ds := e.Protects(addrs.RootModuleInstance, r)
			if argument == "enabled" {
				var list []eval.Instance
				list, ds = e.ResourceInstances(addrs.RootModuleInstance, r)
				on = len(list) == 1
			}
			got := map[bool]string{true: "yes", false: "no"}[on]
			if ds.HasErrors() {
				if got = ds[0].Detail; on {
					t.Errorf("%s = %s: on, beside an error", argument, c.value)
				}
				if summary := ds[0].Summary; summary != "Invalid "+argument+" argument" && summary != "Invalid function argument" {
					t.Errorf("%s = %s: %s", argument, c.value, summary)
				}
			}
			if !strings.Contains(got, want) || len(want) <= 3 && got != want {
				t.Errorf("%s = %s: %s, want %s", argument, c.value, got, want)
			}
		}
	}
}

// TestProtectsItself holds that a block cannot decide by its own object whether that may go away.
func TestProtectsItself(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"t_x.a.keep": true, "t_x.b.keep": false} {
		w := world(t, "resource \"t_x\" \"a\" {\n  lifecycle {\n    prevent_destroy = "+text+"\n  }\n}\nresource \"t_x\" \"b\" {}\n-- resources --\nt_x.a = { keep = true }\nt_x.b = { keep = true }\n")
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		on, ds := eval.New(t.Context(), w).Protects(addrs.RootModuleInstance, r)
		if on == want || ds.HasErrors() != want {
			t.Errorf("%s: %v, %v", text, on, ds)
		}
	}
}

// TestUnexpandedProtection holds that a prevent_destroy which is not known is no error where nothing is
// expanded yet, but one that never will be a boolean is.
func TestUnexpandedProtection(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"t_x.b.id": "", "null": "Invalid prevent_destroy argument", "[]": "Invalid prevent_destroy argument"} {
		w := world(t, "resource \"t_x\" \"a\" {\n  lifecycle {\n    prevent_destroy = local.on\n  }\n}\nresource \"t_x\" \"b\" {}\nlocals {\n  on = "+text+"\n}\n-- resources --\nt_x.b = { id = unknown }\n")
		w.Unexpanded = true
		r := w.Config.Root.Resources[addrs.Resource{Mode: addrs.Managed, Type: "t_x", Name: "a"}]
		on, ds := eval.New(t.Context(), w).Protects(addrs.RootModuleInstance, r)
		if got := summaries(ds); on || !strings.HasSuffix(got, want) || ds.HasErrors() != (want != "") {
			t.Errorf("%s: %v, %s, want %s", text, on, got, want)
		}
	}
}
