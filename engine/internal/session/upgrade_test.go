package session

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// asked is a provider that notes what it was asked to upgrade.
type asked struct {
	provider.Client
	json string
}

func (a *asked) UpgradeState(_ context.Context, r provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	a.json = string(r.JSON)
	return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("n")}), nil
}

func (a *asked) UpgradeIdentity(_ context.Context, r provider.UpgradeIdentityRequest) (cty.Value, diags.Diagnostics) {
	a.json = string(r.JSON)
	if a.json == `{"title":"unknown"}` {
		return cty.ObjectVal(map[string]cty.Value{"name": cty.UnknownVal(cty.String)}), nil
	}
	return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("upgraded")}), nil
}

// TestDecodeIdentity: the provider is asked for an upgrade of older identities only, and a newer one is an error.
func TestDecodeIdentity(t *testing.T) {
	t.Parallel()
	rs := &schema.Schema{Block: schematest.Block(t, "name string required"), Identity: &schema.Identity{
		Version: 2, Attributes: map[string]*schema.IdentityAttribute{"name": {Type: cty.String, RequiredForImport: true}},
	}}
	addr := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "a"}}.Instance(addrs.NoKey)
	for _, c := range []struct {
		is   states.Identity
		want string // the name, or an error
		json string // that the provider was asked about
	}{
		{is: states.Identity{Version: 2, JSON: []byte(`{"name":"n"}`)}, want: "n"},
		{is: states.Identity{Version: 1, JSON: []byte(`{"title":"n"}`)}, want: "upgraded", json: `{"title":"n"}`},
		{is: states.Identity{Version: 1, JSON: []byte(`{"title":"unknown"}`)}, want: "Provider produced invalid identity", json: `{"title":"unknown"}`},
		{is: states.Identity{Version: 3, JSON: []byte(`{"name":"n"}`)}, want: "Resource instance managed by newer provider version"},
		{is: states.Identity{Version: 2, JSON: []byte(`{"name":["n"]}`)}, want: "Invalid identity in the state"},
		{is: states.Identity{Version: 2, JSON: []byte(`"n"`)}, want: "Invalid identity in the state"},
		{is: states.Identity{Version: 3}},
	} {
		client := new(asked)
		v, ds := new(Session).DecodeIdentity(t.Context(), client, addr, rs, &states.Object{Identity: c.is})
		got := ""
		switch {
		case ds.HasErrors():
			got = ds[0].Summary
		case v != cty.NilVal:
			got = v.GetAttr("name").AsString()
		}
		if got != c.want || client.json != c.json {
			t.Errorf("%d %s: %q, asked about %q (%v)", c.is.Version, c.is.JSON, got, client.json, ds)
		}
	}
	bare := &schema.Schema{Block: rs.Block}
	if v, ds := new(Session).DecodeIdentity(t.Context(), nil, addr, bare, &states.Object{Identity: states.Identity{Version: 9, JSON: []byte(`{}`)}}); v != cty.NilVal || ds != nil {
		t.Errorf("a type without identities: %#v, %v", v, ds)
	}
}

// An attribute that the schema has no more does not reach a provider whose schema says that it is the
// same version; of another version, the provider has to know.
func TestGoneAttributes(t *testing.T) {
	t.Parallel()
	rs := &schema.Schema{Version: 2, Block: schematest.Block(t, "name string required")}
	addr := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "a"}}.Instance(addrs.NoKey)
	for _, c := range []struct {
		version int64
		want    string
	}{
		{2, `{"name":"n"}`},
		{1, `{"gone":1,"name":"n"}`},
	} {
		client := new(asked)
		o := &states.Object{SchemaVersion: c.version, AttrsJSON: []byte(`{"gone":1,"name":"n"}`)}
		if _, ds := new(Session).Decode(t.Context(), client, addr, rs, o); ds.HasErrors() || client.json != c.want {
			t.Errorf("version %d: asked about %s, want %s; %s", c.version, client.json, c.want, ds)
		}
	}
}
