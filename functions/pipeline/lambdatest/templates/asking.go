package templates

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// Ask sends a question to .ci/policies.mjs, a simulator of IAM that others maintain, and decodes the answer. If
// the simulator is not installed, the test is skipped or fails; see [statebackendtest.Part].
func Ask(t testing.TB, question, answer any) {
	t.Helper()
	modules := filepath.Dir(filepath.Dir(statebackendtest.Part(t, "npm", "policies", "node_modules", "@cloud-copilot", "iam-simulate")))
	node, err := exec.LookPath("node")
	if err != nil {
		statebackendtest.Missing(t, "node, which simulates policies, is not installed")
	}
	data, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(root(t), ".ci", "policies.mjs"), modules)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%v\n%.1000s", err, out)
	}
}

// root returns the root directory of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("there is no go.mod above the working directory")
		}
	}
}
