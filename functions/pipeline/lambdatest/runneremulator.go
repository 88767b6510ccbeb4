//go:build linux

package lambdatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// emulator is a function under AWS' own runtime interface emulator, in the place of an [environment]. The emulator handles one
// invocation at a time, does not freeze the function between invocations, and always says that the function is in us-east-1.
// Source: https://github.com/aws/aws-lambda-runtime-interface-emulator
type emulator struct {
	url   string
	began time.Time
	count int
}

// emulate passes an event to the function under the emulator, which it starts for the first event. f.emulating is locked.
func (f *Function) emulate(payload []byte) (got Invocation, err error) {
	if f.emulator == nil {
		if f.emulator, err = f.startEmulator(); err != nil {
			return Invocation{}, err
		}
	}
	f.emulator.count++
	began := time.Now()
	answer, err := http.Post(f.emulator.url, "application/json", bytes.NewReader(payload))
	if err != nil {
		return Invocation{Error: &FunctionError{"Runtime.ExitError", err.Error()}}, nil // killed
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return Invocation{Error: &FunctionError{"Runtime.ExitError", err.Error()}}, nil
	}
	if got.Duration = time.Since(began); f.emulator.count == 1 {
		got.Init = time.Since(f.emulator.began)
	}
	var failed FunctionError
	switch {
	case answer.StatusCode != http.StatusOK:
		got.Error = &FunctionError{"Emulator.Status", fmt.Sprintf("%s: %s", answer.Status, body)}
	case json.Unmarshal(body, &failed) == nil && failed.Type != "":
		got.Error = &failed
	default:
		got.Payload = body
	}
	return got, nil
}

// startEmulator starts the emulator, which starts the function for the first event.
func (f *Function) startEmulator() (*emulator, error) {
	tmp, err := os.MkdirTemp("", "l-*")
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.disks = append(f.disks, tmp)
	f.mu.Unlock()
	f.tell(starts)
	e := &emulator{}
	address := statebackendtest.StartServer(f.t, func(address string) *exec.Cmd {
		e.began = time.Now()
		api := statebackendtest.FreeAddress(f.t)
		cmd := statebackendtest.Server(f.spec.Emulator, "--runtime-interface-emulator-address", address, "--runtime-api-address", api, f.spec.Bootstrap)
		cmd.Dir = filepath.Dir(f.spec.Bootstrap)
		cmd.Env = append(f.environ(api, tmp), fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", int(max(f.spec.Timeout, f.spec.Promised).Seconds())))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return cmd
	})
	e.url = "http://" + address + "/2015-03-31/functions/function/invocations"
	return e, nil
}
