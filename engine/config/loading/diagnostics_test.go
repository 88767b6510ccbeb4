package loading

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// TestDiagnostics loads every case of testdata/*.txtar and compares its diagnostics.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/*.txtar", func(_ *testing.T, files map[string][]byte) string {
		_, ds := Load(Input{Tree: source.Files(files)})
		return configtest.Lines(ds)
	})
}
