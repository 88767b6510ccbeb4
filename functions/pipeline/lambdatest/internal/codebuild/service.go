//go:build linux

// Package codebuild is a fake CodeBuild with one project. Each build runs a program as a real process.
//
// The package does not know IAM, or what the program does. Start reading at [Service].
package codebuild

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Service is a fake CodeBuild with one project. It is safe for concurrent use.
type Service struct {
	Project string
	Program string
	Env     []string // of the program, in addition to CodeBuild's and a start's own
	Log     io.Writer
	// Begins is called before a build starts, and Fails for a build that cannot start.
	Begins func()
	Fails  func(error)

	mu     sync.Mutex
	tokens map[string]int // builds by idempotency token
	all    []*build
}

// A build is a build of the project: one process.
type build struct {
	ID     string `json:"id"`
	Status string `json:"buildStatus"`
	Done   bool   `json:"buildComplete"`
	pid    int
	ended  chan struct{}
}

// An Input has the members of any request to CodeBuild. Source:
// https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
type Input struct {
	Project string                         `json:"projectName"`
	Token   string                         `json:"idempotencyToken"`
	Env     []struct{ Name, Value string } `json:"environmentVariablesOverride"`
	IDs     []string                       `json:"ids"`
	ID      string                         `json:"id"`
}

// Read parses a request. If it is not JSON, the result names no project.
func Read(body []byte) (in Input) {
	if json.Unmarshal(body, &in) != nil {
		return Input{}
	}
	return in
}

// Of returns the name of the project that a request concerns.
func (in Input) Of() string {
	project, _, _ := strings.Cut(strings.Join(append(in.IDs, in.ID), ""), ":")
	return in.Project + project
}

// ServeHTTP implements http.Handler.
func (b *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in := Read(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch i := slices.IndexFunc(b.all, func(x *build) bool { return x.ID == in.ID || slices.Contains(in.IDs, x.ID) }); {
	case operation == "StartBuild":
		json.NewEncoder(w).Encode(map[string]any{"build": b.start(in)})
	case operation == "BatchGetBuilds" && i >= 0:
		json.NewEncoder(w).Encode(map[string]any{"builds": []*build{b.all[i]}})
	case operation == "BatchGetBuilds":
		json.NewEncoder(w).Encode(map[string]any{"buildsNotFound": in.IDs})
	case operation == "StopBuild" && i >= 0:
		b.kill(b.all[i], "STOPPED")
		json.NewEncoder(w).Encode(map[string]any{"build": b.all[i]})
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"InvalidInputException","message":"there is no such build"}`)
	}
}

// start starts a build, or returns the build that was started with the same token. The caller has locked b.mu.
func (b *Service) start(in Input) *build {
	if i, ok := b.tokens[in.Token]; ok {
		return b.all[i]
	}
	if b.tokens == nil {
		b.tokens = map[string]int{}
	}
	b.tokens[in.Token] = len(b.all)
	b.Begins()
	x := &build{ID: fmt.Sprintf("%s:%08d-0000-4000-8000-000000000000", b.Project, len(b.all)), Status: "IN_PROGRESS", ended: make(chan struct{})}
	b.all = append(b.all, x)
	tmp, err := os.MkdirTemp("", "l-*")
	if err != nil {
		b.Fails(err)
		return x
	}
	cmd := exec.Command(b.Program)
	cmd.Env = append(slices.Clone(b.Env), "CODEBUILD_BUILD_ID="+x.ID, fmt.Sprintf("CODEBUILD_START_TIME=%d", time.Now().UnixMilli()), "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR="+tmp)
	for _, v := range in.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = b.Log, b.Log, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		b.Fails(err)
		return x
	}
	x.pid = cmd.Process.Pid
	go func() {
		err := cmd.Wait()
		os.RemoveAll(tmp)
		b.mu.Lock()
		defer b.mu.Unlock()
		if x.Done = true; x.Status == "IN_PROGRESS" {
			x.Status = map[bool]string{true: "SUCCEEDED", false: "FAILED"}[err == nil]
		}
		close(x.ended)
	}()
	return x
}

// kill kills a build's process and sets its status. The caller has locked b.mu.
func (b *Service) kill(x *build, status string) {
	select {
	case <-x.ended:
	default:
		x.Status = status
		if x.pid > 0 {
			syscall.Kill(-x.pid, syscall.SIGKILL)
		}
	}
}

// Kill kills the processes of all builds at once, as an outage of CodeBuild would.
func (b *Service) Kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		b.kill(x, "FAULT")
	}
}

// Statuses returns the status of each build, in the order of their starts.
func (b *Service) Statuses() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, x := range b.all {
		out = append(out, x.Status)
	}
	return out
}
