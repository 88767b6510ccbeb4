package provisioning

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// A Command is the command of a local-exec block.
type Command struct {
	Text string   // as written
	Args []string // the interpreter and its arguments, Text last
	Dir  string   // "" is the working directory
	Env  []string // KEY=VALUE, to be added to the environment
	// Quiet means that the command itself is not shown.
	Quiet bool
}

// A Runner runs a command. It calls the function output for each line that the command writes, from one
// goroutine at a time. Its error is short (such as "exit status 1"). When ctx ends, the Runner must end the
// command.
type Runner func(ctx context.Context, c Command, output func(line string)) error

// errNoCommand is the error for an empty command.
var errNoCommand = errors.New("the command must not be empty or null")

// LocalExec returns the command of a local-exec block. The block's value v is known and has no marks. A null
// argument counts as missing, and so does a null element of an argument.
func LocalExec(v cty.Value) (Command, error) {
	var c Command
	if x := v.GetAttr("command"); !x.IsNull() {
		c.Text = x.AsString()
	}
	if c.Text == "" {
		return c, errNoCommand
	}
	if x := v.GetAttr("working_dir"); !x.IsNull() {
		c.Dir = x.AsString()
	}
	if x := v.GetAttr("quiet"); !x.IsNull() {
		c.Quiet = x.True()
	}
	if x := v.GetAttr("environment"); !x.IsNull() {
		env := x.AsValueMap()
		for _, k := range slices.Sorted(maps.Keys(env)) {
			if !env[k].IsNull() {
				c.Env = append(c.Env, k+"="+env[k].AsString())
			}
		}
	}
	if x := v.GetAttr("interpreter"); !x.IsNull() {
		for _, arg := range x.AsValueSlice() {
			if !arg.IsNull() {
				c.Args = append(c.Args, arg.AsString())
			}
		}
	}
	if len(c.Args) == 0 {
		c.Args = shell()
	}
	c.Args = append(c.Args, c.Text)
	return c, nil
}

// shell returns the default interpreter.
func shell() []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C"}
	}
	return []string{"/bin/sh", "-c"}
}

// tailSize is how much of a failed command's output is shown, in bytes.
const tailSize = 8 << 10

// A Tail keeps the end of a command's output.
type Tail struct{ text []byte }

// Add adds a line of output.
func (t *Tail) Add(line string) {
	t.text = append(append(t.text, line...), '\n')
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
}

// String returns the end of the output.
func (t *Tail) String() string { return string(t.text) }
