package storytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// stage is the pipeline of a story, with all that is around it.
type stage struct {
	t        *testing.T
	w        *world
	memory   *memory.Store
	chains   memory.Chains // of audit records
	engine   *engine
	hub      *githubtest.Hub
	repo     *githubtest.Repository // nil until the first step that needs it
	base     githubtest.Files
	app      *github.App
	pipeline *dispatch.Pipeline
	serves   string
	scratch  string
	loud     int
	looks    int           // messages of the step look
	stuck    pipeline.Kind // the kind of message whose process dies next, and which the queue then loses
}

// lookTime matches the times in the text of an issue.
var lookTime = regexp.MustCompile(`\b(on) \d{4}-\d\d-\d\d \d\d:\d\d UTC`)

var secret = github.NewSecret("hush")

func newStage(t *testing.T) *stage {
	return &stage{t: t, w: &world{names: map[string]string{}}, base: githubtest.Files{}, serves: "acme"}
}

// open sets the stage up, with the files of the base branch.
func (s *stage) open() {
	if s.repo != nil {
		return
	}
	var webhook intake.Webhook
	s.hub = githubtest.New(githubtest.Options{
		Secret: secret, Webhook: "http://127.0.0.1/", Transport: Direct(func(string) http.Handler { return webhook }),
		OnEdit: func(e githubtest.Edit) { s.w.trace("github: " + e.String()) },
	})
	for name := range s.base {
		if path.Base(name) == "main.tf" {
			s.base[path.Join(path.Dir(name), "backend.tf")] = "terraform {\n  backend \"local\" {\n  }\n}\n"
		}
	}
	s.repo = s.hub.AddRepository("acme", "infra", s.base)
	s.repo.Grant("alice", "write")
	s.repo.Grant("bob", "write")
	s.repo.Grant("mallory", "read")
	var err error
	config := s.hub.App("http://127.0.0.1")
	config.Transport = Direct(func(string) http.Handler { return s.hub })
	if s.app, err = github.NewApp(config); err != nil {
		s.t.Fatal(err)
	}
	serves, err := intake.ParseServes(s.serves)
	if err != nil {
		s.t.Fatal(err)
	}
	s.scratch = s.t.TempDir()
	s.memory = &memory.Store{}
	s.w.was = s.memory.Value
	s.engine = &engine{w: s.w, states: map[string]*state{}, meanwhile: s.meanwhile}
	s.pipeline = &dispatch.Pipeline{
		Bases: &gatefacts.Bases{},
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) {
			c, err := s.app.Repository(p.Installation, p.Repo)
			return Hub(c, s.gate()), err
		},
		Records: s.gate().Records(s.memory), Artifacts: s.gate().Artifacts(s.memory.Artifacts()), Queue: s.gate().Queue(s.memory), Audit: audit.Trail{Chains: s.gate().Chains(&s.chains)},
		Engine: s.engine, Projects: projects{jobs.LocalProjects{}, s.engine}, Scratch: s.scratch, LookEvery: 1, MaxStrangers: 100, Serves: serves, Loud: s.loud,
		// A story has the same calls on a slow machine: only those about a plan that is stopped look for it.
		Poll: time.Hour,
		Log:  s.w.log,
	}
	webhook = intake.Webhook{Intake: s.pipeline.Intake(), Secrets: []github.Secret{secret}, Log: s.w.log}
}

// gate is before all that is around the pipeline.
func (s *stage) gate() memory.Gate { return memory.Deciding(s.w.decide) }

// tidy holds that nothing is left of the checkouts.
func (s *stage) tidy() {
	s.t.Helper()
	left, err := os.ReadDir(s.scratch)
	if err != nil || len(left) > 0 {
		s.t.Errorf("left in the scratch directory: %v, %v", left, err)
	}
}

// settle lets everything happen that follows from a step.
func (s *stage) settle() {
	for range 100 {
		sent, err := s.hub.Deliver(s.t.Context())
		s.w.revive()
		if err != nil {
			s.w.trace("webhook: " + err.Error())
			s.deliverAgain()
		}
		m := s.memory.Next()
		if m == nil && sent == 0 {
			return
		}
		if m != nil {
			s.handle(m)
		}
	}
	s.t.Error("the story does not end")
}

// deliverAgain has GitHub deliver all webhooks again after the fault of a probe: in other stories that is a step's.
func (s *stage) deliverAgain() {
	if s.w.probe == nil {
		return
	}
	for _, id := range s.hub.Deliveries() {
		if _, err := s.hub.Redeliver(s.t.Context(), id); err != nil {
			s.t.Error(err)
		}
	}
}

// meanwhile plays a step while a plan is being made, or tests run: other processes handle the events that it leads to, and the
// one that plans looks for them.
func (s *stage) meanwhile(step string) {
	verb, rest, _ := strings.Cut(step, " ")
	words := strings.Fields(rest)
	number := 1
	switch verb {
	case "push":
		s.repo.Push(words[0], words[1], "Change "+words[1], githubtest.Files{words[2]: content(strings.Join(words[3:], " "))})
	case "say":
		s.repo.Comment(words[0], number, strings.Join(words[2:], " "))
	case "close":
		s.repo.Close(words[0], number)
	case "merge":
		s.repo.Merge(words[0], number)
	default:
		s.t.Fatalf("meanwhile %s: push, say, close and merge can be", step)
	}
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.w.trace("webhook: " + err.Error())
		s.deliverAgain()
	}
	for m := s.memory.Next(); m != nil; m = s.memory.Next() { // a failure brings the same one back
		if s.handle(m) && m.Event() {
			return
		}
	}
}

// handle does as a queue does with a message: it comes again after a failure, and is given up after
// too many. It reports whether the message is done with.
func (s *stage) handle(m *memory.Message) bool {
	ctx := s.t.Context()
	m.Receives++
	var err error
	if m.Kind == s.stuck {
		s.w.faults = append(s.w.faults, fault{"dies", string(m.Kind)})
	}
	rules := slices.Clone(s.engine.rules)
	if m.Reason == "" {
		err = s.pipeline.Handle(ctx, m.Message)
	} else {
		s.w.trace("abandon " + string(m.Kind))
		err = s.pipeline.Abandon(ctx, m.Message, m.Reason)
	}
	s.w.revive()
	if err == nil {
		return true
	}
	if m.Kind == s.stuck {
		s.stuck = ""
		return true
	}
	if s.w.probe != nil && !errors.As(err, new(*pipeline.HandOver)) {
		s.engine.again(rules)
	}
	s.w.trace(fmt.Sprintf("again: %s: %v", m.Kind, err))
	if m.Receives == m.Queue().Receives() {
		m.Reason = err.Error()
	}
	if m.Receives > m.Queue().Receives()+3 {
		return true
	}
	if errors.As(err, new(*pipeline.BusyError)) {
		m.Receives = m.Queue().Receives() // nobody waits in a story
		m.Reason = err.Error()
	}
	s.memory.Back(m)
	return false
}

// redeliver has GitHub deliver a webhook again, or somebody else who has seen it, under another name.
func (s *stage) redeliver(verb string, words []string) {
	s.t.Helper()
	all := s.hub.Deliveries()
	i, err := strconv.Atoi(words[0])
	if words[0] == "last" {
		i, err = len(all), nil
	}
	if err != nil || i < 1 || i > len(all) {
		s.t.Fatalf("%s %s: there are %d webhooks", verb, words, len(all))
	}
	if verb == "redeliver" {
		answer, err := s.hub.Redeliver(s.t.Context(), all[i-1])
		s.w.trace(fmt.Sprint("answer: ", strings.TrimSpace(answer), " ", err))
		return
	}
	event := ""
	if len(words) > 1 {
		event = words[1]
	}
	status, answer, err := s.hub.Replay(s.t.Context(), all[i-1], "00000000-0000-4000-8000-000000000001", event)
	s.w.trace(fmt.Sprint("answer: ", status, " ", strings.TrimSpace(answer), " ", err))
}

// step carries out a step.
func (s *stage) step(verb, rest string) {
	s.t.Helper()
	words := strings.Fields(rest)
	arg := func(i int) string {
		if i >= len(words) {
			s.t.Fatalf("%s %s: something is missing", verb, rest)
		}
		return words[i]
	}
	after := func(i int) string { return strings.TrimSpace(strings.Join(strings.SplitN(rest, " ", i+1)[i:], " ")) }
	number := func(i int) int {
		n, err := strconv.Atoi(arg(i))
		if err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	switch verb {
	case "base":
		s.base[arg(0)] = content(after(1))
		return
	case "serves":
		s.serves = rest
		return
	case "loud":
		s.loud = number(0)
		return
	}
	s.open()
	s.w.trace("") // the steps stand out
	s.w.trace("- " + verb + " " + rest)
	switch verb {
	case "pull", "push":
		if len(words) > 2 {
			s.repo.Push(arg(0), arg(1), "Change "+arg(1), githubtest.Files{arg(2): content(after(3))})
		}
		if verb == "pull" {
			s.repo.OpenPull(arg(0), "Change "+arg(1), arg(1))
		}
	case "branch":
		s.repo.Push("alice", arg(0), "Branch off", githubtest.Files{})
	case "say":
		text := strings.ReplaceAll(strings.ReplaceAll(after(2), `\n`, "\n"), "$PLAN", s.plan(number(1)))
		id := s.repo.Comment(arg(0), number(1), text)
		s.settle()
		s.answer(number(1), id)
	case "merge":
		s.repo.Merge(arg(0), number(1))
	case "squash":
		s.repo.Squash(arg(0), number(1))
	case "close":
		s.repo.Close(arg(0), number(1))
	case "reopen":
		s.repo.Reopen(arg(0), number(1))
	case "retarget":
		s.repo.Retarget(arg(0), number(1), arg(2))
	case "draft":
		s.repo.OpenDraft(arg(0), "Change "+arg(1), arg(1))
	case "refuse":
		s.repo.RefuseMerges(rest)
	case "accept":
		s.hub.Accepts(arg(0), arg(1))
	case "ready":
		s.repo.Ready(arg(0), number(1))
	case "edit":
		for _, c := range s.repo.Comments(number(1)) {
			if c.Author == arg(0) {
				s.repo.EditComment(arg(0), c.ID, after(2))
			}
		}
	case "rerun":
		checks := s.repo.Checks(s.repo.Head(arg(1)))
		s.repo.Rerequest(arg(0), checks[0].ID)
	case "team":
		s.hub.SetTeam("acme", arg(0), words[1:]...)
	case "approve":
		s.repo.Review(arg(0), number(1), github.Approved, "Good.")
	default:
		s.world(verb, rest, words)
	}
	s.settle()
}

// world carries out the steps that are nobody's on GitHub.
func (s *stage) world(verb, rest string, words []string) {
	s.t.Helper()
	switch verb {
	case "engine":
		if strings.Contains(rest, " meanwhile ") || strings.Contains(rest, " stops ") {
			s.pipeline.Poll = time.Millisecond
		}
		if err := s.engine.add(rest); err != nil {
			s.t.Fatal(err)
		}
	case "look":
		p := s.ref(0)
		s.looks++
		m := pipeline.Message{ID: fmt.Sprint("look-", s.looks), Kind: pipeline.ToDrift, Pull: p, Target: rest + "@default"}
		if err := s.memory.Send(s.t.Context(), m); err != nil {
			s.t.Fatal(err)
		}
	case "issue":
		for _, x := range s.repo.Issues() {
			if strconv.Itoa(x.Number) == rest {
				s.print(fmt.Sprintf("%s (open: %v)\n%s", x.Title, x.Open, lookTime.ReplaceAllString(x.Body, "$1 TIME")))
			}
		}
	case "stuck":
		s.stuck = pipeline.Kind(rest)
	case "fail", "lose", "dies":
		s.w.faults = append(s.w.faults, fault{verb, rest})
	case "redeliver", "replay":
		s.redeliver(verb, words)
	case "lost":
		s.hub.LoseDeliveries(1)
	case "exchange", "remove":
		s.memory.Tamper(rest, verb == "remove")
	case "round":
		s.round(rest)
	case "show":
		n, err := strconv.Atoi(rest)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range s.repo.Comments(n) {
			if strings.HasPrefix(c.Body, comment.StatusMarker) {
				s.print(c.Body)
			}
		}
	case "checks":
		for _, c := range s.repo.Checks(s.repo.Head(rest)) {
			s.print(fmt.Sprintf("%s (%s) %s %s: %s\n%s\n%s", c.Name, c.ExternalID, c.Status, c.Conclusion, c.Title, c.Summary, c.Text))
			for _, a := range c.Annotations {
				s.print(fmt.Sprintf("%s:%d-%d %s: %s", a.Path, a.First, a.Last, a.Title, a.Message))
			}
		}
	default:
		s.t.Fatalf("unknown step %s %s", verb, words)
	}
}

// plan returns the hash of the plan of the first project of a pull request.
func (s *stage) plan(number int) string {
	for _, rec := range s.memory.Peek(s.ref(number).Runs()) {
		var r runs.Run
		if json.Unmarshal(rec.Value, &r) == nil {
			return r.Plan.Hash
		}
	}
	return ""
}

func (s *stage) ref(number int) pipeline.Pull {
	return pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: number}
}

// answer prints our answer to a comment.
func (s *stage) answer(number int, id int64) {
	name := strconv.FormatInt(id, 10)
	for _, c := range s.repo.Comments(number) {
		for _, marker := range []string{comment.AnswerMarker(name), comment.ResultMarker(name)} {
			if text, ours := strings.CutPrefix(c.Body, marker); ours {
				s.print(text)
			}
		}
	}
}

// print traces a text for people.
func (s *stage) print(text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		s.w.trace(strings.TrimRight("| "+line, " \n"))
	}
}

// content is the text of a file: a step has one line for it.
func content(text string) string {
	if text == "gone" {
		return githubtest.Deleted
	}
	return strings.ReplaceAll(text, `\n`, "\n") + "\n"
}
