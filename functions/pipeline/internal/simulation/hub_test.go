package simulation

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var hush = github.NewSecret("hush")

// hub is GitHub, with one repository.
type hub struct {
	*githubtest.Hub
	repo     *githubtest.Repository
	serves   intake.Serves
	receiver http.Handler // of the webhook under way
	app      *github.App  // one for all processes: signing takes long
	found    bool         // whether the janitor found something
	// checkouts are commits by directory; commits and discovered are what is in them.
	checkouts  map[string]string
	commits    map[string]fstest.MapFS
	discovered map[string]jobs.Discovered
}

func newHub(s *simulation, files githubtest.Files) (*hub, error) {
	h := &hub{checkouts: map[string]string{}, commits: map[string]fstest.MapFS{}, discovered: map[string]jobs.Discovered{}}
	h.Hub = githubtest.New(githubtest.Options{Secret: hush, Now: time.Now, Lean: true, Transport: inProcess{func() http.Handler { return h.receiver }}})
	h.SetWebhook("http://127.0.0.1/webhook")
	h.repo = h.AddRepository("acme", "infra", files)
	h.repo.Grant("alice", "write")
	h.repo.Grant("bob", "write")
	h.repo.Grant("mallory", "read")
	h.Accepts("contents", "write")
	config := h.Hub.App("http://127.0.0.1/")
	config.Transport = wire{s}
	config.Pause = func(attempt int) time.Duration { return 613 * time.Millisecond << attempt } // the same for each seed
	var err error
	if h.app, err = github.NewApp(config); err != nil {
		return nil, err
	}
	h.serves, err = intake.ParseServes("acme, beta")
	return h, err
}

// wire carries the requests of all processes to GitHub.
type wire struct{ s *simulation }

type processKey struct{}

func (w wire) RoundTrip(r *http.Request) (res *http.Response, err error) {
	name, p := r.Method+" "+r.URL.Path, r.Context().Value(processKey{}).(*process)
	if strings.HasSuffix(r.URL.Path, "/access_tokens") { // the client keeps a lock meanwhile
		return inProcess{func() http.Handler { return w.s.hub }}.RoundTrip(r)
	}
	err = p.do(r.Context(), name, func() error {
		if w.s.mishap() {
			res = respond(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { w.s.excuse()(rw) }), r)
			return nil
		}
		res = respond(w.s.hub, r)
		return nil
	})
	if err != nil {
		res = nil
	}
	return res, err
}

// excuse is a reason of GitHub's not to answer.
func (s *simulation) excuse() githubtest.Failure {
	switch s.IntN(3) {
	case 0:
		return githubtest.SecondaryLimit(s.IntN(90))
	case 1:
		return githubtest.Limited(time.Now().Add(time.Duration(s.IntN(1800)) * time.Second))
	}
	return githubtest.Outage
}

// inProcess carries requests to a handler.
type inProcess struct{ to func() http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) { return respond(t.to(), r), nil }

func respond(h http.Handler, r *http.Request) *http.Response {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

// client is the client of one process.
type client struct {
	dispatch.GitHub
	p *process
}

// Checkout implements dispatch.GitHub. Only the name of the commit is written, which is much faster:
// the packing and unpacking of commits have tests of their own.
func (c client) Checkout(ctx context.Context, sha, dir string) (u github.Unpacked, err error) {
	err = c.p.do(ctx, "checkout "+sha, func() error {
		if c.p.s.files(sha) == nil {
			return github.ErrNotFound
		}
		c.p.s.checkouts[dir] = sha
		return c.p.s.unpack(sha, dir)
	})
	return u, err
}

// Land implements dispatch.GitHub.
func (c client) Land(ctx context.Context, number int, sha, method string) error {
	c.p.s.lands(number, sha)
	return c.GitHub.Land(ctx, number, sha, method)
}

// files returns the files of a commit, nil if there is none.
func (h *hub) files(sha string) fstest.MapFS {
	if files, ok := h.commits[sha]; ok {
		return files
	}
	var files fstest.MapFS
	if all := h.repo.Files(sha); all != nil {
		files = fstest.MapFS{}
		for name, content := range all {
			files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
		}
	}
	h.commits[sha] = files
	return files
}

// reading is the jobs.Projects of all processes: jobs.LocalProjects, on the files of a commit.
type reading struct{ s *simulation }

// Discover implements jobs.Projects.
func (r reading) Discover(_ context.Context, dir string) (jobs.Discovered, error) {
	sha := r.s.checkouts[dir]
	if d, ok := r.s.discovered[sha]; ok {
		d.Projects = slices.Clone(d.Projects)
		return d, nil
	}
	found, ds := project.Discover(r.s.files(sha))
	d := jobs.Discovered{Projects: found.Projects, Settings: found.Settings}
	if ds.HasErrors() {
		d.Problem = ds.Err().Error()
	}
	r.s.discovered[sha] = d
	d.Projects = slices.Clone(d.Projects)
	return d, nil
}

// Inputs implements jobs.Projects.
func (r reading) Inputs(ctx context.Context, dir string, run runs.Run, s jobs.Scope) (project.Tree, error) {
	d, err := r.Discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, p := range d.Projects {
		if p.Name == run.Project && p.Workspace == run.Workspace {
			return project.Inputs(r.s.files(r.s.checkouts[dir]), p, s.Read...)
		}
	}
	return nil, fmt.Errorf("%w: %s", jobs.ErrNoProject, run.Project)
}

// Touched implements jobs.Projects.
func (r reading) Touched(ctx context.Context, c jobs.Comparison) (out jobs.Compared, err error) {
	d, err := project.Touched(ctx, r.s.files(r.s.checkouts[c.Was]), r.s.files(r.s.checkouts[c.Now]), c.Had, c.Has, func(project.Project) []project.FilesRead { return nil })
	for _, p := range d.Projects {
		out.Touched = append(out.Touched, runs.ID{Project: p.Name, Workspace: p.Workspace}.Target())
	}
	out.Changed = d.Changed
	return out, err
}
