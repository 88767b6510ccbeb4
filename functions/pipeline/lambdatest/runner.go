//go:build linux

package lambdatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Function is a Lambda function as AWS runs it: its real bootstrap, in execution environments. An environment
// handles one invocation at a time. It is frozen between invocations, and is reused. A Function is safe for
// concurrent use. It ends with the test.
type Function struct {
	t    testing.TB
	spec FunctionSpec
	ctx  context.Context

	mu sync.Mutex
	// emulating is locked during an invocation under an emulator.
	emulating sync.Mutex
	emulator  *emulator

	number int
	envs   []*environment // those whose process runs
	done   []Invocation
	disks  []string
}

// A FunctionSpec describes a function of template.yaml.
type FunctionSpec struct {
	Name string
	// Bootstrap is the path of the program.
	Bootstrap string
	// Env is the function's environment, in addition to the variables that AWS sets for every function. The
	// test's own environment is not passed on.
	Env map[string]string
	// Timeout is the time limit of an invocation. An environment that exceeds it is killed.
	Timeout time.Duration
	// Promised is the time limit that the function itself sees, if that limit is longer than Timeout. A test
	// uses it to simulate that the machine of a function dies early. 0 means Timeout.
	Promised time.Duration
	// Emulator is the path of AWS' runtime interface emulator, which then runs the function until the test ends, whatever
	// [Function.Kill] and [Function.Terminate] are asked for; "" for execution environments
	// of this package.
	Emulator string
	// Log receives the function's output; nil discards it.
	Log io.Writer

	// happens is called when AWS does something around the function.
	happens func(occurrence)
}

// An occurrence is something that AWS does around a function, such as calling it.
type occurrence int

const (
	starts  occurrence = iota // an environment
	isAsked                   // at its own address
)

func (f *Function) tell(o occurrence) {
	if f.spec.happens != nil {
		f.spec.happens(o)
	}
}

// InitTimeout is the time limit for a new environment until it requests its first event.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
const InitTimeout = 10 * time.Second

// NewFunction returns a function. It starts no environment yet.
func NewFunction(t testing.TB, spec FunctionSpec) *Function {
	f := &Function{t: t, spec: spec, ctx: t.Context()}
	t.Cleanup(func() {
		f.Kill()
		for _, dir := range f.Disks() {
			os.RemoveAll(dir)
		}
	})
	return f
}

// An Invocation is the result of one invocation.
type Invocation struct {
	// Payload is the function's answer. If there was none, Error is set instead.
	Payload []byte
	Error   *FunctionError
	// Init is how long a new environment took until it requested the event. It is 0 for a reused environment.
	// Duration is the time from the event to the answer.
	Init, Duration time.Duration
}

// A FunctionError reports a failed invocation: the function returned an error, ended, or exceeded its time
// limit.
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// Error implements error.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Invoke passes an event to an idle environment, or to a new one. It returns once that environment is idle
// again or has ended. The error is a failure of the test machine, not of the function.
func (f *Function) Invoke(event any) (Invocation, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return Invocation{}, err
	}
	got, err := f.invoke(payload)
	if err != nil {
		return Invocation{}, fmt.Errorf("invoke %s: %w", f.spec.Name, err)
	}
	f.mu.Lock()
	f.done = append(f.done, got)
	f.mu.Unlock()
	return got, nil
}

func (f *Function) invoke(payload []byte) (Invocation, error) {
	if f.spec.Emulator != "" {
		f.emulating.Lock()
		defer f.emulating.Unlock()
		return f.emulate(payload)
	}
	e, err := f.idle()
	if err != nil {
		return Invocation{}, err
	}
	return e.invoke(payload)
}

// Invocations returns the results of all invocations so far, in the order in which they ended.
func (f *Function) Invocations() []Invocation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

// Disks returns the directories for temporary files of all environments so far. They exist until the test ends.
func (f *Function) Disks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.disks)
}

// Kill kills all environments at once, busy or idle. The next invocation starts a new one.
func (f *Function) Kill() {
	f.mu.Lock()
	envs := f.envs
	f.envs = nil
	f.mu.Unlock()
	for _, e := range envs {
		e.kill("Runtime.ExitError", "the environment was killed")
		<-e.ended
	}
}

// Terminate sends SIGTERM to the processes of all environments, as Lambda does before it removes an
// environment.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-shutdown
func (f *Function) Terminate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.envs {
		select {
		case <-e.ended: // another process may have its number now
		default:
			syscall.Kill(e.pid, syscall.SIGTERM)
		}
	}
}

// Configure changes the function's configuration. Environments with the former one handle no further invocation.
// Source: https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionConfiguration.html
func (f *Function) Configure(change func(*FunctionSpec)) {
	f.Kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spec.Env = maps.Clone(f.spec.Env)
	change(&f.spec)
}

// idle returns an environment that waits for an event, and marks it as busy. If there is none, it starts a new
// one.
func (f *Function) idle() (*environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.envs {
		if e.take() {
			return e, nil
		}
	}
	f.number++
	f.tell(starts)
	e, err := f.start(f.number)
	if err == nil {
		f.envs = append(f.envs, e)
	}
	return e, err
}

// start starts an environment with the given number. The environment is already marked as busy.
func (f *Function) start(number int) (*environment, error) {
	e := &environment{
		spec: f.spec, id: fmt.Sprintf("%s-%d", f.spec.Name, number), busy: true,
		begin: time.Now(), asked: make(chan struct{}, 1), events: make(chan event), answers: make(chan Invocation, 1),
		ended: make(chan struct{}),
	}
	address, err := e.serve()
	if err != nil {
		return nil, err
	}
	// The path must be about as short as /tmp, because it contains sockets, whose paths are limited.
	tmp, err := os.MkdirTemp("", "l-*")
	if err != nil {
		return nil, err
	}
	f.disks = append(f.disks, tmp)
	cmd := exec.Command(f.spec.Bootstrap)
	cmd.Dir = filepath.Dir(f.spec.Bootstrap)
	cmd.Env = f.environ(address, tmp)
	log := f.spec.Log
	if log == nil {
		log = io.Discard
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = time.Second
	// The process gets its own process group, so that plugins are frozen and killed together with it. It must
	// also end when the process of the test ends, even if it is frozen.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	e.begin = time.Now()
	if err := cmd.Start(); err != nil {
		e.server.Close()
		return nil, err
	}
	e.pid = cmd.Process.Pid
	go func() {
		err := cmd.Wait()
		e.server.Close()
		e.end(err)
		f.forget(e)
	}()
	return e, nil
}

func (f *Function) forget(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, x := range f.envs {
		if x == e {
			f.envs = append(f.envs[:i:i], f.envs[i+1:]...)
			return
		}
	}
}

// environ returns the environment of a function: the variables that AWS sets for every function, and the
// function's own settings. tmp is the directory for temporary files; on AWS it is /tmp. Source:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func (f *Function) environ(runtimeAPI, tmp string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + runtimeAPI,
		"AWS_LAMBDA_FUNCTION_NAME=" + f.spec.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=1769",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + Region, "AWS_DEFAULT_REGION=" + Region,
		"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"LAMBDA_TASK_ROOT=" + filepath.Dir(f.spec.Bootstrap),
		"_HANDLER=bootstrap", "TZ=:UTC", "LANG=en_US.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin",
		"TMPDIR=" + tmp,
	}
	for name, value := range f.spec.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// FunctionARN returns the ARN of the function with the given name.
func FunctionARN(name string) string {
	return "arn:aws:lambda:" + Region + ":" + AccountID + ":function:" + name
}

// BuildFunctions builds the bootstraps of the named functions, and returns the paths of the programs by
// function name. root is the root directory of the module, and dir is the directory for the programs. The build
// is like that of `make build`, but for this machine. It has the options of test builds, so that most packages
// are in the build cache.
func BuildFunctions(root, dir string, names ...string) (map[string]string, error) {
	args := []string{"build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", dir + "/"}
	for _, name := range names {
		args = append(args, "./functions/"+name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build %q: %w", names, err), errors.New(string(text)))
	}
	out := map[string]string{}
	for _, name := range names {
		own := filepath.Join(dir, name+"-function")
		out[name] = filepath.Join(own, "bootstrap")
		err := os.Mkdir(own, 0o755)
		if err == nil {
			err = os.Rename(filepath.Join(dir, name), out[name])
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
