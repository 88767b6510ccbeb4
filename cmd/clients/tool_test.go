package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var asked = flag.Bool("clients", false, "play the stories with the real clients, which `make clients` installs")

// programs is a directory that ends with the tests.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "clients")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// A tool is a program that answers to the name "terraform".
type tool struct {
	name string // for messages
	bin  string // the directory with it
}

const (
	ours  = "lockstep"
	stock = "terraform"
)

var build = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(programs, ours)
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, "terraform"), "../lockstep").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, statebackendtest.BuiltOf(".", "../lockstep")
})

// others returns the directory with the terraform 1.11 of this machine, "" if there is none.
var others = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath("terraform")
	if err != nil {
		return "", nil
	}
	cmd := exec.Command(path, "version")
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull)
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "Terraform v1.11.") || strings.Contains(string(out), "Lockstep") {
		return "", nil
	}
	bin := filepath.Join(programs, stock)
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", err
	}
	return bin, os.Symlink(path, filepath.Join(bin, "terraform"))
})

// tools returns ours, and the stock tool where it is there.
func tools(t *testing.T) []tool {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	all := []tool{{ours, bin}}
	if bin, err = others(); err != nil {
		t.Fatal(err)
	}
	if bin != "" {
		all = append(all, tool{stock, bin})
	}
	return all
}

// client returns the path of a client below the directory "clients" of the parts. The test
// is skipped if nobody asked for clients.
func client(t *testing.T, path ...string) string {
	t.Helper()
	if !*asked {
		t.Skip("make clients runs the real clients")
	}
	return statebackendtest.Part(t, append([]string{"clients"}, path...)...)
}

// environ is the environment of a client that uses a tool: nothing of the person who runs
// the tests, no network, and the mirror of providers. The tool comes first on the PATH, then
// the directories given. Home is a directory of its own.
func environ(t testing.TB, l tool, home string, path ...string) []string {
	t.Helper()
	mirror := statebackendtest.Part(t, "mirror")
	config := filepath.Join(home, "cli.tfrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	text += "host \"registry.terraform.io\" {\n  services = {}\n}\n" // nobody asks it
	for _, dir := range []string{home, filepath.Join(home, "lab")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{
		"PATH=" + strings.Join(slices.Concat([]string{l.bin}, path, []string{os.Getenv("PATH")}), string(os.PathListSeparator)), "HOME=" + home, "TMPDIR=" + os.TempDir(),
		"TF_CLI_CONFIG_FILE=" + config, "LAB_DIR=" + filepath.Join(home, "lab"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"CHECKPOINT_DISABLE=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}
}
