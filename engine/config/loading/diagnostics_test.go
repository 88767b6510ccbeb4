package loading

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// TestDiagnostics loads every case of testdata/*.txtar and compares its diagnostics.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/*.txtar", func(_ *testing.T, files map[string][]byte) string {
		_, ds := Load(Input{Tree: source.Files(files)})
		return configtest.Lines(ds)
	})
}

// TestOlderLanguage loads every case of testdata/language in the language of Terraform 1.11, where a caller allows computed sources.
func TestOlderLanguage(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/language/*.txtar", func(_ *testing.T, files map[string][]byte) string {
		early := func(*config.Module, hcl.Expression) (cty.Value, hcl.Diagnostics) { return cty.StringVal("./m"), nil }
		cfg, ds := Load(Input{Tree: source.Files(files), Early: early, Queries: true, Language: language.V1_11})
		if cfg.Language != language.V1_11 {
			return "the configuration does not know its language"
		}
		return configtest.Lines(ds)
	})
}
