package executor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// TestCensorValue is a table of paths into a value, and of the rest that the censor leaves of it. A path that cannot be
// followed hides more.
func TestCensorValue(t *testing.T) {
	t.Parallel()
	text := cty.StringVal
	attr := func(names ...string) (p cty.Path) {
		for _, n := range names {
			p = p.GetAttr(n)
		}
		return p
	}
	v := cty.ObjectVal(map[string]cty.Value{
		"list": cty.ListVal([]cty.Value{text("aaaaa"), text("bbbbb")}), "map": cty.MapVal(map[string]cty.Value{"k": text("ccccc")}),
		"set": cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"x": text("ddddd"), "y": cty.NumberIntVal(7)})}), "null": cty.NullVal(cty.String),
		"dynamic": cty.TupleVal([]cty.Value{text("eeeee"), cty.NumberIntVal(12345), cty.True}), "empty": cty.ListValEmpty(cty.String),
	})
	for name, c := range map[string]struct {
		path cty.Path
		want string // of the hidden attribute, as JSON
		of   string
	}{
		"an element":           {attr("list").IndexInt(1), `["aaaaa","(sensitive value)"]`, "list"},
		"a list":               {attr("list"), `["(sensitive value)","(sensitive value)"]`, "list"},
		"a key":                {attr("map").Index(text("k")), `{"k":"(sensitive value)"}`, "map"},
		"another key":          {attr("map").Index(text("l")), `{"k":"ccccc"}`, "map"},
		"an attribute of none": {attr("map", "k"), `{"k":"(sensitive value)"}`, "map"},
		"in a set":             {attr("set").Index(cty.DynamicVal).GetAttr("x"), `[{"x":"(sensitive value)","y":0}]`, "set"},
		"null":                 {attr("null"), `null`, "null"},
		"below a text":         {attr("dynamic").IndexInt(0).GetAttr("x"), `["(sensitive value)",12345,true]`, "dynamic"},
		"dynamic":              {attr("dynamic"), `["(sensitive value)",0,true]`, "dynamic"},
		"empty":                {attr("empty"), `[]`, "empty"},
		"everything":           {nil, `["(sensitive value)",0,true]`, "dynamic"},
		"nothing":              {attr("other"), `["eeeee",12345,true]`, "dynamic"},
	} {
		got := censor{Secrets: &redacting.Secrets{}}.value(v, []cty.Path{c.path})
		if !got.Type().Equals(v.Type()) {
			t.Errorf("%s: it is a %#v", name, got.Type())
		}
		data, err := ctyjson.SimpleJSONValue{Value: got.GetAttr(c.of)}.MarshalJSON()
		if err != nil || string(data) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, data, err, c.want)
		}
	}
}

// TestCensorKeys holds that the key of a map is no place for a secret.
func TestCensorKeys(t *testing.T) {
	t.Parallel()
	var found redacting.Secrets
	found.Text("hunter2hunter2")
	got := censor{Secrets: &found}.value(cty.MapVal(map[string]cty.Value{"user-hunter2hunter2": cty.True, "other": cty.False}), nil)
	if data, err := (ctyjson.SimpleJSONValue{Value: got}).MarshalJSON(); err != nil || strings.Contains(string(data), "hunter2") || !strings.Contains(string(data), `"other":false`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestCensorObject holds that nothing of an object is left whose schema is unknown, or another one, and that data which
// nobody can look into are not passed on at all.
func TestCensorObject(t *testing.T) {
	t.Parallel()
	secret := func(version int64) *states.Object {
		return &states.Object{
			SchemaVersion: version, AttrsJSON: json.RawMessage(`{"name":"web","password":"correct-horse","port":5432}`), Private: []byte("correct-horse"),
			Extra: map[string]json.RawMessage{"identity": json.RawMessage(`"correct-horse"`)},
		}
	}
	known := &schema.Schema{Version: 1, Block: &schema.Block{Attributes: map[string]*schema.Attribute{
		"name": {Type: cty.String, Optional: true}, "password": {Type: cty.String, Optional: true, Sensitive: true}, "port": {Type: cty.Number, Optional: true},
	}}}
	c := censor{Secrets: &redacting.Secrets{}}
	for name, x := range map[string]struct {
		object *states.Object
		of     *schema.Schema
		want   string
	}{
		"known":           {secret(1), known, `{"name":"web","password":"(sensitive value)","port":5432}`},
		"another version": {secret(0), known, `{"name":"(sensitive value)","password":"(sensitive value)","port":0}`},
		"unknown":         {secret(1), nil, `{"name":"(sensitive value)","password":"(sensitive value)","port":0}`},
		"damaged":         {&states.Object{AttrsJSON: json.RawMessage(`{"password":"correct-horse"`)}, nil, `{}`},
	} {
		got := c.object(x.object, x.of)
		if string(got.AttrsJSON) != x.want || got.Private != nil || got.Extra != nil || got.Value != cty.NilVal {
			t.Errorf("%s: %s, %+v", name, got.AttrsJSON, got)
		}
	}
	flat := c.object(&states.Object{AttrsFlat: map[string]string{"password": "correct-horse", "list.#": "1", "list.0": "x"}}, known)
	if flat.AttrsFlat["password"] != "(sensitive value)" || flat.AttrsFlat["list.0"] != "(sensitive value)" || flat.AttrsFlat["list.#"] != "1" {
		t.Errorf("an old one: %v", flat.AttrsFlat)
	}
	data := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Data, Type: "x", Name: "y"}}
	s := states.Of(nil, map[addrs.AbsResource]*states.Resource{data: {Instances: map[addrs.InstanceKey]*states.Instance{{}: {Current: secret(1)}}}})
	c.Schemas = func(addrs.Provider) *schema.Provider { return nil }
	if left := c.State(s); !left.IsEmpty() {
		t.Errorf("data that somebody has read: %+v", left)
	}
}
