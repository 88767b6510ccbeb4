package program

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFunctionsAreTerraforms compares the signatures with those that Terraform 1.11.4 tells
// of itself, which testdata/functions.json has without the descriptions. Ours all have one,
// and there are more.
func TestFunctionsAreTerraforms(t *testing.T) {
	t.Parallel()
	r := inProcess("metadata", "functions", "-json")
	var got struct {
		Signatures map[string]map[string]any `json:"function_signatures"`
	}
	if err := json.Unmarshal([]byte(r.Out), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]any{}
	src, err := os.ReadFile("testdata/functions.json")
	if err == nil {
		err = json.Unmarshal(src, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range maps.Clone(want) {
		want["core::"+name] = s
	}
	for _, name := range []string{"base64gunzip", "cidrcontains", "urldecode", "contains", "convert"} { // of OpenTofu, or newer
		want[name] = got.Signatures[name]
		want["core::"+name] = got.Signatures["core::"+name]
	}
	for name, s := range got.Signatures {
		if s["description"] == nil {
			t.Errorf("%s has no description", name)
		}
		delete(s, "description")
	}
	if diff := cmp.Diff(want, got.Signatures); diff != "" {
		t.Error(diff)
	}
}
