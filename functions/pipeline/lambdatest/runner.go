//go:build linux

package lambdatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Function is a Lambda function as AWS runs it: its real bootstrap in execution
// environments, each of which does one invocation at a time, is frozen in between, and
// is used again. It is safe for concurrent use; it ends with the test.
type Function struct {
	t    testing.TB
	spec FunctionSpec
	ctx  context.Context

	mu     sync.Mutex
	number int
	envs   []*environment // those that live
	done   []Invocation
	disks  []string
}

// A FunctionSpec is a function in template.yaml.
type FunctionSpec struct {
	Name string
	// Bootstrap is the path of the program.
	Bootstrap string
	// Env is the function's environment, in addition to the variables that AWS sets for every
	// function. Nothing of the test's own environment gets in.
	Env map[string]string
	// Timeout is how long an invocation may take; then its environment is killed.
	Timeout time.Duration
	// Promised is how long an invocation is told that it may take, where that is longer: as where the
	// machine below a function dies. 0: Timeout.
	Promised time.Duration
	// Log gets the function's output; nil discards it.
	Log io.Writer

	// happens is told of what AWS does around the function.
	happens func(occurrence)
}

// An occurrence is something that AWS does around a function.
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

// InitTimeout is how long a function may take until it asks for its first event.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
const InitTimeout = 10 * time.Second

// NewFunction returns a function. Nothing is started yet.
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

// An Invocation is the outcome of one invocation.
type Invocation struct {
	// Payload is the function's answer. Error is set instead, if it gave none.
	Payload []byte
	Error   *FunctionError
	// Init is how long a new environment took until it asked for the event; 0 for one
	// that was used again. Duration is from the event to the answer.
	Init, Duration time.Duration
}

// A FunctionError is a failed invocation: the function returned an error, ended, or missed its
// deadline.
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// Error implements error.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Invoke hands an event over, to an idle environment or a new one, and waits until the
// environment is idle again or has ended. The error is one of the machine.
func (f *Function) Invoke(event any) (Invocation, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return Invocation{}, err
	}
	e, err := f.idle()
	if err != nil {
		return Invocation{}, fmt.Errorf("invoke %s: %w", f.spec.Name, err)
	}
	got, err := e.invoke(payload)
	f.mu.Lock()
	f.done = append(f.done, got)
	f.mu.Unlock()
	return got, err
}

// Invocations returns the outcomes of all invocations so far, in the order of their ends.
func (f *Function) Invocations() []Invocation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

// Disks returns the directories that environments have had for temporary files. They are
// there until the test ends.
func (f *Function) Disks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.disks)
}

// Kill ends all environments at once, busy or not. The next invocation starts a new one.
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

// Terminate asks the processes of all environments to end, by SIGTERM, as Lambda does before it takes an
// environment away.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-shutdown
func (f *Function) Terminate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.envs {
		select {
		case <-e.ended: // its number may be another's by now
		default:
			syscall.Kill(e.pid, syscall.SIGTERM)
		}
	}
}

// idle returns an environment that waits for an event, and takes it.
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

// start starts an environment, which is taken.
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
	// A path as short as the true one: there are sockets below it.
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
	// A group of its own, so that plugins freeze and die with it. It must not outlive
	// us, frozen, either.
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

// environ is the variables that AWS sets for every function, with the function's own settings. The
// directory for temporary files is /tmp there.
// Source:
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

// FunctionARN is the name under which a function is invoked.
func FunctionARN(name string) string {
	return "arn:aws:lambda:" + Region + ":" + AccountID + ":function:" + name
}

// BuildFunctions builds the bootstraps of functions as `make build` does, but for this
// machine, and as tests are built: then most of it is in the cache. It returns
// their paths by name.
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
