package drafts_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestValues evaluates an output with the values of a state that has t_x.a, whose name is "z".
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ config, want string }{
		{`resource "t_x" "a" { name = "other" }
output "o" { value = t_x.a.name }`, "z"},
		{`resource "t_x" "a" {
  count = 1
  name  = "other"
}
output "o" { value = t_x.a[0].id }`, "?"},
		{`resource "t_x" "a" {
  count = length(1)
  name  = "other"
}
output "o" { value = length(t_x.a) }`, "?"},
		{`resource "t_x" "b" { name = "other" }
output "o" { value = t_x.b.name }`, "?"},
		{`resource "t_x" "a" {
  name = "other"
  lifecycle { enabled = true }
}
output "o" { value = t_x.a.name }`, "z"},
		{`variable "v" {}
output "o" { value = var.v }`, "given"},
		{`resource "t_none" "a" {}
output "o" { value = t_none.a.name }`, "Invalid resource type"},
	} {
		fake := providertest.New(t, "resource t_x\n  id   string computed\n  name string required\n")
		cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(c.config)})})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		rs, ds := refs.Analyze(cfg)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): fake.Start})
		t.Cleanup(func() { pool.Close() })
		st := states.Empty().Edit()
		for _, typ := range []string{"t_x", "t_none"} {
			st.SetObject(addrs.ResourceInstanceObject{Instance: addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: typ, Name: "a"}}.Instance(addrs.NoKey)},
				addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, &states.Object{Status: states.Ready, AttrsJSON: []byte(`{"id":"z","name":"z"}`)})
		}
		env := session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: map[string]function.Function{"length": stdlib.LengthFunc}}, Providers: pool}
		s := drafts.OpenStored(t.Context(), env, map[string]cty.Value{"v": cty.StringVal("given")}, drafts.NewPrior(st.State()))
		v, ds := s.Eval.Output(addrs.RootModuleInstance, "o")
		ds = append(ds, s.Eval.Diagnostics()...).Unreported()
		got := "?"
		switch {
		case ds.HasErrors():
			got = ds[0].Summary
		case v.IsKnown():
			got = v.AsString()
		}
		if got != c.want {
			t.Errorf("%s\n%s, want %s (%v)", c.config, got, c.want, ds)
		}
	}
}
