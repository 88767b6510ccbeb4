package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// A stage is a pipeline of one version, with all that is around it. Its clock is that of a bubble of testing/synctest.
type stage struct {
	t        *testing.T
	store    *store
	states   string // directory
	hub      *githubtest.Hub
	repo     *githubtest.Repository
	app      *github.App
	pipeline *dispatch.Pipeline
	webhook  intake.Webhook
	held     map[pipeline.Kind]bool
	pulls    int
	files    map[string]string // of the story, by name
	lines    []string          // the trace
	// journal are the acts of people and of Lockstep on GitHub.
	journal []string
	mu      sync.Mutex
	deaf    bool   // webhooks are taken for delivered
	token   string // of the last request
	began   time.Time
}

var secret = github.NewSecret("hush")

// newStage is a stage without a repository.
func newStage(t *testing.T, version string) *stage {
	s := &stage{t: t, store: newStore(), states: t.TempDir(), held: map[pipeline.Kind]bool{}, began: time.Now()}
	s.hub = githubtest.New(githubtest.Options{Secret: secret, Webhook: "http://lockstep", Now: time.Now, Transport: receiver{s}})
	config := s.hub.App("http://127.0.0.1")
	config.Transport = sender{s}
	app, err := github.NewApp(config)
	if err != nil {
		t.Fatal(err)
	}
	serves, err := intake.ParseServes("acme")
	if err != nil {
		t.Fatal(err)
	}
	s.app = app
	s.pipeline = &dispatch.Pipeline{
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return app.Repository(p.Installation, p.Repo) },
		Records: s.store, Artifacts: artifacts{s.store}, Queue: s.store,
		Engine:  &executor.Engine{Version: version, Backend: s.backend},
		Scratch: t.TempDir(), Serves: serves,
	}
	s.webhook = intake.Webhook{Intake: s.pipeline.Intake(), Secrets: []github.Secret{secret}, Log: func(err error) { s.trace("webhook: %v", err) }}
	return s
}

// backend keeps the states in a directory, by their addresses.
func (s *stage) backend(_ context.Context, j jobs.Job, _ *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
	b, err := local.Open(nil, local.Options{Dir: filepath.Join(s.states, url.PathEscape(j.State.String()))})
	if err != nil {
		return nil, diags.FromError("Error configuring the backend", err)
	}
	return b, nil
}

// A receiver receives webhooks.
type receiver struct{ *stage }

func (r receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if r.deaf {
		answer.WriteHeader(http.StatusAccepted)
		return answer.Result(), nil
	}
	r.webhook.ServeHTTP(answer, req)
	return answer.Result(), nil
}

// A sender makes requests to GitHub, and writes down those that change it. To read a pull request changes its trial merge.
type sender struct{ *stage }

var reading = regexp.MustCompile(`^/repos/[^/]+/[^/]+/pulls/\d+$`)

func (x sender) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	x.store.mu.Lock()
	dead := x.store.dead
	x.store.mu.Unlock()
	if dead {
		return nil, errDied
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.token = req.Header.Get("Authorization")
	changes := req.Method != http.MethodGet && !strings.HasPrefix(req.URL.Path, "/app/")
	if req.URL.Path == "/graphql" {
		changes = strings.Contains(string(body), "mutation")
	}
	if changes || reading.MatchString(req.URL.Path) {
		x.note("%s", strings.TrimSpace(req.Method+" "+req.URL.RequestURI()+" "+compact(body)))
	}
	answer := httptest.NewRecorder()
	x.hub.ServeHTTP(answer, req)
	return answer.Result(), nil
}

func compact(body []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, body) != nil {
		return strconv.Quote(string(body))
	}
	return b.String()
}

// note writes an act into the journal, with its time.
func (s *stage) note(format string, args ...any) {
	line := fmt.Sprintf("+%d ", int(time.Since(s.began).Seconds())) + fmt.Sprintf(format, args...)
	if n := len(s.journal); strings.Contains(line, " GET ") && n > 0 && s.journal[n-1] == line {
		return
	}
	s.journal = append(s.journal, line)
}

// trace adds a line to the trace.
func (s *stage) trace(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		s.lines = append(s.lines, strings.TrimRight("= "+plain(line), " \n"))
	}
}

// hex are names that another engine, or another day, gives.
var hex = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)

func plain(text string) string {
	return hex.ReplaceAllStringFunc(text, func(x string) string {
		if len(x) < 12 && strings.Trim(x, "0123456789") == "" {
			return x
		}
		return "HASH"
	})
}

// patience is the time for which messages are waited for: the second attempt at one comes after five minutes.
const patience = 10 * time.Minute

// settle has all webhooks delivered and all messages handled, but for those that are held back.
func (s *stage) settle() {
	ctx := s.t.Context()
	end := time.Now().Add(patience)
	for range 1000 {
		sent := s.deliver()
		w, m, until, err := s.store.next(s.held)
		switch {
		case err != nil:
			s.t.Fatal(err)
		case w != nil:
			s.handle(ctx, w, m)
		case sent > 0:
		case until.IsZero() || until.After(end):
			return
		default:
			time.Sleep(time.Until(until))
		}
	}
	s.t.Error("the story does not end")
}

func (s *stage) deliver() int {
	if s.hub.Waiting() == 0 {
		return 0
	}
	s.note("deliver")
	n, err := s.hub.Deliver(s.t.Context())
	if err != nil {
		s.trace("webhook: %v", err)
	}
	return n
}

// handle does as a queue and a function do with a message.
func (s *stage) handle(ctx context.Context, w *waiting, m pipeline.Message) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	w.Receives++
	var err error
	if w.Reason == "" {
		err = s.pipeline.Handle(ctx, m)
	} else {
		s.trace("abandon %s", m.Kind)
		err = s.pipeline.Abandon(ctx, m, w.Reason)
	}
	if s.store.revive() {
		w.Ready = time.Now().Add(16 * time.Minute) // it is seen again when the function's time is over
		s.store.back(w)
		return
	}
	if err == nil {
		return
	}
	if !errors.As(err, new(*pipeline.BusyError)) && !errors.As(err, new(*pipeline.HandOver)) {
		s.trace("again: %s: %v", m.Kind, err)
	}
	if w.Reason == "" && w.Receives >= m.Queue().Receives() || m.Queue() == pipeline.Applies && w.Receives > 5 {
		w.Reason = err.Error()
	}
	if w.Receives > m.Queue().Receives()+3 {
		s.t.Errorf("%s is lost: %v", m.ID, err)
		return
	}
	w.Ready = time.Now().Add(pipeline.Redelivery(w.Receives, err, time.Now()))
	s.store.back(w)
}

// round is one of the janitor. Its number of findings is not traced: it may be another one for records of other versions.
func (s *stage) round() {
	j := &reconcile.Janitor{Pipeline: s.pipeline, App: s.app, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return s.app.Repository(installation, r)
	}}
	if _, err := j.Round(s.t.Context(), time.Now()); err != nil {
		s.trace("round: %v", err)
	}
	s.settle()
}

// comments are ours on a pull request that begin with a marker, without it.
func (s *stage) comments(number int, marker string) (out []string) {
	for _, c := range s.repo.Comments(number) {
		if text, ok := strings.CutPrefix(c.Body, marker); ok && c.Author == "lockstep[bot]" {
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

// tell traces how everything stands.
func (s *stage) tell() {
	for n := 1; n <= s.pulls; n++ {
		list := s.comments(n, comment.StatusMarker)
		if len(list) > 1 {
			s.t.Errorf("#%d has %d status comments", n, len(list))
		}
		for _, text := range list {
			s.trace("#%d %s", n, gist(text))
		}
		s.checks(n)
	}
	for _, x := range s.repo.Issues() {
		s.trace("issue open=%v %s", x.Open, x.Title)
	}
	s.objects()
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	for _, w := range s.store.waiting {
		s.trace("waiting %s %s", w.Queue, w.Body)
	}
}

// gist is a comment without its folded parts.
func gist(text string) string {
	var out []string
	fold := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fold += strings.Count(line, "<details")
		if fold == 0 && line != "" && !strings.HasPrefix(line, "<") {
			out = append(out, line)
		}
		fold -= strings.Count(line, "</details>")
	}
	return strings.Join(out, "\n  ")
}

func (s *stage) checks(number int) {
	ctx := s.t.Context()
	c, err := s.app.Repository(s.repo.Installation(), s.repo.Repo())
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := c.PullRequest(ctx, number)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, x := range s.repo.Checks(p.Head.SHA) {
		s.trace("  %s: %s %s: %s", x.Name, x.Status, x.Conclusion, x.Title)
	}
}

// objects traces the resources in the states.
func (s *stage) objects() {
	files, _ := filepath.Glob(filepath.Join(s.states, "*", "terraform.tfstate"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		var has struct {
			Resources []struct {
				Name      string
				Instances []struct{ Status string }
			}
		}
		if err := json.Unmarshal(data, &has); err != nil {
			s.t.Fatalf("%s: %v", file, err)
		}
		var names []string
		for _, r := range has.Resources {
			for _, i := range r.Instances {
				names = append(names, strings.TrimSpace(r.Name+" "+i.Status))
			}
		}
		place, _ := url.PathUnescape(filepath.Base(filepath.Dir(file)))
		s.trace("state %s: %s", place, strings.Join(names, ", "))
	}
}
