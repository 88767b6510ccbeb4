package localpipeline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// ToolPath returns the path of a tool in a data directory. digest is the SHA-256 checksum of the tool's file, in
// hexadecimal digits.
func ToolPath(dir, digest string) string { return filepath.Join(dir, "tools", digest) }

// toolIn returns a function that finds the tools of steps in a data directory. It is for the field Tool of a
// [subprocess.Engine].
func toolIn(dir string) func(context.Context, jobs.Job, string) (string, error) {
	return func(_ context.Context, _ jobs.Job, digest string) (string, error) {
		path := ToolPath(dir, digest)
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", subprocess.ErrNoTool
		}
		return path, err
	}
}

// stepper returns the engine that runs steps for a machine whose runs use this process. A step always has a process of
// its own.
func (m *Machine) stepper(c Config, hidden []string) *subprocess.Engine {
	return &subprocess.Engine{
		Tool: toolIn(m.dir), PluginEnv: pluginEnv(c.PluginEnv), Scratch: m.scratch.Dir,
		Redact: func(text string, others []string) string { return executor.Redact(slices.Concat(hidden, others), text) },
	}
}
