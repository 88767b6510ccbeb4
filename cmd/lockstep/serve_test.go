package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// served is a GitHub on loopback, and what a serve of its App is told.
type served struct {
	programtest.Dir
	hub  *githubtest.Hub
	repo *githubtest.Repository
	api  string // URL

	mu    sync.Mutex
	said  []string      // by our App
	edits chan struct{} // closed with the next edit
}

const servedNetwork = `terraform {
  backend "local" {
  }
}

resource "terraform_data" "host" {
  count = %d
  input = "host ${count.index}"
}
`

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{Dir: programtest.NewDir(t), edits: make(chan struct{})}
	secret := "a secret of webhooks"
	s.hub = githubtest.New(githubtest.Options{Secret: github.NewSecret(secret), OnEdit: s.edit})
	api := httptest.NewServer(s.hub)
	t.Cleanup(api.Close)
	s.repo = s.hub.AddRepository("acme", "infra", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 0)})
	s.repo.Grant("alice", "write")
	s.Write("key.pem", s.hub.AppKey())
	s.Write("secret", secret+"\n")
	s.api = api.URL
	return s
}

func (s *served) edit(e githubtest.Edit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasSuffix(e.Who, "[bot]") {
		s.said = append(s.said, e.Kind+": "+e.Text)
	}
	close(s.edits)
	s.edits = make(chan struct{})
}

// await waits until our App has said one of some things.
func (s *served) await(parts ...string) {
	s.T.Helper()
	late := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		said, edits := s.said, s.edits
		s.mu.Unlock()
		for _, x := range said {
			for _, part := range parts {
				if strings.Contains(x, part) {
					return
				}
			}
		}
		select {
		case <-edits:
		case <-late:
			s.T.Fatalf("nobody says one of %q, but:\n%.2000s", parts, strings.Join(said, "\n"))
		}
	}
}

// A process is a `lockstep serve` in a process of its own.
type process struct {
	*exec.Cmd
	t      *testing.T
	url    string
	stderr *bytes.Buffer
}

// start starts one, on the data directory "data".
func (s *served) start(args ...string) *process {
	s.T.Helper()
	args = append([]string{"lockstep", "serve", "-app-key", "key.pem", "-webhook-secret", "secret", "-github-url", s.api, "-addr", "127.0.0.1:0", "-data", "data", "-serves", "acme/infra"}, args...)
	p := &process{t: s.T, stderr: new(bytes.Buffer)}
	p.Cmd = &exec.Cmd{Path: programtest.Executable(s.T), Args: args, Dir: s.Path, Env: append(s.Environ(), fmt.Sprintf("LOCKSTEP_APP_ID=%d", s.hub.App("").ID)), Stderr: p.stderr}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
		if s.T.Failed() {
			s.T.Logf("a serve said:\n%s", p.stderr)
		}
	})
	r := bufio.NewReader(out)
	r.ReadString('\n')
	line, err := r.ReadString('\n')
	m := regexp.MustCompile(`^  Webhooks: (http://[^/]+)/webhook\n`).FindStringSubmatch(line)
	if m == nil {
		p.Process.Kill()
		p.Wait()
		s.T.Fatalf("%q %v\n%s", line, err, p.stderr)
	}
	p.url = m[1]
	s.hub.SetWebhook(p.url + "/webhook")
	return p
}

// stop interrupts it; it must end well.
func (p *process) stop(signal os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		p.t.Errorf("it ends with %v\n%s", err, p.stderr)
	}
}

func (s *served) deliver() {
	s.T.Helper()
	if _, err := s.hub.Deliver(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// From a signed webhook to the applied state, by a process as it is installed; what is
// missed while it is not there is found at the next start.
func TestServe(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	p := s.start()
	s.repo.Push("alice", "hosts", "Two hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 2)})
	s.repo.OpenPull("alice", "Two hosts", "hosts")
	s.deliver()
	s.await("2 to add, 0 to change, 0 to destroy (`")
	body := s.get(p.url + "/acme/infra/pull/1")
	for _, want := range []string{"ready to apply", "2 to add", "terraform_data.host[1]"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %q:\n%s", want, body)
		}
	}
	p.stop(syscall.SIGTERM)

	s.repo.Push("alice", "hosts", "Three hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, 3)})
	s.hub.LoseDeliveries(100)
	s.deliver()
	s.hub.LoseDeliveries(0)
	p = s.start()
	s.await(fmt.Sprintf("ready to apply – 3 to add, 0 to change, 0 to destroy (`%.7s`)", s.repo.Head("hosts")))
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	s.await("**Applied** `network`: 3 added")
	p.stop(os.Interrupt)
	// No program was started, and yet it is known what they would be kept from.
	if said := p.stderr.String(); runtime.GOOS == "linux" && !strings.Contains(said, "runs have these restrictions:") {
		t.Errorf("it does not say what programs are kept from:\n%s", said)
	}
	if n := s.hosts(); n != 3 {
		t.Errorf("%d hosts are in the state", n)
	}
}

// get returns a page, as somebody sees it who has the token of the data directory. Nobody else sees it.
func (s *served) get(url string) string {
	s.T.Helper()
	if res, err := http.Get(url); err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusUnauthorized {
		s.T.Errorf("GET %s without the token: %v, %v", url, res, err)
	}
	token, err := os.ReadFile(filepath.Join(s.Path, "data/page-token"))
	if err != nil {
		s.T.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusOK {
		s.T.Errorf("GET %s: %s %v", url, res.Status, err)
	}
	return b.String()
}

// stateDir is the directory of the state.
func (s *served) stateDir() string {
	return executor.LocalState(filepath.Join(s.Path, "data/states"), s.repo.Repo().ID, "network", "default")
}

// hosts returns how many hosts the state has; none if there is no state.
func (s *served) hosts() int {
	s.T.Helper()
	data, err := os.ReadFile(filepath.Join(s.stateDir(), "terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		s.T.Fatal(err)
	}
	var state struct {
		Resources []struct{ Instances []any }
	}
	if err := json.Unmarshal(data, &state); err != nil {
		s.T.Fatalf("%v\n%s", err, data)
	}
	n := 0
	for _, r := range state.Resources {
		n += len(r.Instances)
	}
	return n
}

// A serve that is asked to end in the middle of an apply begins no other change, and writes the state: the
// next one goes on with the rest, and there is one answer.
func TestServeIsInterrupted(t *testing.T) {
	t.Parallel()
	for hosts := 3000; !interruptServe(t, hosts); hosts *= 4 { // on a busy machine an apply may end before its interrupt
		if hosts > 100_000 {
			t.Fatalf("the apply of %d hosts did not end in its middle", hosts)
		}
	}
}

// interruptServe interrupts serve in an apply of so many hosts, and reports whether that was in its middle.
func interruptServe(t *testing.T, hosts int) bool {
	t.Helper()
	s := newServed(t)
	p := s.start()
	s.repo.Push("alice", "hosts", "Hosts", githubtest.Files{"network/main.tf": fmt.Sprintf(servedNetwork, hosts)})
	s.repo.OpenPull("alice", "Hosts", "hosts")
	s.deliver()
	s.await(fmt.Sprintf("ready to apply – %d to add, 0 to change, 0 to destroy (`%.7s`)", hosts, s.repo.Head("hosts")))
	s.repo.Comment("alice", 1, "lockstep apply")
	s.deliver()
	programtest.WaitFor(t, "hosts are in the journal", func() bool {
		journal, err := os.ReadFile(filepath.Join(s.stateDir(), ".terraform.tfstate.journal"))
		return err == nil && strings.Count(string(journal), `"kind":"outcome"`) > 10
	})
	p.stop(syscall.SIGTERM)
	if !strings.Contains(p.stderr.String(), "Interrupt received") {
		t.Errorf("it says\n%s", p.stderr)
	}
	before := s.hosts()
	p = s.start()
	s.await("reaction: rocket", "reaction: confused")
	p.stop(os.Interrupt)
	answer := ""
	for _, c := range s.repo.Comments(1) {
		if strings.Contains(c.Body, "lockstep:answer") {
			answer = c.Body
		}
	}
	m := regexp.MustCompile(`(\d+) added, 0 changed, 0 destroyed`).FindStringSubmatch(answer)
	if m == nil {
		t.Fatalf("it says\n%s", answer)
	}
	if got := s.hosts(); fmt.Sprint(got) != m[1] || got != hosts {
		t.Errorf("%d of %d hosts are in the state, and it says\n%s", got, hosts, answer)
	}
	t.Logf("%d of %d hosts were made before it ended", before, hosts)
	return 0 < before && before < hosts || t.Failed()
}

// awaitApply waits until an apply has begun: there is a note of it.
func (s *served) awaitApply() {
	s.T.Helper()
	data, err := localstore.Open(filepath.Join(s.Path, "data"))
	if err != nil {
		s.T.Fatal(err)
	}
	defer data.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		begun, err := data.Records.ListAll(s.T.Context(), "effect")
		if err != nil {
			s.T.Fatal(err)
		}
		if len(begun) > 0 {
			return
		}
	}
	s.T.Fatal("no apply begins")
}

func TestServeCannotBegin(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.Write("short", "swordfish")
	s.Write("empty", "\n")
	s.Write("env", "AWS_SECRET_ACCESS_KEY=x\nhunter2\n")
	s.Write("file", "x")
	id := []string{"-app-id", "4711"}
	base := append(id, "-app-key", "key.pem", "-webhook-secret", "secret", "-data", "data", "-addr", "127.0.0.1:0")
	for _, c := range []struct {
		name       string
		args       []string
		want, hint string
	}{
		{"nothing", nil, "serve needs -app-id", "lockstep demo"},
		{"a name for the App", []string{"-app-id", "lockstep", "-app-key", "key.pem", "-webhook-secret", "secret"}, "not a number", "App ID"},
		{"no such key", append(id, "-app-key", "none.pem", "-webhook-secret", "secret"), "the file none.pem of -app-key does not exist", "the name of a file"},
		{"something else for a key", append(id, "-app-key", "short", "-webhook-secret", "secret"), "not an RSA key", ".pem"},
		{"no secret", append(id, "-app-key", "key.pem", "-webhook-secret", "empty"), "the file empty of -webhook-secret is empty", ""},
		{"plain http", append(base, "-github-url", "http://github.example"), "is not an https URL", "-github-url"},
		{"a wrong App", append(append([]string{}, base...), "-app-id", "4712", "-github-url", s.api), "GitHub says 401", "-app-id"},
		{"data that cannot be", append(append([]string{}, base...), "-data", "file/dir", "-github-url", s.api), "the data directory cannot be opened", "-data"},
		{"a short token", append(base, "-page-token", "short"), "has 9 characters", "openssl rand"},
		{"strange names", append(base, "-serves", "acme/infra,*,acme/x/y"), `"acme/x/y": "x/y" is not the name of a repository`, "acme/team-*"},
		{"a strange address", append(base, "-url", "lockstep.example"), "not the address of a server", "https://"},
		{"one place for all", append(base, "-states", "s3://states/**"), "the same for all repositories", "{owner}"},
		{"a role without a region", append(base, "-state-role", "arn:aws:iam::1:role/states"), "no region is set", "AWS_REGION"},
		{"a function without an account", append(base, "-functions", "lockstep-call-*"), "arn:aws:lambda:REGION:ACCOUNT:", "ARNs like -functions"},
		{"a key for a function", append(base, "-webhook-keys", "arn:aws:lambda:*:111122223333:function:x"), "arn:aws:secretsmanager:REGION:ACCOUNT:", "ARNs like -webhook-keys"},
		{"a topic of another service", append(base, "-topics", "arn:aws:lambda:*:111122223333:function:x"), "arn:aws:sns:REGION:ACCOUNT:", "ARNs like -topics"},
		{"programs that are nowhere", append(base, "-hook-programs", "nowhere"), "-hook-programs: stat ", "chmod go-w nowhere"},
		{"a state that nobody has", []string{"-data", "data", "-release", "s3://states/net"}, "no repository owns the state s3://states/net", "s3://BUCKET/KEY"},
		{"a collector of another kind", append(base, "-collector", "short"), "-collector: short: the first line is not the address of a collector", "Authorization: Bearer TOKEN"},
		{"a strange environment", append(base, "-plugin-env", "env"), "not NAME=value", "each line"},
	} {
		args := append([]string{"serve"}, c.args...)
		r := s.Run(args...)
		if r.Code != 1 || !strings.Contains(r.Stderr, c.want) || !strings.Contains(r.Stderr, c.hint) || !strings.HasPrefix(r.Stderr, "lockstep: error: ") {
			t.Errorf("%s: exit code %d\n%s", c.name, r.Code, r.Stderr)
		}
		if strings.Contains(r.Stderr, "hunter2") || strings.Contains(r.Stderr, "swordfish") || strings.Contains(r.Out+r.Stderr, "RSA PRIVATE KEY-----\n") {
			t.Errorf("%s: a secret is told:\n%s", c.name, r.Stderr)
		}
	}
}
