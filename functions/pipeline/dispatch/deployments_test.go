package dispatch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/storytest"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// beside puts another deployment beside that of a stage, with an App, a webhook and data of its own: a stage on the same
// repository.
func (s *stage) beside(name string) *stage {
	s.t.Helper()
	other := &stage{t: s.t, hub: s.hub, repo: s.repo}
	hush := github.NewSecret("hush of " + name)
	s.others[name] = other
	config := s.hub.AddApp(githubtest.Options{AppID: 4800, AppName: "lockstep-" + name, Webhook: "http://" + name + "/", Secret: hush}, "http://127.0.0.1")
	config.Transport = storytest.Direct(func(string) http.Handler { return s.hub })
	app, err := github.NewApp(config)
	if err != nil {
		s.t.Fatal(err)
	}
	other.data = opened(s.t)
	other.records = new(memory.Store)
	other.pipeline = &dispatch.Pipeline{
		Deployment: name, Bases: &gatefacts.Bases{},
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return app.Repository(p.Installation, p.Repo) },
		Records: other.records, Artifacts: other.data.Artifacts, Queue: other.data.Queue,
		Engine:  &executor.Engine{Version: "test", Backend: executor.LocalStates(other.data.States)},
		Scratch: s.t.TempDir(), Serves: serving(s.t, "acme"),
	}
	other.webhook = intake.Webhook{Intake: other.pipeline.Intake(), Secrets: []github.Secret{hush}, Log: func(err error) { s.t.Error(err) }}
	return other
}

// settleBoth settles two deployments on one repository.
func settleBoth(a, b *stage) {
	for range 3 { // what one does may concern the other
		a.settle()
		b.settle()
	}
}

// divided is a lockstep.hcl of two organisational units.
const divided = `
environment "a" {
  deployment = "ou-a"
}

environment "b" {
}

project "net" {
  dir         = "net"
  environment = "a"
}

project "db" {
  dir         = "db"
  environment = "b"
}

project "app" {
  dir = "app"
}
`

func newDivided(t *testing.T, settings string) (main, unit *stage) {
	t.Helper()
	main = newStage(t, githubtest.Files{
		"lockstep.hcl": settings, "net/main.tf": resource("net", "1"), "db/main.tf": resource("db", "1"), "app/main.tf": resource("app", "1"),
	})
	main.hub.Accepts("contents", "write")
	return main, main.beside("ou-a")
}

// open pushes changes, and opens a pull request, for two deployments.
func open(a, b *stage, branch string, changes githubtest.Files) int {
	a.repo.Push("alice", branch, "Change "+branch, withBackends(changes))
	n := a.repo.OpenPull("alice", "Change "+branch, branch)
	settleBoth(a, b)
	return n
}

// answers returns both deployments' answers to a comment of alice.
func answers(a, b *stage, number int, text string) (first, second string) {
	a.t.Helper()
	return answersTo("alice", a, b, number, text)
}

// answersTo returns both deployments' answers to a comment.
func answersTo(who string, a, b *stage, number int, text string) (first, second string) {
	a.t.Helper()
	id := a.repo.Comment(who, number, text)
	settleBoth(a, b)
	marker := comment.AnswerMarker(fmt.Sprint(id))
	for _, c := range a.repo.Comments(number) {
		switch {
		case !strings.HasPrefix(c.Body, marker) && !strings.HasPrefix(c.Body, comment.ResultMarker(fmt.Sprint(id))):
		case c.Author == "lockstep[bot]":
			first += c.Body
		default:
			second += c.Body
		}
	}
	return first, second
}

// merged reports whether a pull request is merged.
func (s *stage) merged(number int) bool {
	return slices.ContainsFunc(s.hub.Edits(), func(e githubtest.Edit) bool { return e.Kind == "merge" && e.Number == number })
}

// conclusions returns the conclusions of the check runs at the head of a branch, by their names.
func (s *stage) conclusions(branch string) string {
	var out []string
	for _, c := range s.repo.Checks(s.repo.Head(branch)) {
		out = append(out, fmt.Sprintf("%s by %s: %s", c.Name, c.App, c.Conclusion))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestTwoDeployments holds that of two deployments on one repository each serves the projects that name it: each is
// planned once, by the one with a check that can be required and one comment of its own.
func TestTwoDeployments(t *testing.T) {
	t.Parallel()
	a, b := newDivided(t, divided+"automerge {\n}\n")
	n := open(a, b, "c", githubtest.Files{"net/x.tf": resource("x", "1"), "db/x.tf": resource("x", "1"), "app/x.tf": resource("x", "1")})
	want := "lockstep (ou-a) by lockstep-ou-a: neutral\nlockstep (ou-a)/net by lockstep-ou-a: success\n" +
		"lockstep by lockstep: neutral\nlockstep/app by lockstep: success\nlockstep/db by lockstep: success"
	if got := a.conclusions("c"); got != want {
		t.Errorf("checks:\n%s", got)
	}
	var authors []string
	for _, c := range a.repo.Comments(n) {
		if strings.HasPrefix(c.Body, comment.StatusMarker) {
			authors = append(authors, c.Author)
			a.expect(c.Author, c.Body, "Other deployments of Lockstep plan and apply "+map[string]string{"lockstep[bot]": "`net`", "lockstep-ou-a[bot]": "`app`, `db`"}[c.Author])
		}
	}
	slices.Sort(authors)
	if !slices.Equal(authors, []string{"lockstep-ou-a[bot]", "lockstep[bot]"}) {
		t.Errorf("comments by %s", authors)
	}

	first, second := answers(a, b, n, "lockstep plan -p net")
	a.expect("the other one", first, "another deployment of Lockstep serves `net`: the one with the name `ou-a`", "`lockstep (ou-a)`")
	a.expect("its own", second, "**Planned** `net`")
	first, second = answers(a, b, n, "lockstep apply -p net")
	a.expect("the other one", first, "another deployment of Lockstep serves `net`")
	a.expect("its own", second, "**Applied** `net`")
	if a.merged(n) {
		t.Fatal("it is merged while plans of another deployment wait")
	}
	first, second = answers(a, b, n, "lockstep apply -p app")
	a.expect("its own", first, "**Applied** `app`")
	a.expect("the other one", second, "another deployment of Lockstep serves `app`: the one without a name")
	answers(a, b, n, "lockstep apply -p db")
	if !a.merged(n) {
		t.Error("all is applied, and it is not merged")
	}
}

// TestForgedDeployment carries out an attack: a workflow of the pull request makes a check run with the name of another deployment's. It
// holds that the merge waits for the true one, and that the false one keeps nobody from an answer.
func TestForgedDeployment(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"github-actions", "sneaky"} {
		a, b := newDivided(t, divided+"automerge {\n}\n")
		n := open(a, b, "c", githubtest.Files{"net/x.tf": resource("x", "1"), "db/x.tf": resource("x", "1")})
		forged := github.Check{Name: "lockstep (ou-a)", SHA: a.repo.Head("c"), Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "Applied"}
		answers(a, b, n, "lockstep help")
		a.repo.AddCheck(by, forged)
		answers(a, b, n, "lockstep apply -p db")
		if a.merged(n) {
			t.Fatalf("%s: it is merged while plans of another deployment wait", by)
		}
		answers(a, b, n, "lockstep apply -p net")
		if !a.merged(n) {
			t.Errorf("%s: all is applied, and it is not merged", by)
		}
	}
}

// TestForgedVoice carries out the same where the other deployment is not there: the one that is there goes on answering.
func TestForgedVoice(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"lockstep.hcl": divided, "db/main.tf": resource("db", "1")})
	s.pipeline.Deployment = "ou-z"
	n := s.pull("alice", "c", githubtest.Files{"db/x.tf": resource("x", "1")})
	s.repo.AddCheck("github-actions", github.Check{Name: "lockstep (ou-a)", SHA: s.repo.Head("c"), Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "Applied"})
	s.expect("the answer", s.say("alice", n, "lockstep help"), "Write each command on its own line of a new comment:")
}

// TestDeploymentsKeepQuiet holds that a deployment leaves alone what is only another's: pushes, commands and removals.
func TestDeploymentsKeepQuiet(t *testing.T) {
	t.Parallel()
	a, b := newDivided(t, divided)
	n := open(a, b, "c", githubtest.Files{"net/x.tf": resource("x", "1")})
	if got := a.conclusions("c"); got != "lockstep (ou-a) by lockstep-ou-a: neutral\nlockstep (ou-a)/net by lockstep-ou-a: success\nlockstep by lockstep: success" {
		t.Errorf("checks:\n%s", got)
	}
	for _, command := range []string{"lockstep plan", "lockstep apply"} {
		first, second := answers(a, b, n, command)
		if first != "" || !strings.Contains(second, "`net`") {
			t.Errorf("%s: %s\n%s", command, first, second)
		}
	}
	for _, c := range a.repo.Comments(n) {
		if c.Author == "lockstep[bot]" {
			t.Errorf("a comment without a project: %s", c.Body)
		}
	}
	gone := strings.Replace(divided, "project \"net\" {\n  dir         = \"net\"\n  environment = \"a\"\n}\n", "", 1)
	open(a, b, "gone", githubtest.Files{"lockstep.hcl": gone, "net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted})
	if got := a.conclusions("gone"); !strings.Contains(got, "lockstep (ou-a)/net by lockstep-ou-a") || strings.Contains(got, "lockstep/net") {
		t.Errorf("removed, checks:\n%s", got)
	}
}

// TestNoPullRequestMovesProjects carries out attacks: pull requests give a project of one deployment to another, whose
// roles would plan it, by all that they can write. It holds that the base branch decides, that both deployments agree, and
// that at most one of them plans it.
func TestNoPullRequestMovesProjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, serves string }{
		"no environment":          {"  dir         = \"net\"\n  environment = \"a\"\n", "  dir = \"net\"\n", ""},
		"another environment":     {"environment = \"a\"", "environment = \"b\"", ""},
		"the environment's":       {"  deployment = \"ou-a\"\n", "", "lockstep (ou-a)/net"},
		"a new name":              {"project \"net\" {\n  dir         = \"net\"\n  environment = \"a\"", "project \"other\" {\n  dir         = \"net\"\n  environment = \"b\"", ""},
		"to the other":            {"environment = \"b\"", "environment = \"a\"", ""},
		"the other environment's": {"environment \"b\" {\n", "environment \"b\" {\n  deployment = \"ou-a\"\n", "lockstep/db"},
		"a new project":           {"project \"app\" {", "project \"new\" {\n  dir = \"new\"\n  environment = \"a\"\n}\nproject \"app\" {", "lockstep (ou-a)/new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newDivided(t, divided)
			if !strings.Contains(divided, test.old) {
				t.Fatal("there is nothing to change")
			}
			open(a, b, "c", githubtest.Files{
				"lockstep.hcl": strings.Replace(divided, test.old, test.new, 1), "net/x.tf": resource("x", "1"), "db/x.tf": resource("x", "1"), "new/main.tf": resource("new", "1"),
			})
			planned := map[string][]string{}
			for _, c := range a.repo.Checks(a.repo.Head("c")) {
				if _, project, _ := pipeline.ReadCheck(c.Name); project != "" && c.Conclusion == github.ConcludedSuccess {
					planned[project] = append(planned[project], c.Name)
				}
			}
			for project, by := range planned {
				honest := map[string]string{"net": "lockstep (ou-a)/net", "db": "lockstep/db", "app": "lockstep/app"}[project]
				if honest == "" {
					honest = test.serves
				}
				if !slices.Equal(by, []string{honest}) {
					t.Errorf("%s is planned by %q", project, by)
				}
			}
			if test.serves != "" {
				if _, project, _ := pipeline.ReadCheck(test.serves); len(planned[project]) != 1 {
					t.Errorf("%s is not planned:\n%s", test.serves, a.pages("c"))
				}
			}
		})
	}
}

// TestGivenAway holds that a plan is not applied once the base branch has given its project to another deployment, which
// then plans it.
func TestGivenAway(t *testing.T) {
	t.Parallel()
	a, b := newDivided(t, divided)
	n := open(a, b, "c", githubtest.Files{"db/x.tf": resource("x", "1")})
	a.repo.Push("bob", "main", "Give db away", githubtest.Files{"lockstep.hcl": strings.Replace(divided, "environment \"b\" {\n", "environment \"b\" {\n  deployment = \"ou-a\"\n", 1)})
	settleBoth(a, b)
	first, _ := answers(a, b, n, "lockstep apply")
	a.expect("the first", first, "another deployment of Lockstep serves `db`: the one with the name `ou-a`")
	first, second := answers(a, b, n, "lockstep plan -p db")
	a.expect("the first", first, "another deployment of Lockstep serves `db`: the one with the name `ou-a`")
	a.expect("the second", second, "**Planned** `db`")
}
