//go:build linux

package engine_test

import (
	"os"
	"os/exec"
	"testing"
)

// Bombs that would take the most memory end well in a process that has 1 GiB and knows
// nothing of that.
func TestBombsInAProcessOfOneGiB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	// Source: ulimit of POSIX shells, -d in KiB; setrlimit(2), RLIMIT_DATA.
	cmd := exec.Command("sh", "-c", `ulimit -d 1048576 && exec "$0" "$@"`, os.Args[0],
		"-test.run", "^TestBombs$/^(format|formatlist|setproduct|replace|join|csvdecode|jsondecode|yamldecode|doubled|many|large|a_template|count|base64gunzip)", "-test.v")
	cmd.Env = []string{"TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out[max(0, len(out)-4000):])
	}
}
