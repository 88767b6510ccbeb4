//go:build linux

package lambdatest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// environment is an execution environment: a process, and the Runtime API that it uses. The API consists of
// these requests:
//
//	GET  .../invocation/next          waits for an event; the next call ends the invocation
//	POST .../invocation/ID/response   the answer of an invocation
//	POST .../invocation/ID/error      an invocation failed
//	POST .../init/error               the function cannot start
//
// Source: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type environment struct {
	spec   FunctionSpec
	id     string
	server *http.Server
	pid    int
	begin  time.Time

	asked   chan struct{} // the process waits for an event
	events  chan event
	answers chan Invocation
	ended   chan struct{} // the process has

	mu      sync.Mutex
	busy    bool
	cold    time.Duration
	warm    bool
	frozen  bool
	count   int
	current string         // request ID of the invocation under way
	why     *FunctionError // why the process was killed
}

// An event is an invocation's input, with the deadline of the invocation.
type event struct {
	id       string
	payload  []byte
	deadline time.Time
}

const runtimeAPI = "/2018-06-01/runtime"

// serve starts the Runtime API and returns its address.
func (e *environment) serve() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimeAPI+"/invocation/next", e.next)
	mux.HandleFunc("POST "+runtimeAPI+"/invocation/{id}/response", func(w http.ResponseWriter, r *http.Request) {
		e.answer(w, r, func(body []byte) Invocation { return Invocation{Payload: body} })
	})
	mux.HandleFunc("POST "+runtimeAPI+"/invocation/{id}/error", func(w http.ResponseWriter, r *http.Request) {
		e.answer(w, r, func(body []byte) Invocation { return Invocation{Error: functionError(body)} })
	})
	mux.HandleFunc("POST "+runtimeAPI+"/init/error", e.initError)
	e.server = &http.Server{Handler: mux}
	go e.server.Serve(l)
	return l.Addr().String(), nil
}

func functionError(body []byte) *FunctionError {
	var fe FunctionError
	if err := json.Unmarshal(body, &fe); err != nil {
		return &FunctionError{"Runtime.InvalidError", string(body)}
	}
	return &fe
}

func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	if !e.warm {
		e.warm, e.cold = true, time.Since(e.begin)
	}
	e.mu.Unlock()
	e.asked <- struct{}{}
	select {
	case ev := <-e.events:
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", ev.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(ev.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", FunctionARN(e.spec.Name))
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Sampled=0")
		w.Write(ev.payload)
	case <-r.Context().Done():
	}
}

// answer receives the answer of an invocation, up to Lambda's limit of 6 MB. made turns the answer's body into
// the result of the invocation.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
func (e *environment) answer(w http.ResponseWriter, r *http.Request, made func([]byte) Invocation) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	e.mu.Lock()
	known := e.current != "" && r.PathValue("id") == e.current
	if known {
		e.current = ""
	}
	e.mu.Unlock()
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case !known:
		w.WriteHeader(http.StatusForbidden) // there is no such invocation, or it was answered before
	case len(body) > MaxPayload:
		e.answers <- Invocation{Error: &FunctionError{"Function.ResponseSizeTooLarge", "the answer is larger than 6 MB"}}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	default:
		e.answers <- made(body)
		w.WriteHeader(http.StatusAccepted)
	}
}

func (e *environment) initError(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, MaxPayload))
	e.mu.Lock()
	e.why = functionError(body)
	e.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}

// take marks the environment as busy if it is idle. It returns false if the environment is busy or has ended.
func (e *environment) take() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy || e.why != nil {
		return false
	}
	e.busy = true
	return true
}

// invoke passes an event to the environment, which the caller has marked as busy.
func (e *environment) invoke(payload []byte) (Invocation, error) {
	e.thaw()
	var cold time.Duration
	if e.count == 0 {
		if !e.wait(e.asked, InitTimeout) {
			e.kill("Sandbox.Timedout", fmt.Sprintf("the function was not ready within %s", InitTimeout))
			<-e.ended
			return e.broken(), nil
		}
		cold = e.cold
	}
	e.count++
	began := time.Now()
	ev := event{fmt.Sprintf("%s-%d", e.id, e.count), payload, began.Add(max(e.spec.Timeout, e.spec.Promised))}
	e.mu.Lock()
	e.current = ev.id
	e.mu.Unlock()
	select {
	case e.events <- ev:
	case <-e.ended:
		return e.broken(), nil
	}
	late := time.AfterFunc(e.spec.Timeout, func() {
		e.kill("Sandbox.Timedout", fmt.Sprintf("Task timed out after %s", e.spec.Timeout))
	})
	defer late.Stop()
	var got Invocation
	select {
	case got = <-e.answers:
	case <-e.ended:
		select {
		case got = <-e.answers: // its last
		default:
			return e.broken(), nil
		}
	}
	got.Init, got.Duration = cold, time.Since(began)
	// The invocation is finished when the process asks for the next event. Then the process is frozen, whatever
	// it is doing.
	select {
	case <-e.asked:
		e.freeze()
	case <-e.ended:
	}
	return got, nil
}

// wait waits for a sign from the process. It returns true if the sign came or the process ended, and false if
// the time limit came first.
func (e *environment) wait(sign <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-sign:
	case <-e.ended:
	case <-t.C:
		return false
	}
	return true
}

func (e *environment) freeze() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frozen, e.busy = true, false
	syscall.Kill(-e.pid, syscall.SIGSTOP)
}

func (e *environment) thaw() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frozen {
		syscall.Kill(-e.pid, syscall.SIGCONT)
	}
	e.frozen = false
}

// kill kills the process and everything that it started.
func (e *environment) kill(kind, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.why == nil {
		e.why = &FunctionError{kind, message}
	}
	select {
	case <-e.ended: // another process may have its number now
	default:
		syscall.Kill(-e.pid, syscall.SIGKILL)
	}
}

// end records that the process has ended.
func (e *environment) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.why == nil {
		e.why = &FunctionError{"Runtime.ExitError", fmt.Sprintf("the process ended: %v", err)}
	}
	close(e.ended)
}

// broken returns the result of an invocation during which the process ended.
func (e *environment) broken() Invocation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Invocation{Error: e.why, Init: e.cold}
}
