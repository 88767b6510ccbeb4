//go:build linux

// Package codebuild is a fake CodeBuild. Each build runs the program of its project as a real process.
//
// The package does not know IAM, or what the program does. Start reading at [Service].
package codebuild

import (
	"context"
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

// A Service is a fake CodeBuild. It is safe for concurrent use.
type Service struct {
	Projects map[string]Project // by name
	Log      io.Writer
	// Fails is called for a build that cannot start.
	Fails func(error)

	mu     sync.Mutex
	tokens map[string]int // builds by idempotency token
	all    []*build
}

// A Project is a project of CodeBuild.
type Project struct {
	Program string
	Env     []string // of the program, in addition to CodeBuild's and a start's own
	// Begins is called before a build starts. image is the image that replaces the project's; "" for none.
	Begins func(image string)
}

// A build is a build of a project: one process.
type build struct {
	ID     string `json:"id"`
	Status string `json:"buildStatus"`
	Done   bool   `json:"buildComplete"`
	image  string
	pid    int
	ended  chan struct{}
}

// An Input has the members of any request to CodeBuild. Source:
// https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
type Input struct {
	Project string                         `json:"projectName"`
	Token   string                         `json:"idempotencyToken"`
	Env     []struct{ Name, Value string } `json:"environmentVariablesOverride"`
	Image   string                         `json:"imageOverride"`
	Pull    string                         `json:"imagePullCredentialsTypeOverride"`
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
	case operation == "StartBuild" && (in.Image == "") != (in.Pull != "SERVICE_ROLE"):
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"InvalidInputException","message":"an image in a private registry needs SERVICE_ROLE"}`)
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
	project := b.Projects[in.Project]
	project.Begins(in.Image)
	x := &build{ID: fmt.Sprintf("%s:%08d-0000-4000-8000-000000000000", in.Project, len(b.all)), Status: "IN_PROGRESS", image: in.Image, ended: make(chan struct{})}
	b.all = append(b.all, x)
	tmp, err := os.MkdirTemp("", "l-*")
	if err != nil {
		b.Fails(err)
		return x
	}
	cmd := exec.Command(project.Program)
	cmd.Env = append(slices.Clone(project.Env), "CODEBUILD_BUILD_ID="+x.ID, fmt.Sprintf("CODEBUILD_START_TIME=%d", time.Now().UnixMilli()), "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR="+tmp)
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

// Images returns the image that replaces the project's for each build, in the order of their starts; "" for none.
func (b *Service) Images() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, x := range b.all {
		out = append(out, x.image)
	}
	return out
}

// endTimeout is how long [Service.Statuses] waits for a build.
const endTimeout = 30 * time.Second

// Statuses waits until all builds have ended, and returns the status of each, in the order of their starts. A process of a
// build still works for a moment after it has reported the result of an apply.
func (b *Service) Statuses() []string {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	late, stop := context.WithTimeout(context.Background(), endTimeout)
	defer stop()
	for _, x := range all {
		select {
		case <-x.ended:
		case <-late.Done():
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, x := range b.all {
		out = append(out, x.Status)
	}
	return out
}
