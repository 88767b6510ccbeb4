package dispatch_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/storytest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// stage is everything, put together: a GitHub, a pipeline behind a webhook, its data in a directory, and our engine. GitHub and
// the webhook are asked without a connection, which would cost a quarter of the time.
type stage struct {
	t    *testing.T
	hub  *githubtest.Hub
	repo *githubtest.Repository
	data *localstore.Dir
	// records are in memory: those of package localstore keep the same contract, and serve is tested with them.
	records pipeline.Records
	chains  memory.Chains // of audit records
	// exchanged is set if the story exchanges the plan of an apply that was begun, so that its audit records must not
	// agree.
	exchanged bool
	app       *github.App
	// appConfig is what the App is made of.
	appConfig github.AppConfig
	pipeline  *dispatch.Pipeline
	webhook   intake.Webhook
	others    map[string]*stage // by the hosts of their webhooks
	// fault answers requests to GitHub in its place, if it reports so; may be nil.
	fault func(http.ResponseWriter, *http.Request) bool
	// unchecked says that GitHub's answers are as in another story, which holds them against its contract.
	unchecked bool
	// answered is told of each answer of GitHub; may be nil.
	answered func(*http.Request, int)
	// strict says that handling a message must not fail.
	strict bool
}

var hush = github.NewSecret("hush")

func newStage(t *testing.T, files githubtest.Files) *stage {
	t.Helper()
	return newStageAt(t, files, nil)
}

// newStageAt is newStage with GitHub's clock.
func newStageAt(t *testing.T, files githubtest.Files, now func() time.Time) *stage {
	t.Helper()
	s := &stage{t: t, others: map[string]*stage{}}
	s.hub = githubtest.New(githubtest.Options{
		Secret: hush, Now: now, Webhook: "http://127.0.0.1/", Transport: storytest.Direct(s.receiver),
		Fault: func(w http.ResponseWriter, r *http.Request) bool { return s.fault != nil && s.fault(w, r) },
	})
	s.repo = s.hub.AddRepository("acme", "infra", withBackends(files))
	s.repo.Grant("alice", "write")
	s.repo.Grant("bob", "write")
	s.repo.Grant("mallory", "read")
	config := s.hub.App("http://127.0.0.1")
	config.Transport = contract.Transport{
		Base: answering{s}, Report: func(err error) { t.Error(err) },
		Ignore: func(r *http.Request) bool {
			return s.fault != nil || s.unchecked || strings.HasPrefix(r.URL.Path, "/archive/")
		},
	}
	s.appConfig = config
	app, err := github.NewApp(config)
	if err != nil {
		t.Fatal(err)
	}
	s.app = app
	s.data = opened(t)
	s.records = new(memory.Store)
	t.Cleanup(s.verifyChains)
	s.pipeline = &dispatch.Pipeline{
		Bases: &gatefacts.Bases{Repositories: app}, Inventory: app,
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return app.Repository(p.Installation, p.Repo) },
		Records: s.records, Artifacts: s.data.Artifacts, Queue: s.data.Queue,
		Engine:  &executor.Engine{Version: "test", Backend: executor.LocalStates(s.data.States)},
		Audit:   audit.Trail{Chains: &s.chains},
		Scratch: t.TempDir(), Serves: serving(t, "acme"), LookEvery: 1, MaxStrangers: 100,
	}
	s.webhook = intake.Webhook{Intake: s.pipeline.Intake(), Secrets: []github.Secret{hush}, Log: func(err error) { t.Error(err) }}
	return s
}

// verifyChains holds that the audit records of the story prove that only what was allowed was applied.
func (s *stage) verifyChains() {
	for chain, records := range s.chains.All() {
		v := audit.Verification{}
		for i, data := range records {
			v.Add(chain, i+1, data)
		}
		for _, f := range v.End() {
			if f.Break && s.exchanged {
				s.exchanged = false
			} else if f.Break {
				s.t.Errorf("audit record %d of %s: %s\n%s", f.N, chain, f.Text, bytes.Join(records, []byte("\n")))
			}
		}
	}
	if s.exchanged {
		s.t.Error("the audit records do not show that the plan was exchanged")
	}
}

// receiver returns the webhook at a host: that of the stage, or of one beside it.
func (s *stage) receiver(host string) http.Handler {
	if other := s.others[host]; other != nil {
		return &other.webhook
	}
	return &s.webhook
}

// opened returns an empty data directory. A database that is not closed keeps its memory.
func opened(t *testing.T) *localstore.Dir {
	t.Helper()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	return data
}

// answering makes requests, and tells the stage of the answers.
type answering struct{ *stage }

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := storytest.Direct(func(string) http.Handler { return a.hub }).RoundTrip(req)
	if err == nil && a.answered != nil {
		a.answered(req, res.StatusCode)
	}
	return res, err
}

// address starts a server of the webhook, for requests that GitHub does not send.
func (s *stage) address() string {
	server := httptest.NewServer(&s.webhook)
	s.t.Cleanup(server.Close)
	return server.URL
}

// serving reads what is served.
func serving(t *testing.T, text string) intake.Serves {
	t.Helper()
	s, err := intake.ParseServes(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gate puts a gate between the pipeline and what is around it, until off is called.
func (s *stage) gate(g memory.Gate) (off func()) {
	p, was := s.pipeline, *s.pipeline
	p.Records, p.Artifacts, p.Queue = g.Records(p.Records), g.Artifacts(p.Artifacts), g.Queue(p.Queue)
	p.Audit.Chains = g.Chains(p.Audit.Chains)
	p.Connect = func(pull pipeline.Pull) (dispatch.GitHub, error) {
		hub, err := was.Connect(pull)
		return storytest.Hub(hub, g), err
	}
	s.webhook.Intake = p.Intake()
	return func() {
		p.Records, p.Artifacts, p.Queue, p.Connect, p.Audit = was.Records, was.Artifacts, was.Queue, was.Connect, was.Audit
		s.webhook.Intake = p.Intake()
	}
}

// refuse has the calls fail that when selects, until off is called.
func (s *stage) refuse(when func(memory.Effect) bool) (off func()) {
	return s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		if when(x) {
			v.Undone = errDown
		}
		return v
	}))
}

// before has something happen before each call that when selects, until off is called.
func (s *stage) before(when func(memory.Effect) bool, happens func()) (off func()) {
	return s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		if when(x) {
			happens()
		}
		return do(ctx)
	})
}

// after has something happen after each call that when selects and that did not fail, until off is called.
func (s *stage) after(when func(memory.Effect) bool, happens func()) (off func()) {
	return s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		err := do(ctx)
		if err == nil && when(x) {
			happens()
		}
		return err
	})
}

// writes selects the writes of records with a prefix in their keys and a text in their values.
func writes(prefix, text string) func(memory.Effect) bool {
	return func(x memory.Effect) bool {
		value, _ := x.With.([]byte)
		return strings.HasPrefix(x.Call, "put "+prefix) && strings.Contains(string(value), text)
	}
}

// checks selects the writes of checks on GitHub.
func checks(are func(github.Check) bool) func(memory.Effect) bool {
	return func(x memory.Effect) bool {
		c, is := x.With.(github.Check)
		return is && are(c)
	}
}

// sends selects the messages of a kind.
func sends(kind pipeline.Kind) func(memory.Effect) bool {
	return func(x memory.Effect) bool {
		m, is := x.With.(pipeline.Message)
		return is && m.Kind == kind
	}
}

// first selects the first of the calls that when does.
func first(when func(memory.Effect) bool) func(memory.Effect) bool {
	var was atomic.Bool
	return func(x memory.Effect) bool { return when(x) && was.CompareAndSwap(false, true) }
}

// calls selects the calls of a name.
func calls(name string) func(memory.Effect) bool {
	return func(x memory.Effect) bool { return x.Call == name }
}

// withBackends makes projects of the root modules: directories with a main.tf.
func withBackends(files githubtest.Files) githubtest.Files {
	out := maps.Clone(files)
	for name := range files {
		if path.Base(name) == "main.tf" && !strings.HasPrefix(name, "modules/") {
			out[path.Join(path.Dir(name), "backend.tf")] = "terraform {\n  backend \"local\" {\n  }\n}\n"
		}
	}
	return out
}

// settle lets everything happen that follows from what was done.
func (s *stage) settle() {
	s.t.Helper()
	for {
		sent, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		handled := s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			err := s.pipeline.Handle(ctx, m)
			if err != nil && s.strict {
				s.t.Errorf("%s is tried again: %v", m.Kind, err)
			}
			return err
		})
		if sent+handled == 0 {
			return
		}
	}
}

// drain has the waiting messages handled.
func (s *stage) drain(ctx context.Context, handle func(context.Context, pipeline.Message) error) int {
	s.t.Helper()
	n, err := s.data.Queue.Drain(ctx, localstore.Worker{Handle: handle, Abandon: s.pipeline.Abandon})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// check returns the check runs at the head of a branch, in a line each.
func (s *stage) check(branch string) string {
	var b strings.Builder
	for _, c := range s.repo.Checks(s.repo.Head(branch)) {
		fmt.Fprintf(&b, "%s %s: %s%s %s\n", c.ExternalID, c.Name, c.Status, c.Conclusion, c.Title)
	}
	return strings.ReplaceAll(b.String(), "completed", "")
}

// checkOf returns the check run of a name at the head of a branch.
func (s *stage) checkOf(branch, name string) githubtest.Check {
	s.t.Helper()
	for _, c := range s.repo.Checks(s.repo.Head(branch)) {
		if c.Name == name {
			return c
		}
	}
	s.t.Fatalf("there is no check %s at the head of %s", name, branch)
	return githubtest.Check{}
}

// pages returns the check runs at the head of a branch, with their pages.
func (s *stage) pages(branch string) string {
	var b strings.Builder
	for _, c := range s.repo.Checks(s.repo.Head(branch)) {
		fmt.Fprintf(&b, "%s: %s %s, %s\n\n%s\n%s\n", c.Name, c.Status, c.Conclusion, c.Title, c.Summary, c.Text)
	}
	return b.String()
}

// names are those of commits, where we name them.
var names = regexp.MustCompile("(at |`|infra-)[0-9a-f]{7}\\b")

// hashes are those of plans, short and whole: a state's lineage is in them.
var hashes = regexp.MustCompile("(`|apply )([0-9a-f]{64}|[0-9a-f]{12})`")

// golden compares what people read with a file of testdata.
func (s *stage) golden(name string, texts ...string) {
	s.t.Helper()
	for i, text := range texts {
		texts[i] = strings.TrimSpace(hashes.ReplaceAllString(names.ReplaceAllString(text, "${1}COMMIT"), "${1}HASH`")) + "\n"
	}
	got, file := strings.Join(texts, "\n=====\n\n"), filepath.Join("testdata", name+".md")
	golden.File(s.t, file, got)
}

// pull pushes changes to a branch and opens a pull request.
func (s *stage) pull(who, branch string, changes githubtest.Files) int {
	s.t.Helper()
	s.repo.Push(who, branch, "Change "+branch, changes)
	n := s.repo.OpenPull(who, "Change "+branch, branch)
	s.settle()
	return n
}

// ref names a pull request as messages do.
func (s *stage) ref(number int) pipeline.Pull {
	return pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: number}
}

// say comments, and returns our answer.
func (s *stage) say(who string, number int, text string) string {
	s.t.Helper()
	id := s.repo.Comment(who, number, text)
	s.settle()
	return s.answerTo(number, id)
}

// answerTo returns our answer to a comment, "" if there is none.
func (s *stage) answerTo(number int, id int64) string {
	s.t.Helper()
	return s.answer(number, strconv.FormatInt(id, 10))
}

// answer returns our answer of a name: the comment with its result, if it has one apart.
func (s *stage) answer(number int, name string) string {
	s.t.Helper()
	answer := s.marked(number, name, comment.AnswerMarker(name))
	result := s.marked(number, name, comment.ResultMarker(name))
	if apart := strings.Contains(answer, "[See the result]"); apart != (result != "") {
		s.t.Errorf("the answer %q, and the result %q", answer, result)
	}
	return cmp.Or(result, answer)
}

// marked returns the one comment of ours that begins with a marker.
func (s *stage) marked(number int, name, marker string) string {
	s.t.Helper()
	answer := ""
	for _, c := range s.repo.Comments(number) {
		if strings.HasPrefix(c.Body, marker) {
			if answer != "" {
				s.t.Errorf("%s was answered twice", name)
			}
			answer = c.Body
		}
	}
	return strings.TrimSpace(strings.TrimPrefix(answer, marker))
}

// status returns the one comment about how the pull request stands.
func (s *stage) status(number int) string {
	s.t.Helper()
	status := ""
	for _, c := range s.repo.Comments(number) {
		if strings.HasPrefix(c.Body, comment.StatusMarker) && c.Author == "lockstep[bot]" {
			if status != "" {
				s.t.Error("there are two status comments")
			}
			status = c.Body
		}
	}
	return status
}

func (s *stage) expect(what, text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

func resource(name, input string) string {
	return "resource \"terraform_data\" \"" + name + "\" {\n  input = \"" + input + "\"\n}\n"
}

// TestTheMainJob is the story of the pipeline: planned, commented, applied; and a
// second plan that is another one by then is refused, and shown anew.
func TestTheMainJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("vpc", "10.0.0.0/16"), "README.md": "hello\n"})

	one := s.pull("alice", "subnet", githubtest.Files{"subnet.tf": resource("subnet", "10.0.1.0/24")})
	s.expect("the plan", s.status(one), "ready to apply – 2 to add, 0 to change, 0 to destroy (`"+s.repo.Head("subnet")[:7]+"`)", "terraform_data.subnet", "10.0.1.0/24", "lockstep apply")
	two := s.pull("bob", "peering", githubtest.Files{"peering.tf": resource("peering", "on")})
	s.expect("the second plan", s.status(two), "2 to add", "terraform_data.peering")

	s.expect("the answer", s.say("alice", one, "lockstep apply"), "**Applied** `.`: 2 added, 0 changed, 0 destroyed.")
	s.expect("the status", s.status(one), "applied by", "applied by `alice`", "Merge this pull request")
	s.expect("a second apply", s.say("alice", one, "lockstep apply"), "**Not applied** `.`", "is already applied, requested by `alice`.")

	s.expect("an apply before the merge", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
	s.repo.Merge("alice", one)
	s.settle()
	s.expect("the new plan", s.status(two), "1 to add, 0 to change, 0 to destroy", "# terraform_data.vpc\n- action: create", "terraform_data.peering",
		"the state was created")
	s.expect("an apply of the former plan", s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "To apply it, comment `lockstep apply "+s.hash(two))
	s.expect("the answer", s.say("bob", two, "lockstep apply "+s.hash(two)), "**Applied** `.`: 1 added, 0 changed, 0 destroyed.")
	s.repo.Merge("bob", two)
	s.settle()

	three := s.pull("alice", "nothing", githubtest.Files{"main.tf": "# the network\n" + resource("vpc", "10.0.0.0/16")})
	s.expect("a plan without changes", s.status(three), "no changes", "up to date")
	s.expect("its apply", s.say("alice", three, "lockstep apply"), "The plan has no changes, so there is nothing to apply.")
}
