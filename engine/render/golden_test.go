package render

import (
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// compare compares got with a file of testdata/golden.
func compare(t *testing.T, name, got string) {
	t.Helper()
	golden.File(t, filepath.Join("testdata", "golden", name), got)
}
