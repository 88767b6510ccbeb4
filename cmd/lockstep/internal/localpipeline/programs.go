package localpipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/functions/confine"
)

// Programs are the programs that hooks of base branches may name: the files of a directory that the machine's
// owner chose. They run with the rights and the environment of Lockstep's process.
type Programs struct {
	Dir     string
	Environ []string // ours; our own options are left out
}

// Check returns an error if other users could put programs into the directory.
func (p Programs) Check() error {
	info, err := os.Stat(p.Dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("it is no directory")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write in it: its permissions are %s", info.Mode().Perm())
	}
	return nil
}

// maxOutput is the maximum length of a program's output in bytes. A longer output would not be a valid answer.
const maxOutput = 128 << 10

// Run runs the program with the given name, without arguments. input is its standard input; Run returns its
// output. When ctx ends, the program is killed. confine.Start starts the program. Any other child process
// would be taken for an orphan of a run, and killed.
func (p Programs) Run(ctx context.Context, name string, input []byte) ([]byte, error) {
	if filepath.Base(name) != name {
		return nil, fmt.Errorf("%q is not the name of a file", name)
	}
	path := filepath.Join(p.Dir, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the directory of serve's option -hook-programs has no file %s", name)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return nil, fmt.Errorf("%s is no program: a file that may be executed", name)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s is not run, because others may write in it: its permissions are %s", name, info.Mode().Perm())
	}
	out := &head{}
	child, err := confine.Start(confine.Spec{
		Path: path, Env: childEnv(p.Environ, false), Dir: p.Dir, Foreign: true, Stdin: bytes.NewReader(input), Stdout: out,
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		child.Kill()
	}
	switch end := child.Wait(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case end.Signal != "":
		return nil, fmt.Errorf("the program %s was ended by the signal %s", name, end.Signal)
	case end.Code != 0:
		return nil, fmt.Errorf("the program %s ended with the exit code %d", name, end.Code)
	}
	return out.Bytes(), nil
}

// A head is a writer that stores the beginning of what is written, up to [maxOutput] bytes, and drops the rest.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), maxOutput-h.Len())])
	return len(p), nil
}
