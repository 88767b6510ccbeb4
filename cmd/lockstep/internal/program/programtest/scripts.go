package programtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// Scripts runs the scripts in testdata/script. They contain command lines as users type them.
func Scripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: golden.Updating(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("TF_CLI_CONFIG_FILE", os.DevNull)
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/.cache")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"plain": plain, "edit": edit, "exit": exit,
		},
	})
}

// noise are patterns for texts that differ in each run, such as IDs and times, with their replacements.
var noise = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`tfstate\.[0-9]{9,}`), "tfstate.TIME"},
	{regexp.MustCompile(`after [0-9]+s`), "after 0s"},
	{regexp.MustCompile(`destroy deposed [0-9a-f]{8}`), "destroy deposed KEY"},
	{regexp.MustCompile(`[0-9-]{10}T[0-9:.]+Z`), "TIME"},
}

// plain is the script command "plain FILE". It copies a file, stdout or stderr to stdout, without IDs and
// times.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain FILE")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	for _, n := range noise {
		text = n.is.ReplaceAllString(text, n.as)
	}
	io.WriteString(ts.Stdout(), text)
}

// exit is the script command "exit CODE ARGS...". It runs lockstep with ARGS. The exit code must be CODE.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exit CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec("lockstep", args[1:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("lockstep: %v", err)
		}
		code = failed.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// edit is the script command "edit FILE OLD NEW". It replaces the text OLD in a file, which must contain it, by
// NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}
