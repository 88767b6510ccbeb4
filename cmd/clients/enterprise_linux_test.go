package clients

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

const webhookSecret = "a secret of webhooks"

// An enterprise is a GitHub Enterprise Server around a Hub: one host for the API, the webhooks and git.
// It adds what Lockstep does not use and others do: git itself, and commit statuses. The Hub's commits are
// none of git's, so that names are exchanged in both directions.
type enterprise struct {
	t      *testing.T
	hub    *githubtest.Hub
	server *httptest.Server
	git    http.Handler
	root   string // of the bare repositories
	work   string // a clone
	edited chan githubtest.Edit

	mu       sync.Mutex
	target   string            // of webhooks
	names    map[string]string // git's, by the Hub's
	statuses []string
}

func newEnterprise(t *testing.T) *enterprise {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	e := &enterprise{t: t, root: t.TempDir(), work: filepath.Join(t.TempDir(), "work"), edited: make(chan githubtest.Edit, 1000), names: map[string]string{}}
	e.git = &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Stderr: io.Discard, InheritEnv: []string{"PATH"},
		Env: []string{"GIT_PROJECT_ROOT=" + e.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
	}
	e.server = httptest.NewTLSServer(e)
	t.Cleanup(e.server.Close)
	e.hub = githubtest.New(githubtest.Options{
		Secret: github.NewSecret(webhookSecret), OnEdit: func(x githubtest.Edit) { e.edited <- x },
	})
	return e
}

// host is 127.0.0.1:PORT.
func (e *enterprise) host() string { return e.server.Listener.Addr().String() }

// certificate writes the server's certificate into a file.
func (e *enterprise) certificate() string {
	path := filepath.Join(e.t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

// ServeHTTP implements http.Handler.
func (e *enterprise) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, api := strings.CutPrefix(r.URL.Path, "/api/v3")
	parts := strings.Split(path, "/")
	switch {
	case api && len(parts) == 6 && parts[4] == "statuses":
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.statuses = append(e.statuses, string(body))
		e.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		w.Write(body)
	case api:
		r.URL.Path = e.exchange(path, true)
		answer := httptest.NewRecorder()
		e.hub.ServeHTTP(answer, r)
		body := []byte(e.exchange(answer.Body.String(), false))
		for name, values := range answer.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.Code)
		w.Write(body)
	case path == "/webhook":
		e.forward(w, r)
	default:
		e.git.ServeHTTP(w, r)
	}
}

// exchange puts names of commits for others, and our host for the Hub's.
func (e *enterprise) exchange(text string, back bool) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for hub, git := range e.names {
		if back {
			hub, git = git, hub
		}
		text = strings.ReplaceAll(text, hub, git)
	}
	return strings.ReplaceAll(text, rest.WebURL, e.server.URL+"/")
}

// forward sends a webhook on, with names that its receiver knows, and signed anew.
func (e *enterprise) forward(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body = []byte(e.exchange(string(body), false))
	q, err := http.NewRequestWithContext(r.Context(), http.MethodPost, e.target, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	q.Header = r.Header.Clone()
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	mac.Write(body)
	q.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	q.Header.Del("X-Hub-Signature")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}

// connect lets webhooks go to a URL, through us. The Hub's own client does not know our
// certificate: it speaks to a second, plain address.
func (e *enterprise) connect(target string) {
	e.target = target
	plain := httptest.NewServer(http.HandlerFunc(e.forward))
	e.t.Cleanup(plain.Close)
	e.hub.SetWebhook(plain.URL)
}

// repository makes a repository of files, in the Hub and in git.
func (e *enterprise) repository(owner, name string, files githubtest.Files) *githubtest.Repository {
	e.t.Helper()
	r := e.hub.AddRepository(owner, name, files)
	bare := filepath.Join(e.root, owner, name+".git")
	e.run(e.root, "init", "--quiet", "--bare", "--initial-branch=main", bare)
	e.run(e.root, "init", "--quiet", "--initial-branch=main", e.work)
	e.run(e.work, "remote", "add", "origin", bare)
	e.commit("main", "First commit", r.Head("main"), files)
	return r
}

// push commits changes to a branch, in the Hub and in git.
func (e *enterprise) push(r *githubtest.Repository, branch, message string, changes githubtest.Files) {
	e.t.Helper()
	sha := r.Push("ann", branch, message, changes)
	if e.run(e.work, "branch", "--list", branch) == "" {
		e.run(e.work, "checkout", "--quiet", "-b", branch)
	}
	e.commit(branch, message, sha, changes)
}

func (e *enterprise) commit(branch, message, sha string, files githubtest.Files) {
	e.t.Helper()
	for name, text := range files {
		path := filepath.Join(e.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			e.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	e.run(e.work, "add", "--all")
	e.run(e.work, "commit", "--quiet", "--message", message)
	e.run(e.work, "push", "--quiet", "origin", branch)
	name := strings.TrimSpace(e.run(e.work, "rev-parse", "HEAD"))
	e.mu.Lock()
	e.names[sha] = name
	e.mu.Unlock()
}

func (e *enterprise) run(dir string, args ...string) string {
	e.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	})
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// answer delivers the webhooks, and waits for a comment of the App that has a text.
func (e *enterprise) answer(ctx context.Context, want string) (string, error) {
	if _, err := e.hub.Deliver(ctx); err != nil {
		return "", err
	}
	for {
		select {
		case x := <-e.edited:
			if x.Kind != "comment" || x.Who != "lockstep[bot]" {
				continue
			}
			if !strings.Contains(x.Text, want) {
				return x.Text, fmt.Errorf("the answer lacks %q:\n%s", want, x.Text)
			}
			return x.Text, nil
		case <-ctx.Done():
			return "", fmt.Errorf("no answer with %q", want)
		}
	}
}
