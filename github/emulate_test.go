package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// emulator is a GitHub that others have written: emulate, from npm. It knows a
// repository acme/infra, an App of the name lockstep, and a person, admin.
type emulator struct {
	url string
	app *github.App
	// webhooks gets what was read of each webhook.
	webhooks chan delivered
}

type delivered struct {
	github.Delivery
	err error
}

// hook starts the App's end of webhooks.
func (e *emulator) hook(t *testing.T, secret string) (url string) {
	e.webhooks = make(chan delivered, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := github.ReadPayload(r.Body)
		if err != nil {
			t.Error(err)
		}
		d, err := github.ReadDelivery(r.Header, body, github.NewSecret(secret))
		e.webhooks <- delivered{d, err}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func startEmulator(t *testing.T) *emulator {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		statebackendtest.Missing(t, "node is not installed")
	}
	module := statebackendtest.Part(t, "npm", "emulate", "node_modules", "emulate", "dist", "api.js")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	e := &emulator{}
	type list []map[string]any
	seed, err := json.Marshal(map[string]any{
		"tokens": map[string]any{"admin-token": map[string]any{"login": "admin", "scopes": []string{"repo"}}},
		"github": map[string]any{
			"users": list{{"login": "admin"}, {"login": "acme"}},
			"repos": list{{"owner": "acme", "name": "infra"}},
			"apps": list{{
				"app_id": 77, "slug": "lockstep", "name": "Lockstep", "private_key": private,
				"webhook_url": e.hook(t, "hush"), "webhook_secret": "hush", "events": []string{"issue_comment"},
				"permissions":   map[string]string{"issues": "write", "pull_requests": "write", "checks": "write", "contents": "read", "metadata": "read"},
				"installations": list{{"installation_id": 99, "account": "acme", "repository_selection": "all"}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.url = "http://" + statebackendtest.StartServer(t, func(address string) *exec.Cmd {
		cmd := statebackendtest.Server(node, "testdata/emulate.mjs", module, address)
		cmd.Env = append(os.Environ(), "EMULATE_SEED="+string(seed))
		return cmd
	})
	e.app, err = github.NewApp(github.AppConfig{ID: 77, Key: github.NewSecret(private), URL: e.url, Transport: byName{}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// byName sends requests about the repository of an ID by its name, as the emulator knows no others.
type byName struct{}

var repositoryID = regexp.MustCompile(`^/repositories/\d+`)

func (byName) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Path = repositoryID.ReplaceAllString(out.URL.Path, "/repos/acme/infra")
	out.URL.RawPath = ""
	return http.DefaultTransport.RoundTrip(out)
}

// ask makes a request as admin, and reads the answer.
func (e *emulator) ask(t *testing.T, method, path, body string, answer any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token admin-token")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %s, %v", method, path, res.Status, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatal(err)
	}
}

// TestEmulator lets the client speak to a GitHub that is not ours: as an App, which
// finds its installation, gets tokens, comments and writes check runs.
func TestEmulator(t *testing.T) {
	e := startEmulator(t)
	if login, err := e.app.Login(t.Context()); err != nil || login != "lockstep[bot]" {
		t.Errorf("%s, %v", login, err)
	}
	installations, err := e.app.Installations(t.Context())
	if err != nil || len(installations) != 1 || installations[0] != (github.Installation{ID: 99, Account: "acme"}) {
		t.Fatalf("%+v, %v", installations, err)
	}
	var repo struct{ ID int64 }
	e.ask(t, "GET", "/repos/acme/infra", "", &repo)
	client, err := e.app.Repository(99, github.Repo{ID: repo.ID, Owner: "acme", Name: "infra"})
	if err != nil {
		t.Fatal(err)
	}
	var ref struct{ Object struct{ SHA string } }
	e.ask(t, "GET", "/repos/acme/infra/git/ref/heads/main", "", &ref)
	t.Run("comments", func(t *testing.T) { e.comments(t, client) })
	t.Run("check runs", func(t *testing.T) { e.checks(t, client, ref.Object.SHA) })
	t.Run("files", func(t *testing.T) {
		if b, err := client.File(t.Context(), ref.Object.SHA, "README.md"); err != nil || !strings.Contains(string(b), "# infra") {
			t.Errorf("%q, %v", b, err)
		}
	})
	t.Run("another App", func(t *testing.T) {
		config := github.AppConfig{ID: 77, Key: e.otherKey(t), URL: e.url}
		other, err := github.NewApp(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Installations(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("error: %v", err)
		}
	})
}

func (e *emulator) otherKey(t *testing.T) github.Secret {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return github.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
}

func (e *emulator) comments(t *testing.T, client *github.Client) {
	const marker = "<!-- marker -->"
	var issue struct{ Number int }
	e.ask(t, "POST", "/repos/acme/infra/issues", `{"title":"A pull request, as far as comments go"}`, &issue)
	e.ask(t, "POST", fmt.Sprintf("/repos/acme/infra/issues/%d/comments", issue.Number), `{"body":"`+marker+` I was here first"}`, &struct{}{})
	select {
	case d := <-e.webhooks:
		if e, is := d.Event.(github.CommentEvent); d.err != nil || !is || !e.Issue || e.Number != issue.Number {
			t.Errorf("the webhook: %+v, %v", d.Event, d.err)
		}
	case <-time.After(20 * time.Second):
		t.Error("there was no webhook")
	}
	id, _, err := client.PutComment(t.Context(), issue.Number, github.Earlier{}, marker, marker+"\none")
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := client.PutComment(t.Context(), issue.Number, github.Earlier{}, marker, marker+"\ntwo"); err != nil || again != id {
		t.Errorf("%d after %d, %v", again, id, err)
	}
	var list []struct {
		Body string
		User struct{ Login string }
	}
	e.ask(t, "GET", fmt.Sprintf("/repos/acme/infra/issues/%d/comments", issue.Number), "", &list)
	var got []string
	for _, c := range list {
		got = append(got, c.User.Login+": "+c.Body)
	}
	if diff := cmp.Diff([]string{"admin: " + marker + " I was here first", "lockstep[bot]: " + marker + "\ntwo"}, got); diff != "" {
		t.Error(diff)
	}
}

// checks does not let a check run be found again: the emulator forgets who made it.
func (e *emulator) checks(t *testing.T, client *github.Client, sha string) {
	c := github.Check{
		Name: "lockstep/network", SHA: sha, ExternalID: "1/network", Status: github.CheckQueued,
		Title: "Waiting", Summary: "The plan waits for its turn.", Text: "More.", URL: "https://lockstep.example/1",
	}
	id, err := client.PutCheck(t.Context(), 0, c)
	if err != nil {
		t.Fatal(err)
	}
	type run struct {
		Name, Status, Conclusion string
		SHA                      string `json:"head_sha"`
		ExternalID               string `json:"external_id"`
		Output                   struct{ Title, Summary, Text string }
	}
	read := func() (r run) {
		t.Helper()
		e.ask(t, "GET", fmt.Sprintf("/repos/acme/infra/check-runs/%d", id), "", &r)
		return r
	}
	want := run{Name: c.Name, Status: "queued", SHA: sha, ExternalID: c.ExternalID}
	want.Output.Title, want.Output.Summary, want.Output.Text = c.Title, c.Summary, c.Text
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Error(diff)
	}
	c.Status, c.Conclusion, c.Title, c.Text = github.CheckCompleted, github.ConcludedFailure, "Failed", ""
	if again, err := client.PutCheck(t.Context(), id, c); err != nil || again != id {
		t.Fatal(again, err)
	}
	want.Status, want.Conclusion, want.Output.Title, want.Output.Text = "completed", "failure", "Failed", ""
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Error(diff)
	}
}
