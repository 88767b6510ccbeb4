package statebackend

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is a backend block of every type.
type sample struct {
	Name   string            `json:"name"`
	On     *bool             `json:"on"`
	Count  int               `json:"count"`
	Files  []string          `json:"files"`
	Tags   map[string]string `json:"tags"`
	Nested *struct {
		Role string `json:"role"`
		Key  string `json:"key"`
	} `json:"nested"`
}

var sampleAttributes = []Attribute{
	{Name: "name", Type: String, Required: true},
	{Name: "on", Type: Bool},
	{Name: "count", Type: Int},
	{Name: "files", Type: StringSet},
	{Name: "tags", Type: StringMap},
	{Name: "nested", Type: Object, Attributes: []Attribute{
		{Name: "role", Type: String, Required: true},
		{Name: "key", Type: String, Secret: true},
	}},
}

func TestDecode(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		json string
		want sample
	}{
		{`{"name":"a"}`, sample{Name: "a"}},
		{`{"name":"a","on":null,"nested":null}`, sample{Name: "a"}},
		{`{"name":"a","on":true,"count":7}`, sample{Name: "a", On: &yes, Count: 7}},
		{`{"name":7,"on":"false","count":"7"}`, sample{Name: "7", On: &no, Count: 7}},
		{`{"name":true,"on":"1","count":7.0}`, sample{Name: "true", On: &yes, Count: 7}},
		{`{"name":"a","files":["x","y"],"tags":{"k":"v","n":1}}`, sample{Name: "a", Files: []string{"x", "y"}, Tags: map[string]string{"k": "v", "n": "1"}}},
		{`{"name":"a","files":[]}`, sample{Name: "a", Files: []string{}}},
	} {
		var values map[string]any
		if err := json.Unmarshal([]byte(test.json), &values); err != nil {
			t.Fatal(err)
		}
		var got sample
		if err := Decode(sampleAttributes, values, &got); err != nil {
			t.Errorf("%s: %v", test.json, err)
		} else if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.json, diff)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ json, attribute, problem string }{
		{`{}`, "name", "the attribute is required"},
		{`{"name":null}`, "name", "the attribute is required"},
		{`{"name":"a","nmae":"b"}`, "nmae", "there is no such attribute"},
		{`{"name":[]}`, "name", "a string is required"},
		{`{"name":"a","on":"yes"}`, "on", "a bool is required"},
		{`{"name":"a","on":2}`, "on", "a bool is required"},
		{`{"name":"a","count":1.5}`, "count", "a whole number is required"},
		{`{"name":"a","count":"1x"}`, "count", "a whole number is required"},
		{`{"name":"a","files":"x"}`, "files", "a set of strings is required"},
		{`{"name":"a","files":[[]]}`, "files", "a set of strings is required"},
		{`{"name":"a","tags":["x"]}`, "tags", "a map of strings is required"},
		{`{"name":"a","nested":"x"}`, "nested", "an object is required"},
		{`{"name":"a","nested":{}}`, "nested.role", "the attribute is required"},
		{`{"name":"a","nested":{"role":"r","key":{}}}`, "nested.key", "a string is required"},
		{`{"name":"a","nested":{"role":"r","x":"y"}}`, "nested.x", "there is no such attribute"},
	} {
		var values map[string]any
		if err := json.Unmarshal([]byte(test.json), &values); err != nil {
			t.Fatal(err)
		}
		err := Decode(sampleAttributes, values, new(sample))
		var got *AttributeError
		if !errors.As(err, &got) {
			t.Errorf("%s: %v; want an *AttributeError", test.json, err)
		} else if got.Attribute != test.attribute || got.Problem != test.problem {
			t.Errorf("%s: %v", test.json, err)
		}
	}
}
