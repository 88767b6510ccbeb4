package program

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// tested is the program under test.
var tested = Program{Version: "0.1.0-dev", Commands: Engine()}

func TestMain(m *testing.M) { programtest.Main(m, tested.Main) }

// TestScripts runs command lines as people type them, in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	programtest.Scripts(t)
}

// inProcess runs a command line in this process, without any input.
func inProcess(args ...string) programtest.Result {
	var out, stderr bytes.Buffer
	code := tested.Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, nil)
	return programtest.Result{Code: code, Out: out.String(), Stderr: stderr.String()}
}
