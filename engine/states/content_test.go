package states

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// sample returns a state and its one object, all of it made anew at each call.
func sample(t testing.TB) (*State, *Object) {
	t.Helper()
	o := &Object{
		Status:        Ready,
		SchemaVersion: 1,
		AttrsJSON:     json.RawMessage(`{"a": 1, "b": ["<x>"]}`),
		Sensitive:     []cty.Path{cty.GetAttrPath("a"), cty.GetAttrPath("b").IndexInt(0)},
		Private:       []byte("p"),
		Dependencies:  graph(t, "t.b: t.a\nt.c: t.b")["t.c"],
		Extra:         map[string]json.RawMessage{"x": json.RawMessage(`{"k": 1}`)},
	}
	e := Empty().Edit()
	e.SetObject(current(t, "t.c"), testProvider, o)
	e.SetOutput("o", Output{Value: cty.StringVal("v")})
	e.SetChecks([]CheckResult{
		{Kind: "check", ConfigAddr: "check.a", Status: "pass", Objects: []CheckObject{{Addr: "check.a[0]", Status: "pass"}, {Addr: "check.a[1]", Status: "pass"}}},
		{Kind: "var", ConfigAddr: "var.v", Status: "pass"},
	})
	return e.State(), o
}

func TestTheSameSaidOtherwise(t *testing.T) {
	s, _ := sample(t)
	x, o := sample(t)
	o.AttrsJSON = json.RawMessage("{\n  \"b\": [\"\\u003cx>\"],\n \"a\": 1}")
	o.Sensitive = []cty.Path{o.Sensitive[1], o.Sensitive[0], o.Sensitive[1]}
	o.Dependencies = listed(t, "t.a", "t.b")
	o.Value = cty.EmptyObjectVal
	o.Extra = map[string]json.RawMessage{"x": json.RawMessage(`{"k":1}`)}
	x.Serial, x.Lineage, x.TerraformVersion = 9, "other", "1.0.0"
	x.Checks[0], x.Checks[1] = x.Checks[1], x.Checks[0]
	x.Checks[1].Objects[0], x.Checks[1].Objects[1] = x.Checks[1].Objects[1], x.Checks[1].Objects[0]
	if !s.SameContent(x) || !x.SameContent(s) {
		t.Error("the same content counts as different")
	}
}

func TestEveryPartOfTheContentCounts(t *testing.T) {
	object := func(change func(*Object)) func(*State, *Object) {
		return func(_ *State, o *Object) { change(o) }
	}
	for name, change := range map[string]func(*State, *Object){
		"status":         object(func(o *Object) { o.Status = Tainted }),
		"schema version": object(func(o *Object) { o.SchemaVersion++ }),
		"attributes":     object(func(o *Object) { o.AttrsJSON = json.RawMessage(`{"a": 2, "b": ["<x>"]}`) }),
		"number":         object(func(o *Object) { o.AttrsJSON = json.RawMessage(`{"a": 1.0, "b": ["<x>"]}`) }),
		"flat":           object(func(o *Object) { o.AttrsJSON, o.AttrsFlat = nil, map[string]string{} }),
		"sensitive":      object(func(o *Object) { o.Sensitive = o.Sensitive[:1] }),
		"sensitive path": object(func(o *Object) { o.Sensitive = []cty.Path{o.Sensitive[0], cty.GetAttrPath("b").IndexInt(1)} }),
		"none sensitive": object(func(o *Object) { o.Sensitive = nil }),
		"private":        object(func(o *Object) { o.Private = nil }),
		"dependencies":   object(func(o *Object) { o.Dependencies = listed(t, "t.a") }),
		"cbd":            object(func(o *Object) { o.CreateBeforeDestroy = true }),
		"extra":          object(func(o *Object) { o.Extra["y"] = json.RawMessage(`1`) }),
		"output":         func(s *State, _ *Object) { s.outputs["o"] = Output{Value: cty.StringVal("w")} },
		"sensitivity":    func(s *State, _ *Object) { s.outputs["o"] = Output{Value: cty.StringVal("v"), Sensitive: true} },
		"no output":      func(s *State, _ *Object) { delete(s.outputs, "o") },
		"check":          func(s *State, _ *Object) { s.Checks[0].Status = "fail" },
		"check object":   func(s *State, _ *Object) { s.Checks[0].Objects[1].Status = "fail" },
		"message":        func(s *State, _ *Object) { s.Checks[0].Objects[1].Failures = []string{"x"} },
		"no checks":      func(s *State, _ *Object) { s.Checks = nil },
		"file":           func(s *State, _ *Object) { s.Extra = map[string]json.RawMessage{"x": json.RawMessage(`1`)} },
		"resource":       func(s *State, _ *Object) { clear(s.resources) },
		"another resource": func(s *State, _ *Object) {
			s.resources[instance(t, "t.d").AbsResource()] = s.resources[instance(t, "t.c").AbsResource()]
			delete(s.resources, instance(t, "t.c").AbsResource())
		},
		"provider": func(s *State, _ *Object) { s.resources[instance(t, "t.c").AbsResource()].Provider.Alias = "x" },
		"key": func(s *State, _ *Object) {
			all := s.resources[instance(t, "t.c").AbsResource()].Instances
			all[addrs.IntKey(0)] = all[addrs.NoKey]
			delete(all, addrs.NoKey)
		},
		"deposed": func(s *State, o *Object) {
			in := s.resources[instance(t, "t.c").AbsResource()].Instances[addrs.NoKey]
			in.Deposed = map[addrs.DeposedKey]*Object{"00000001": o}
		},
		"not current": func(s *State, o *Object) {
			in := s.resources[instance(t, "t.c").AbsResource()].Instances[addrs.NoKey]
			in.Current, in.Deposed = nil, map[addrs.DeposedKey]*Object{"00000001": o}
		},
	} {
		s, _ := sample(t)
		x, o := sample(t)
		if !s.SameContent(x) {
			t.Fatal("the samples differ")
		}
		x.outputs = maps.Clone(x.outputs)
		change(x, o)
		if s.SameContent(x) || x.SameContent(s) {
			t.Errorf("another %s is not noticed", name)
		}
	}
}

func TestPathKeysTellPathsApart(t *testing.T) {
	paths := []cty.Path{
		nil,
		cty.GetAttrPath("a"),
		cty.GetAttrPath("a").GetAttr("b"),
		cty.GetAttrPath("a").IndexString("b"),
		cty.GetAttrPath("a").IndexString("0"),
		cty.GetAttrPath("a").IndexInt(0),
		cty.GetAttrPath("a").Index(cty.NumberFloatVal(0.5)),
		cty.GetAttrPath("a").IndexString(`"].b["`),
		cty.GetAttrPath("a").Index(cty.ObjectVal(map[string]cty.Value{"x": cty.True})),
		cty.GetAttrPath("a").Index(cty.ObjectVal(map[string]cty.Value{"x": cty.False})),
		cty.GetAttrPath("a").Index(cty.UnknownVal(cty.String)),
	}
	seen := map[string]bool{}
	for _, p := range paths {
		seen[PathKey(p)] = true
	}
	if len(seen) != len(paths) {
		t.Errorf("%d paths have %d keys: %v", len(paths), len(seen), seen)
	}
}

func TestSortPaths(t *testing.T) {
	got := SortPaths([]cty.Path{cty.GetAttrPath("b"), cty.GetAttrPath("a").IndexInt(1), cty.GetAttrPath("b"), cty.GetAttrPath("a")})
	var keys []string
	for _, p := range got {
		keys = append(keys, PathKey(p))
	}
	if want := []string{".a", ".a[1]", ".b"}; len(keys) != 3 || keys[0] != want[0] || keys[1] != want[1] || keys[2] != want[2] {
		t.Errorf("got %q, want %q", keys, want)
	}
}
