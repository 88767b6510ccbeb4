package clients

import (
	"path/filepath"
	"testing"
)

// TestTerragrunt plays stacks of units: dependencies, hooks, generated files, plans as JSON.
func TestTerragrunt(t *testing.T) {
	t.Parallel()
	scripts(t, cast{
		dir:  "testdata/terragrunt",
		path: []string{filepath.Dir(client(t, "bin", "terragrunt"))},
		env:  []string{"TG_TF_PATH=terraform", "TG_NO_COLOR=true", "TG_NON_INTERACTIVE=true"},
	})
}
