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
