package main

import (
	"encoding/json"
	"testing"
)

// The built-in provider cannot be configured, and its functions take no null.
func TestBuiltinSchema(t *testing.T) {
	t.Parallel()
	d := newDir(t, "main.tf", "resource \"terraform_data\" \"a\" {}\n")
	d.must("init")
	var out struct {
		Schemas map[string]struct {
			Provider  map[string]any
			Functions map[string]struct {
				Parameters []struct {
					Nullable bool `json:"is_nullable"`
				}
			}
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal([]byte(d.must("providers", "schema", "-json").out), &out); err != nil {
		t.Fatal(err)
	}
	p := out.Schemas["terraform.io/builtin/terraform"]
	if len(p.Provider) != 1 || p.Provider["version"] != 0.0 {
		t.Errorf("the provider block is %v", p.Provider)
	}
	if len(p.Functions) != 3 {
		t.Errorf("%d functions", len(p.Functions))
	}
	for name, f := range p.Functions {
		if f.Parameters[0].Nullable {
			t.Errorf("%s takes null", name)
		}
	}
}
