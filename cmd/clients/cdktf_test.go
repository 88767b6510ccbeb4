package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestCDKTF plays stacks that are written in JavaScript: synth, diff, deploy, output and destroy.
func TestCDKTF(t *testing.T) {
	t.Parallel()
	modules := client(t, "npm", "cdktf", "node_modules")
	if _, err := exec.LookPath("node"); err != nil {
		statebackendtest.Missing(t, "cdktf needs node: "+err.Error())
	}
	scripts(t, cast{dir: "testdata/cdktf", env: []string{
		"CDKTF=" + filepath.Join(modules, "cdktf-cli", "bundle", "bin", "cdktf.js"), "NODE_PATH=" + modules,
		"CI=1", "NO_COLOR=1", "FORCE_COLOR=0",
	}})
}
