package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// terraform-plugin-testing, with which providers test themselves, drives lockstep
// through the suite of a provider of our own. The suite is in the module of the test
// providers, so that this one does not depend on it.
func TestPluginTesting(t *testing.T) {
	t.Parallel()
	suite := statebackendtest.Part(t, "bin", "acceptance")
	command := filepath.Join(t.TempDir(), "lockstep")
	if err := os.Symlink(programtest.Executable(t), command); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(suite, "-test.v")
	cmd.Dir = filepath.Join("..", "..", "..", "..", "engine", "provider", "testdata", "providers", "acceptance")
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TF_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "TF_ACC=1", "TF_ACC_TERRAFORM_PATH="+command, "TF_CLI_CONFIG_FILE="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestLife") {
		t.Errorf("the suite was skipped:\n%s", out)
	}
}
