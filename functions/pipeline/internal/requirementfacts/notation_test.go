package requirementfacts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A scene is a pull request of ann's on a GitHub of its own. Lines of a paragraph change it or find facts:
//
//	rule TEXT             a line of the body of a block require "apply"
//	write WHO | admin WHO | none WHO
//	team ORG/SLUG WHO...
//	file PATH TEXT        of the pull request; "long" stands for a very long text
//	base PATH TEXT        of the base branch, pushed to it now
//	review WHO STATE      of the present head
//	push WHO PATH         to the pull request
//	label WHO +NAME | -NAME
//	comment WHO TEXT      | edited WHO TEXT | elsewhere WHO TEXT (another pull request)
//	lifts TARGET...       our answer to the last comment says that it lifts something for plans; "answering" is before it
//	says WHO TARGET       somebody writes the same
//	discuss | resolve
//	check NAME APP STATUS CONCLUSION | status NAME STATE      of the head
//	protect MERGESTATE [NAME@APP...]      rules of the base branch
//	environment NAME RULE...   one of GitHub's: reviewers=WHO,ORG/SLUG, notself, wait=MINUTES, branches=PATTERNS, protected, app=SLUG
//	in NAME               a project of this environment
//	reviewed              the rules of the base branch want a review
//	merge | update        the head gets the base branch
//	draft                 the pull request is another one, a draft
//	without PERMISSION
//	fault PATH STATUS     GitHub answers so to requests with PATH in them; "limited" is the rate limit
//	capped                lists of GitHub end before the pull request does
//	shown                 people have seen the plan by now
//	lenient | unasked | grouped | replaced [unseen]
//	planned               the plan is of the head as it is now
//	of DIR [WAS]          the project's directory, and that on the base branch
//	variables PATH        a file of its variables on the base branch
//	beyond                the plan changes more than what the changed files are about
//	find WHO              finds the facts for a command of somebody's, whose name may be "-"
//	again WHO             the same, with the same finder
type scene struct {
	t         *testing.T
	hub       *githubtest.Hub
	repo      *githubtest.Repository
	client    *github.Client
	finder    *Finder
	body      string
	in        string
	subject   Subject
	lenient   bool
	capped    bool
	number    int
	withdrawn []string
	faults    map[string]string
	mu        sync.Mutex
	requests  []string
	lines     []string
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, faults: map[string]string{}, subject: Subject{Plan: requirementrules.Known(requirementrules.Plan{Changes: 2}), Project: "net", Dir: "net", Workspace: "default", Target: "net@default"}}
	s.hub = githubtest.New(githubtest.Options{Fault: s.fault})
	server := httptest.NewServer(s.hub)
	t.Cleanup(server.Close)
	s.repo = s.hub.AddRepository("acme", "infra", githubtest.Files{"net/main.tf": "1"})
	for _, who := range []string{"ann", "bob", "cat", "zoe"} {
		s.repo.Grant(who, "write")
	}
	s.repo.Push("ann", "one", "One", githubtest.Files{"net/main.tf": "2"})
	s.number = s.repo.OpenPull("ann", "One", "one")
	s.repo.Push("bob", "two", "Two", githubtest.Files{"b": "2"})
	s.repo.OpenPull("bob", "Two", "two")
	app, err := github.NewApp(s.hub.App(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if s.client, err = app.Repository(s.repo.Installation(), s.repo.Repo()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fault notes a request, and answers it as the scene demands.
func (s *scene) fault(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/repos/acme/infra/")
	if !strings.Contains(path, "access_tokens") {
		s.requests = append(s.requests, path)
	}
	for part, status := range s.faults {
		if !strings.Contains(r.URL.Path, part) {
			continue
		}
		if status == "limited" {
			githubtest.Limited(time.Now().Add(time.Hour))(w)
			return true
		}
		var code int
		fmt.Sscan(status, &code)
		w.WriteHeader(code)
		fmt.Fprint(w, `{"message":"No."}`)
		return true
	}
	return false
}

// step carries out a line.
func (s *scene) step(line string) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	one, two, _ := strings.Cut(rest, " ")
	switch verb {
	case "rule":
		s.body += rest + "\n"
	case "shown":
		s.subject.Shown = s.hub.Now()
	case "lenient":
		s.lenient = true
	case "unasked":
		s.subject.Unasked = true
	case "replaced":
		s.subject.Replaced = true
		if one != "unseen" {
			s.subject.Since = s.hub.Now()
		}
	case "grouped":
		s.subject.Grouped = true
	case "planned":
		s.subject.Planned = s.repo.Head("one")
	case "of":
		s.subject.Dir, s.subject.Was = one, two
	case "variables":
		s.subject.VarFiles = append(s.subject.VarFiles, one)
	case "beyond":
		s.subject.Beyond = true
	case "without":
		s.withdrawn = append(s.withdrawn, one)
	case "draft":
		s.repo.Push("ann", "three", "Three", githubtest.Files{"c": "3"})
		s.number = s.repo.OpenDraft("ann", "Three", "three")
	case "capped":
		s.capped = true
	case "fault":
		s.faults[one] = two
	case "find", "again":
		s.find(verb, strings.TrimPrefix(one, "-"))
	default:
		if !s.people(verb, one, two) && !s.branch(verb, one, two) {
			s.t.Fatalf("there is no step %q", line)
		}
	}
}

// people carries out what somebody does to the pull request.
func (s *scene) people(verb, one, two string) bool {
	switch verb {
	case "write", "admin", "none":
		s.repo.Grant(one, verb)
	case "team":
		org, slug, _ := strings.Cut(one, "/")
		s.hub.SetTeam(org, slug, strings.Fields(two)...)
	case "review":
		s.repo.Review(one, s.number, github.ReviewState(two), "")
	case "label":
		if name, added := strings.CutPrefix(two, "+"); added {
			s.repo.Label(one, s.number, name)
		} else {
			s.repo.Unlabel(one, s.number, two[1:])
		}
	case "comment":
		s.repo.Comment(one, s.number, strings.ReplaceAll(two, `\n`, "\n"))
		s.subject.Answering = 0
	case "lifts":
		text := s.answer(one + " " + two)
		marker, _, _ := strings.Cut(text, "\n")
		if _, _, err := s.client.PutComment(s.t.Context(), s.number, github.Earlier{}, marker, text); err != nil {
			s.t.Fatal(err)
		}
	case "says":
		s.repo.Comment(one, s.number, s.answer(two))
	case "answering":
		s.subject.Answering = s.last()
	case "edited":
		s.repo.EditComment("ann", s.repo.Comment(one, s.number, "Well."), two)
	case "elsewhere":
		s.repo.Comment(one, s.number+1, two)
	case "discuss":
		s.repo.Discuss("bob", s.number)
	case "resolve":
		s.repo.Resolve("bob", s.number, 0)
	default:
		return false
	}
	return true
}

// answer is the text of an answer to the last comment that lifts something for plans.
func (s *scene) answer(targets string) string {
	a := comment.Answer{Name: fmt.Sprint(s.last())}
	for _, target := range strings.Fields(targets) {
		a.Replies = append(a.Replies, comment.Overridden{Target: target})
	}
	return comment.AnswerMarker(a.Name) + Line(a.Replies) + "\nOverridden."
}

// last is the ID of the last comment.
func (s *scene) last() int64 {
	all := s.repo.Comments(s.number)
	return all[len(all)-1].ID
}

// branch changes commits, and the rules of the base branch.
func (s *scene) branch(verb, one, two string) bool {
	switch verb {
	case "file":
		s.repo.Push("ann", "one", "Change", githubtest.Files{one: "1"})
	case "base":
		two = strings.NewReplacer(`\n`, "\n", "LONG", strings.Repeat("x", maxLine)).Replace(two)
		s.repo.Push("ann", "main", "Change", githubtest.Files{one: two})
	case "push":
		s.repo.Push(one, "one", "Change", githubtest.Files{two: one})
	case "check":
		words := strings.Fields(two)
		s.repo.AddCheck(words[0], github.Check{
			SHA: s.repo.Head("one"), Name: one, Status: github.CheckStatus(words[1]), Conclusion: github.Conclusion(strings.Join(words[2:], "")),
		})
	case "status":
		s.repo.SetStatus(s.repo.Head("one"), one, two)
	case "protect", "ruleset":
		var all []githubtest.Required
		for _, x := range strings.Fields(two) {
			r := githubtest.Required{Name: x}
			if name, app, ok := strings.Cut(x, "@"); ok {
				r.Name = name
				fmt.Sscan(app, &r.App)
			}
			all = append(all, r)
		}
		if verb == "ruleset" {
			s.repo.Protect(one, nil, all)
		} else {
			s.repo.Protect(one, all, nil)
		}
	case "environment":
		s.environment(one, strings.Fields(two))
	case "in":
		s.in = one
	case "reviewed":
		s.repo.RequireReview()
	case "update":
		s.repo.UpdateBranch("ann", s.number)
	case "merge":
		s.repo.Merge("ann", s.number)
	default:
		return false
	}
	return true
}

// environment makes an environment with rules.
func (s *scene) environment(name string, rules []string) {
	e := githubtest.Environment{}
	for _, rule := range rules {
		kind, value, _ := strings.Cut(rule, "=")
		switch list := strings.Split(value, ","); kind {
		case "reviewers":
			e.Reviewers = list
		case "notself":
			e.PreventSelfReview = true
		case "wait":
			fmt.Sscan(value, &e.Wait)
		case "branches":
			e.Branches = list
		case "protected":
			e.Protected = true
		case "app":
			e.Apps = list
		default:
			s.t.Fatalf("there is no rule %q", rule)
		}
	}
	s.hub.Accepts("actions", "read")
	s.repo.SetEnvironment(name, e)
}

// required are the requirements of the scene.
func (s *scene) required() []requirements.Requirement {
	var all []requirements.Requirement
	if strings.TrimSpace(s.body) != "" {
		all = required(s.t, s.body)
	}
	if s.in != "" {
		all = append(all, requirements.Requirement{Command: "apply", Rules: requirements.Rules{Environment: s.in}})
	}
	return all
}

// find finds the facts, and writes down the requests for them and the facts.
func (s *scene) find(verb, who string) {
	s.t.Helper()
	if verb == "find" {
		pull, err := s.client.PullRequest(s.t.Context(), s.number)
		if err != nil {
			s.t.Fatal(err)
		}
		s.hub.Withdraw(s.withdrawn...)
		hub := Hub(s.client)
		if s.capped {
			hub = capped{hub}
		}
		s.finder = &Finder{Hub: hub, Pull: pull, Base: s.repo.Head("main"), Now: s.hub.Now(), Lenient: s.lenient}
	}
	s.requests = nil
	s.subject.Actor = who
	out, err := s.finder.Find(s.t.Context(), requirementrules.Needed(s.required()), s.subject)
	for _, r := range s.requests {
		s.add("ask " + r)
	}
	if err != nil {
		s.add("error: " + err.Error())
		return
	}
	s.facts(out)
}

// capped is a Hub that lists no more than GitHub does.
type capped struct{ Hub }

func (c capped) Contributors(ctx context.Context, number int) (github.Contributors, error) {
	out, err := c.Hub.Contributors(ctx, number)
	out.All = false
	return out, err
}

func (c capped) ChangedFiles(ctx context.Context, number int) ([]github.FileChange, bool, error) {
	files, _, err := c.Hub.ChangedFiles(ctx, number)
	return files, false, err
}

// expected are facts that every command of these scenes has: they are written down of a push only.
var expected = []string{
	`Planned "HEAD"`, `Author "ann"`, `Plan {"Value":{"Changes":2,"Destroys":0,"Destroyed":null},"Known":true}`, `Pull {"Draft":false,"Merged":false,"Labels":null}`,
}

// facts writes down those that are not zero.
func (s *scene) facts(f requirementrules.Facts) {
	if !f.Now.Equal(s.finder.Now) {
		s.t.Errorf("it is %s, not %s", f.Now, s.finder.Now)
	}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if field.IsZero() || field.Kind() == reflect.Map && field.Len() == 0 || name == "Now" {
			continue
		}
		data, err := json.Marshal(field.Interface())
		if err != nil {
			s.t.Fatal(err)
		}
		if line := s.plain(name + " " + string(data)); f.Actor == "" || !slices.Contains(expected, line) {
			s.lines = append(s.lines, line)
		}
	}
}

func (s *scene) add(line string) { s.lines = append(s.lines, s.plain(line)) }

var (
	commit = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	moment = regexp.MustCompile(`until [0-9TZ:-]+`)
)

// plain gives names to commits and times.
func (s *scene) plain(line string) string {
	for sha, name := range map[string]string{s.repo.Head("one"): "HEAD", s.repo.Head("main"): "BASE"} {
		line = strings.ReplaceAll(strings.ReplaceAll(line, sha, name), sha[:7], name)
	}
	return moment.ReplaceAllString(commit.ReplaceAllString(line, "OLDER"), "until LATER")
}

// required reads a body of a require block.
func required(t *testing.T, body string) []requirements.Requirement {
	t.Helper()
	f, ds := hclparse.NewParser().ParseHCL(fmt.Appendf(nil, "require \"apply\" {\n%s\n}\n", body), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "require", LabelNames: []string{"command"}}}})
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	all, ds := requirements.Parse(content.Blocks)
	if ds.HasErrors() {
		t.Fatalf("%s: %v", body, ds)
	}
	return all
}
