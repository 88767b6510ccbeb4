package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
)

func remoteConfig(attrs map[string]cty.Value) cty.Value {
	values := remoteStateSchema.Block.EmptyValue().AsValueMap()
	for name, v := range attrs {
		values[name] = v
	}
	return cty.ObjectVal(values)
}

// TestRemoteState is a table of reads.
func TestRemoteState(t *testing.T) {
	object := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	read := func(_ context.Context, backend string, config cty.Value, workspace string) (map[string]cty.Value, error) {
		switch backend {
		case "http":
			return nil, fmt.Errorf("read: %w", ErrNoState)
		case "consul":
			return nil, errors.New("connection refused")
		}
		return map[string]cty.Value{"where": str(backend + " " + config.GetAttr("path").AsString() + " " + workspace)}, nil
	}
	path := object(map[string]cty.Value{"path": str("a")})
	for name, tc := range map[string]struct {
		config map[string]cty.Value
		want   map[string]cty.Value
		err    string
	}{
		"default workspace": {
			map[string]cty.Value{"backend": str("local"), "config": path},
			map[string]cty.Value{"where": str("local a default")}, ""},
		"workspace and defaults": {
			map[string]cty.Value{"backend": str("local"), "config": path, "workspace": str("blue"),
				"defaults": object(map[string]cty.Value{"where": str("nowhere"), "more": cty.True})},
			map[string]cty.Value{"where": str("local a blue"), "more": cty.True}, ""},
		"no state": {
			map[string]cty.Value{"backend": str("http"), "config": path}, nil, "Unable to find remote state"},
		"broken": {
			map[string]cty.Value{"backend": str("consul"), "config": path}, nil, "Connection refused."},
		"no backend": {
			map[string]cty.Value{"backend": cty.NullVal(cty.String)}, nil, `Set "backend" to one of: azurerm`},
		"no workspace": {
			map[string]cty.Value{"backend": str("local"), "config": path, "workspace": str("")}, nil, `Leave out "workspace"`},
		"no such backend": {
			map[string]cty.Value{"backend": str("nope"), "config": path}, nil, "There is no such backend type"},
		"odd config": {
			map[string]cty.Value{"backend": str("local"), "config": str("path")}, nil, `"config" must be an object`},
		"odd defaults": {
			map[string]cty.Value{"backend": str("local"), "config": path, "defaults": cty.True}, nil, `"defaults" must be an object`},
	} {
		config := remoteConfig(tc.config)
		got, ds := New(read).ReadData(t.Context(), remoteStateType, config, cty.NilVal)
		if tc.err != "" {
			if !ds.HasErrors() || !strings.Contains(ds.Error(), tc.err) {
				t.Errorf("%s: %v", name, ds)
			}
			continue
		}
		if ds.HasErrors() || !got.GetAttr("outputs").RawEquals(object(tc.want)) {
			t.Errorf("%s: %#v, %v", name, got, ds)
			continue
		}
		for attr, v := range config.AsValueMap() {
			if attr != "outputs" && !got.GetAttr(attr).RawEquals(v) {
				t.Errorf("%s: %s has become %#v", name, attr, got.GetAttr(attr))
			}
		}
	}
	if _, ds := New(nil).ReadData(t.Context(), remoteStateType, remoteConfig(map[string]cty.Value{"backend": str("local")}), cty.NilVal); !ds.HasErrors() {
		t.Error("a read without the means to read")
	}
	if ds := New(nil).ValidateData(t.Context(), remoteStateType, remoteConfig(map[string]cty.Value{"backend": cty.UnknownVal(cty.String), "config": cty.DynamicVal})); ds.HasErrors() {
		t.Errorf("what is not known yet is refused: %v", ds)
	}
}

// TestDeclared: the schemas are ones that values can keep to, and everything that is
// not there is refused in words.
func TestDeclared(t *testing.T) {
	c, ctx := New(nil), t.Context()
	declared, _ := c.Schema(ctx)
	for name, s := range declared.Managed {
		if err := s.Block.Check(); err != nil {
			t.Errorf("%s: %s", name, err)
		}
	}
	for name, s := range declared.Data {
		if err := s.Block.Check(); err != nil {
			t.Errorf("%s: %s", name, err)
		}
	}
	const none = "terraform_nothing"
	v := cty.EmptyObjectVal
	_, upgrade := c.UpgradeState(ctx, provider.UpgradeRequest{TypeName: none})
	_, read := c.Read(ctx, provider.ReadRequest{TypeName: none})
	_, plan := c.Plan(ctx, provider.PlanRequest{TypeName: none})
	_, apply := c.Apply(ctx, provider.ApplyRequest{TypeName: none})
	_, imported := c.Import(ctx, provider.ImportRequest{TypeName: none, ID: "x"})
	_, data := c.ReadData(ctx, none, v, v)
	_, opened := c.OpenEphemeral(ctx, none, v)
	_, renewed := c.RenewEphemeral(ctx, none, nil)
	for what, err := range map[string]error{
		"upgrade": upgrade.Err(), "read": read.Err(), "plan": plan.Err(), "apply": apply.Err(), "import": imported.Err(), "data": data.Err(),
		"open": opened.Err(), "renew": renewed.Err(), "close": c.CloseEphemeral(ctx, none, nil).Err(),
		"validate": c.ValidateResource(ctx, none, v).Err(), "validate data": c.ValidateData(ctx, none, v).Err(),
		"validate ephemeral": c.ValidateEphemeral(ctx, none, v).Err(),
	} {
		if err == nil || !strings.Contains(err.Error(), none) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
