package tfplugin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin5"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
)

// asked is a wire that keeps the last request of each method.
type asked struct {
	wire
	requests map[string]proto.Message
}

func (a *asked) Invoke(ctx context.Context, method string, req, reply any, o ...grpc.CallOption) error {
	_, name, _ := strings.Cut(method[1:], "/")
	a.requests[name] = req.(proto.Message)
	return a.wire.Invoke(ctx, method, req, reply, o...)
}

func identity(name string) *tfplugin.ResourceIdentityData {
	return &tfplugin.ResourceIdentityData{IdentityData: &tfplugin.DynamicValue{Json: []byte(`{"name":"` + name + `","zone":null}`)}}
}

// identified is a plugin whose type "thing" has an identity schema.
func identified(p tfplugin.Protocol, more map[string]any) *asked {
	null := &tfplugin.DynamicValue{Json: []byte("null")}
	there := &tfplugin.DynamicValue{Json: []byte("{}")}
	answers := map[string]any{
		p.GetSchema: &tfplugin.GetProviderSchema_Response{ResourceSchemas: map[string][]byte{"thing": nil, "plain": nil}},
		"GetResourceIdentitySchemas": &tfplugin.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string][]byte{
			"thing": raw(&tfplugin.ResourceIdentitySchema{Version: 2, IdentityAttributes: []*tfplugin.ResourceIdentitySchema_IdentityAttribute{
				{Name: "name", Type: []byte(`"string"`), RequiredForImport: true, Description: "its name"},
				{Name: "zone", Type: []byte(`"number"`), OptionalForImport: true},
			}}),
		}},
		"UpgradeResourceIdentity": &tfplugin.UpgradeResourceIdentity_Response{UpgradedIdentity: identity("upgraded")},
		"ReadResource":            &tfplugin.ReadResource_Response{NewState: there, NewIdentity: identity("read")},
		"PlanResourceChange":      &tfplugin.PlanResourceChange_Response{PlannedState: there, PlannedIdentity: identity("planned")},
		"ApplyResourceChange":     &tfplugin.ApplyResourceChange_Response{NewState: null, NewIdentity: identity("applied")},
		"ImportResourceState": &tfplugin.ImportResourceState_Response{ImportedResources: []*tfplugin.ImportResourceState_ImportedResource{
			{TypeName: "thing", State: there, Identity: identity("imported")}}},
		"MoveResourceState": &tfplugin.MoveResourceState_Response{TargetState: there, TargetIdentity: identity("moved")},
	}
	for name, answer := range more {
		answers[name] = answer
	}
	return &asked{wire{answers: answers}, map[string]proto.Message{}}
}

// calls makes each call with an identity, and returns the identities in the answers by method.
func identityCalls(t *testing.T, c provider.Client, typeName string, id cty.Value) (map[string]cty.Value, diags.Diagnostics) {
	ctx, v := t.Context(), cty.EmptyObjectVal
	upgraded, ds := c.UpgradeIdentity(ctx, provider.UpgradeIdentityRequest{TypeName: typeName, Version: 1, JSON: []byte(`{"title":"t"}`)})
	read, more := c.Read(ctx, provider.ReadRequest{TypeName: typeName, Prior: v, Identity: id})
	ds = append(ds, more...)
	plan, more := c.Plan(ctx, provider.PlanRequest{TypeName: typeName, Prior: v, Proposed: v, Config: v, Identity: id})
	ds = append(ds, more...)
	apply, more := c.Apply(ctx, provider.ApplyRequest{TypeName: typeName, Prior: v, Planned: v, Config: v, Identity: id})
	ds = append(ds, more...)
	imported, more := c.Import(ctx, provider.ImportRequest{TypeName: typeName, Identity: id})
	ds = append(ds, more...)
	moved, more := c.Move(ctx, provider.MoveRequest{TargetType: typeName, SourceIdentity: []byte(`{"title":"s"}`), SourceIdentityVersion: 4})
	ds = append(ds, more...)
	out := map[string]cty.Value{
		"UpgradeResourceIdentity": upgraded, "ReadResource": read.Identity, "PlanResourceChange": plan.Identity,
		"ApplyResourceChange": apply.Identity, "MoveResourceState": moved.Identity,
	}
	if len(imported) > 0 {
		out["ImportResourceState"] = imported[0].Identity
	}
	return out, ds
}

// TestIdentities: each call takes the identity along, and gives the one in the answer.
func TestIdentities(t *testing.T) {
	t.Parallel()
	for _, p := range []tfplugin.Protocol{tfplugin5.Protocol, tfplugin6.Protocol} {
		w := identified(p, nil)
		c := tfplugin.New(tfplugin.Config{Protocol: p, Name: "lab", Conn: w})
		declared, _ := c.Schema(t.Context())
		is := declared.Resource("managed", "thing").Identity
		if is == nil || is.Version != 2 || !is.Attributes["name"].RequiredForImport || !is.Attributes["zone"].OptionalForImport || is.Attributes["name"].Description != "its name" {
			t.Fatalf("%+v", is)
		}
		if declared.Resource("managed", "plain").Identity != nil {
			t.Error("a type without identities has some")
		}
		given := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("given"), "zone": cty.NumberIntVal(3)})
		got, ds := identityCalls(t, c, "thing", given)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		for method, want := range map[string]string{
			"UpgradeResourceIdentity": "upgraded", "ReadResource": "read", "PlanResourceChange": "planned", "ApplyResourceChange": "applied",
			"ImportResourceState": "imported", "MoveResourceState": "moved",
		} {
			if v := got[method]; v == cty.NilVal || v.GetAttr("name").AsString() != want {
				t.Errorf("%s answered %#v", method, v)
			}
			sent := fmt.Sprint(w.requests[method])
			holds := "given"
			switch method {
			case "UpgradeResourceIdentity":
				holds = "title"
			case "MoveResourceState":
				holds = "source_identity_schema_version:4"
			}
			if !strings.Contains(sent, holds) {
				t.Errorf("%s was sent %s, without %s", method, sent, holds)
			}
		}
	}
}

// TestNoIdentities: a type without an identity schema gets none and gives none, whatever the plugin answers; and neither
// does a plugin that does not know the call.
func TestNoIdentities(t *testing.T) {
	t.Parallel()
	given := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("given"), "zone": cty.NullVal(cty.Number)})
	unknown := map[string]any{"GetResourceIdentitySchemas": status.Error(codes.Unimplemented, "unknown method")}
	for typeName, more := range map[string]map[string]any{"plain": nil, "thing": unknown} {
		w := identified(tfplugin6.Protocol, more)
		got, ds := identityCalls(t, tfplugin.New(tfplugin.Config{Protocol: tfplugin6.Protocol, Name: "lab", Conn: w}), typeName, given)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		for method, v := range got {
			if v != cty.NilVal && method != "ImportResourceState" || strings.Contains(fmt.Sprint(w.requests[method]), "given") {
				t.Errorf("%s, %s: sent %s, got %#v", typeName, method, w.requests[method], v)
			}
		}
	}
}

// TestBrokenIdentities: what is not an identity of the schema is an error that names the call; an object that was made is
// kept beside it.
func TestBrokenIdentities(t *testing.T) {
	t.Parallel()
	bad := &tfplugin.ResourceIdentityData{IdentityData: &tfplugin.DynamicValue{Json: []byte(`{"name":["x"]}`)}}
	there := &tfplugin.DynamicValue{Json: []byte("{}")}
	for method, answer := range map[string]any{
		"GetResourceIdentitySchemas": status.Error(codes.Internal, "no"),
		"UpgradeResourceIdentity":    &tfplugin.UpgradeResourceIdentity_Response{UpgradedIdentity: bad},
		"ReadResource":               &tfplugin.ReadResource_Response{NewState: there, NewIdentity: bad},
		"PlanResourceChange":         &tfplugin.PlanResourceChange_Response{PlannedState: there, PlannedIdentity: bad},
		"ApplyResourceChange":        &tfplugin.ApplyResourceChange_Response{NewState: there, NewIdentity: bad},
		"MoveResourceState":          &tfplugin.MoveResourceState_Response{TargetState: there, TargetIdentity: bad},
		"ImportResourceState": &tfplugin.ImportResourceState_Response{ImportedResources: []*tfplugin.ImportResourceState_ImportedResource{
			{TypeName: "thing", State: there, Identity: bad}}},
	} {
		w := identified(tfplugin6.Protocol, map[string]any{method: answer})
		c := tfplugin.New(tfplugin.Config{Protocol: tfplugin6.Protocol, Name: "lab", Conn: w})
		_, ds := identityCalls(t, c, "thing", cty.NilVal)
		if !ds.HasErrors() || !strings.Contains(ds.Error(), method) {
			t.Errorf("%s: %v", method, ds)
		}
		if method == "ApplyResourceChange" {
			made, _ := c.Apply(t.Context(), provider.ApplyRequest{TypeName: "thing", Prior: cty.EmptyObjectVal, Planned: cty.EmptyObjectVal, Config: cty.EmptyObjectVal})
			if made.New == cty.NilVal {
				t.Error("the object is lost")
			}
		}
	}
}
