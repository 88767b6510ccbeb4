//go:build linux

package lambdatest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// builds are CodeBuild: its project runs the apply function's real program, as its buildspec does.
type builds struct {
	stack *Stack
	url   string
	role  string            // its logical name
	name  string            // of the project
	env   map[string]string // the project's

	mu     sync.Mutex
	tokens map[string]int // builds by idempotency token
	all    []*build
}

// A build is one process.
type build struct {
	ID     string `json:"id"`
	Status string `json:"buildStatus"`
	Done   bool   `json:"buildComplete"`
	pid    int
	ended  chan struct{}
}

func (s *Stack) serveBuilds() {
	s.builds = &builds{stack: s, tokens: map[string]int{}}
	server := httptest.NewServer(s.builds)
	s.builds.url = server.URL
	s.t.Cleanup(func() {
		s.KillBuilds()
		server.Close()
	})
}

func (s *Stack) makeProject(name string, p map[string]any) {
	role := templates.Target(p["ServiceRole"])
	front := httptest.NewServer(s.newGate("build", role))
	s.t.Cleanup(front.Close)
	b := s.builds
	b.role, b.name = role, s.Ref(name)
	b.env = map[string]string{"AWS_ENDPOINT_URL": front.URL, "AWS_ENDPOINT_URL_S3": front.URL, "AWS_ENDPOINT_URL_DYNAMODB": front.URL, "AWS_ENDPOINT_URL_STS": front.URL}
	for _, v := range p["Environment"].(map[string]any)["EnvironmentVariables"].([]any) {
		v := s.resolver.Resolve(v).(map[string]any)
		b.env[v["Name"].(string)] = fmt.Sprint(v["Value"])
	}
	maps.Copy(b.env, s.Env)
}

// callOfBuilds reads a request.
// Source: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
func callOfBuilds(operation string, body []byte) templates.Call {
	in := readBuilds(body)
	project, _, _ := strings.Cut(strings.Join(append(in.IDs, in.ID), ""), ":")
	return templates.Call{Action: "codebuild:" + operation, Resource: arn("codebuild", "project/"+in.Project+project)}
}

type buildsInput struct {
	Project string                         `json:"projectName"`
	Token   string                         `json:"idempotencyToken"`
	Env     []struct{ Name, Value string } `json:"environmentVariablesOverride"`
	IDs     []string                       `json:"ids"`
	ID      string                         `json:"id"`
}

func readBuilds(body []byte) (in buildsInput) {
	json.Unmarshal(body, &in) // a body without JSON names no project, and is refused
	return in
}

// ServeHTTP implements http.Handler.
func (b *builds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in := readBuilds(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch i := slices.IndexFunc(b.all, func(x *build) bool { return x.ID == in.ID || slices.Contains(in.IDs, x.ID) }); {
	case operation == "StartBuild":
		i, ok := b.tokens[in.Token]
		if !ok {
			i = len(b.all)
			b.tokens[in.Token] = i
			b.start(in)
		}
		json.NewEncoder(w).Encode(map[string]any{"build": b.all[i]})
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

// start starts a process, after what CodeBuild and the buildspec ask for; b.mu is held.
func (b *builds) start(in buildsInput) {
	s := b.stack
	s.must(templates.Rights{Who: "codebuild.amazonaws.com"}, templates.Call{
		Action: "sts:AssumeRole", Resource: s.Att(b.role + ".Arn"), Context: map[string][]string{"aws:SourceAccount": {AccountID}},
	})
	s.must(s.rightsOf(b.role), templates.Call{Action: "lambda:GetFunction", Resource: FunctionARN(s.Ref("ApplyFunction"))})
	for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
		s.must(s.rightsOf(b.role), templates.Call{Action: action, Resource: strings.TrimSuffix(s.Att("ApplyBuildLog.Arn"), "*") + "log-stream:a"})
	}
	x := &build{ID: fmt.Sprintf("%s:%08d-0000-4000-8000-000000000000", b.name, len(b.all)), Status: "IN_PROGRESS", ended: make(chan struct{})}
	b.all = append(b.all, x)
	tmp, err := os.MkdirTemp("", "l-*")
	if err != nil {
		s.t.Error(err)
		return
	}
	cmd := exec.Command(s.Bootstraps["apply"])
	cmd.Env = []string{
		"AWS_REGION=" + Region, "AWS_DEFAULT_REGION=" + Region, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"CODEBUILD_BUILD_ID=" + x.ID, fmt.Sprintf("CODEBUILD_START_TIME=%d", time.Now().UnixMilli()),
		"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + tmp,
	}
	for k, v := range b.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	for _, v := range in.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.Log, s.Log, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
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
}

// kill ends a process; b.mu is held.
func (b *builds) kill(x *build, status string) {
	select {
	case <-x.ended:
	default:
		x.Status = status
		syscall.Kill(-x.pid, syscall.SIGKILL)
	}
}

// KillBuilds ends the processes of all builds at once, as a fault of CodeBuild does.
func (s *Stack) KillBuilds() {
	s.builds.mu.Lock()
	defer s.builds.mu.Unlock()
	for _, x := range s.builds.all {
		s.builds.kill(x, "FAULT")
	}
}

// Builds returns the status of all builds, in the order of their starts.
func (s *Stack) Builds() []string {
	s.builds.mu.Lock()
	defer s.builds.mu.Unlock()
	var out []string
	for _, x := range s.builds.all {
		out = append(out, x.Status)
	}
	return out
}
