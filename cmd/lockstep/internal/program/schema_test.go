package program

import (
	"encoding/json"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// The built-in provider cannot be configured, and its functions take no null.
func TestBuiltinSchema(t *testing.T) {
	t.Parallel()
	d := programtest.NewDir(t, "main.tf", "resource \"terraform_data\" \"a\" {}\n")
	d.Must("init")
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
	if err := json.Unmarshal([]byte(d.Must("providers", "schema", "-json").Out), &out); err != nil {
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
