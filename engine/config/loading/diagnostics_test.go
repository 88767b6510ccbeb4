package loading

import (
	"flag"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

var update = flag.Bool("update", false, "write the diagnostics that are found into testdata/*.txtar")

// TestDiagnostics loads every case of testdata/*.txtar and compares its diagnostics.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	configtest.Run(t, "testdata/*.txtar", *update, func(_ *testing.T, files map[string][]byte) string {
		_, ds := Load(Input{Tree: source.Files(files)})
		return configtest.Lines(ds)
	})
}
