package formats

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var identified = addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "x"}}.Instance(addrs.NoKey)

// TestIdentitiesInPlans: the members are those of Terraform 1.16; what is not known is left out.
func TestIdentitiesInPlans(t *testing.T) {
	t.Parallel()
	value := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")})
	identity := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("x"), "zone": cty.NullVal(cty.Number)})
	unknown := cty.ObjectVal(map[string]cty.Value{"name": cty.UnknownVal(cty.String), "zone": cty.NullVal(cty.Number)})
	for want, c := range map[string]plans.Change{
		`"importing":{"identity":{"name":"x","zone":null}},"before_identity":{"name":"x","zone":null},"after_identity":{"name":"x","zone":null}}`: {
			Action: plans.NoOp, Before: value, After: value, BeforeIdentity: identity, AfterIdentity: identity, Importing: &plans.Importing{Identity: identity},
		},
		`"before_identity":{"name":"x","zone":null}}`: {Action: plans.CreateThenDelete, Before: value, After: value, BeforeIdentity: identity, AfterIdentity: unknown},
		`"importing":{"id":"i"}}`:                     {Action: plans.NoOp, Before: value, After: value, Importing: &plans.Importing{ID: "i"}},
	} {
		src, err := Plan(&plans.Plan{Changes: []*plans.ResourceChange{{Addr: addrs.ResourceInstanceObject{Instance: identified}, PrevAddr: identified, Change: c}}}, nil, nil)
		if err != nil || !strings.Contains(string(src), `"after_sensitive":{},`+want) {
			t.Errorf("want %s in %s, %v", want, src, err)
		}
	}
}

// TestIdentitiesInPlannedValues: a known identity is a part of the planned object, with the version of its schema.
func TestIdentitiesInPlannedValues(t *testing.T) {
	t.Parallel()
	value := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")})
	identity := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("x")})
	for _, test := range []struct {
		after cty.Value
		want  string
	}{
		{identity, `"sensitive_values":{},"identity_schema_version":2,"identity":{"name":"x"}}]`},
		{cty.UnknownVal(identity.Type()), `"sensitive_values":{}}]`},
		{cty.NilVal, `"sensitive_values":{}}]`},
	} {
		rs := &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{"id": {Type: cty.String}}}, Identity: &schema.Identity{Version: 2}}
		c := plans.Change{Action: plans.NoOp, Before: value, After: value, AfterIdentity: test.after}
		src, err := Plan(&plans.Plan{Changes: []*plans.ResourceChange{{Addr: addrs.ResourceInstanceObject{Instance: identified}, PrevAddr: identified, Schema: rs, Change: c}}}, nil, nil)
		planned, _, _ := strings.Cut(string(src), `"resource_changes"`)
		if err != nil || !strings.Contains(planned, test.want) {
			t.Errorf("want %s in %s, %v", test.want, planned, err)
		}
	}
}

// TestIdentitiesInStates: the stored identity is shown as it is. One of a newer version than the provider's is an error.
func TestIdentitiesInStates(t *testing.T) {
	t.Parallel()
	edit := states.Empty().Edit()
	pc := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("lab")}
	edit.SetObject(addrs.ResourceInstanceObject{Instance: identified}, pc, &states.Object{
		Status: states.Ready, AttrsJSON: []byte(`{"id":"1"}`), Identity: states.Identity{Version: 2, JSON: []byte(`{"name": "x", "zone": null}`)},
	})
	s := edit.State()
	const want = `"identity_schema_version":2,"identity":{"name":"x","zone":null}}`
	src, err := State(s, nil)
	if err != nil || !strings.Contains(string(src), want) {
		t.Errorf("want %s in %s, %v", want, src, err)
	}
	one, err := Instance(s, nil, nil, nil)
	if err != nil || !strings.HasSuffix(string(one), want+`,"diagnostics":[]}`) {
		t.Errorf("want %s at the end of %s, %v", want, one, err)
	}
	list, err := Identities(s, []addrs.AbsResourceInstance{identified})
	if got := strings.Join(strings.Fields(string(list)), ""); err != nil || got != `{"lab_thing.x":{"name":"x","zone":null}}` {
		t.Errorf("identities %s, %v", list, err)
	}
	for version, readable := range map[int64]bool{1: false, 2: true, 3: true} {
		older := func(addrs.Provider) *schema.Provider {
			return &schema.Provider{Managed: map[string]*schema.Schema{"lab_thing": {
				Block:    &schema.Block{Attributes: map[string]*schema.Attribute{"id": {Type: cty.String, Computed: true}}},
				Identity: &schema.Identity{Version: version},
			}}}
		}
		if err := Readable(s, older); (err == nil) != readable {
			t.Errorf("a provider with version %d: %v", version, err)
		}
	}
}

// TestIdentitySchemas: the members are those of Terraform 1.16.
func TestIdentitySchemas(t *testing.T) {
	t.Parallel()
	src, err := ProviderSchemas(map[addrs.Provider]*schema.Provider{addrs.DefaultProvider("lab"): {
		Managed: map[string]*schema.Schema{
			"lab_plain": {Block: &schema.Block{}},
			"lab_thing": {Block: &schema.Block{}, Identity: &schema.Identity{Version: 1, Attributes: map[string]*schema.IdentityAttribute{
				"name": {Type: cty.String, RequiredForImport: true, Description: "its name"},
				"zone": {Type: cty.List(cty.Number), OptionalForImport: true},
			}}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schemas map[string]struct {
			Identities json.RawMessage `json:"resource_identity_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"lab_thing":{"version":1,"attributes":{"name":{"type":"string","description":"its name","required_for_import":true},"zone":{"type":["list","number"],"optional_for_import":true}}}}`
	if d := cmp.Diff(want, string(got.Schemas["registry.terraform.io/hashicorp/lab"].Identities)); d != "" {
		t.Error(d)
	}
}
