package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// twoProjects is a repository with two projects that share a module.
var twoProjects = githubtest.Files{
	"app/main.tf":        "module \"tags\" {\n  source = \"../modules/tags\"\n}\n" + resource("app", "v1"),
	"db/main.tf":         "module \"tags\" {\n  source = \"../modules/tags\"\n}\n" + resource("db", "v1"),
	"modules/tags/t.tf":  "output \"team\" {\n  value = \"core\"\n}\n",
	"lonely/main.tf":     resource("lonely", "v1"),
	"lonely/values.json": "{}\n",
}

// TestProjects holds that a pull request plans what it touches, and that commands can
// name one project.
func TestProjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	one := s.pull("alice", "tags", githubtest.Files{"modules/tags/t.tf": "output \"team\" {\n  value = \"edge\"\n}\n"})
	status := s.status(one)
	s.expect("the status", status, "| `app` | 1 to add", "| `db` | 1 to add")
	if strings.Contains(status, "lonely") {
		t.Errorf("a project is planned that was not touched:\n%s", status)
	}
	s.expect("another project's plan", s.say("alice", one, "lockstep plan -p lonely"), "**Planned** `lonely`: 1 to add")
	s.expect("the status", s.status(one), "| `lonely` | 1 to add")
	s.expect("an unknown project", s.say("alice", one, "lockstep plan -p nowhere"), "No project matches `lockstep plan -p nowhere`.", "Projects: `app`, `db`, `lonely`.")
	s.expect("an unknown workspace", s.say("alice", one, "lockstep plan -w prod"), "No project matches")
	s.expect("an apply of nothing that is planned", s.say("alice", one, "lockstep apply -d nowhere"), "This pull request has no plan that `lockstep apply -d nowhere` matches.", "Projects with a plan: `app`, `db`, `lonely`.")
	s.expect("an apply of one", s.say("alice", one, "lockstep apply -d db"), "**Applied** `db`: 1 added")
	s.expect("the status", s.status(one), "| ready to apply", "| `app` | 1 to add, 0 to change, 0 to destroy |", "| applied by `alice`", "| `db` | 1 to add, 0 to change, 0 to destroy |")
	answer := s.say("bob", one, "lockstep apply")
	s.expect("an apply of the rest", answer, "**Applied** `app`", "**Applied** `lonely`")
	if strings.Contains(answer, "`db`") {
		t.Errorf("what is applied already is spoken of:\n%s", answer)
	}
	s.expect("help", s.say("bob", one, "lockstep help"), "Projects: `app`, `db`, `lonely`.")

	two := s.pull("alice", "words", githubtest.Files{"README.md": "words\n"})
	if got := s.repo.Comments(two); len(got) != 0 {
		t.Errorf("a pull request that touches no project: %v", got)
	}
	s.expect("its plan", s.say("alice", two, "lockstep plan"), "The pull request changes no project.")
}

// TestWhoMaySpeak holds that commands count if they are new comments of people who
// may write.
func TestWhoMaySpeak(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("a reader", s.say("mallory", n, "lockstep apply"), "`mallory` has the permission `read` on this repository, but the command needs `write`.")

	harmless := s.repo.Comment("mallory", n, "What a fine change.")
	s.settle()
	s.repo.EditComment("alice", harmless, "lockstep apply")
	s.settle()
	for what, text := range map[string]string{
		"a quotation": "> lockstep apply", "code": "Say\n```\nlockstep apply\n```", "something hidden": "hello <!--\nlockstep apply\n-->", "chat": "should I lockstep apply?",
	} {
		if got := s.say("alice", n, text); got != "" {
			t.Errorf("%s was answered: %s", what, got)
		}
	}
	s.expect("code alone", s.say("alice", n, "```\nlockstep apply\n```"), "was **not done**")
	if strings.Contains(s.status(n), "applied") {
		t.Errorf("something was applied:\n%s", s.status(n))
	}
	before := len(s.repo.Comments(n))
	s.settle() // our own comments are webhooks, too
	if got := len(s.repo.Comments(n)); got != before {
		t.Errorf("we talk to ourselves: %d comments, then %d", before, got)
	}
	// The right is asked for when it is used, not when it was seen last.
	s.repo.Grant("alice", "read")
	s.expect("a former writer", s.say("alice", n, "lockstep apply"), "has the permission `read`")
}

// TestFork holds that what comes from a fork is not even unpacked.
func TestFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "evil", "Evil", githubtest.Files{"main.tf": resource("evil", "1")})
	n := s.repo.OpenPullFrom(fork, "mallory", "Evil", "evil")
	s.settle()
	comments := s.repo.Comments(n)
	if len(comments) != 1 {
		t.Fatalf("%v", comments)
	}
	s.expect("the answer", comments[0].Body, "**Not planned**", "comes from a fork")
	s.expect("a maintainer's plan", s.say("alice", n, "lockstep plan"), "**Not planned**", "comes from a fork")
	fork.Push("mallory", "evil", "More", githubtest.Files{"main.tf": resource("evil", "2")})
	s.settle()
	if got := len(s.repo.Comments(n)); got != 3 { // the refusal is said once for all pushes
		t.Errorf("%d comments", got)
	}
	s.repo.Merge("bob", n) // then it is the base branch's
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "**Planned** `.`: 1 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 1 added")
}

// TestBadConfigurations holds that trouble is said where it is looked for.
func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"main.tf": "resource \"terraform_data\" \"a\" {\n  inptu = 1\n}\n"})
	s.expect("the status", s.status(n), "failed to plan", "**failed to plan**", "main.tf", "inptu")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `.`", "failed", "Correct the files and push")
	s.expect("a new plan", s.say("alice", n, "lockstep plan"), "**Failed to plan** `.", "inptu")
	s.repo.Push("alice", "b", "Better", githubtest.Files{"main.tf": resource("a", "2")})
	s.settle()
	s.expect("the status", s.status(n), "1 to add, 0 to change, 0 to destroy", "To apply this plan")

	// What fails only when it is applied.
	m := s.pull("alice", "c", githubtest.Files{"c.tf": `resource "terraform_data" "good" {
  input = "x"
}

resource "terraform_data" "bad" {
  input = terraform_data.good.id
  lifecycle {
    postcondition {
      condition     = self.output == "never"
      error_message = "Never, it says."
    }
  }
}
`})
	answer := s.say("alice", m, "lockstep apply")
	s.expect("the answer", answer, "**Failed to apply** `.`: 3 added, 0 changed, 0 destroyed before the failure. The state contains these changes.", "Never, it says.", "The state contains these changes.")
	s.expect("the status", s.status(m), "failed to apply", "**failed to apply** (3 added, 0 changed, 0 destroyed before the failure), requested by `alice`")
	s.expect("again", s.say("alice", m, "lockstep apply"), "need a new plan")
}

// TestPushAfterThePlan holds that a plan is for one head only.
func TestPushAfterThePlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	old := s.repo.Head("b")
	// The comment is handled before the push is.
	s.repo.Push("mallory", "b", "Evil", githubtest.Files{"b.tf": resource("b", "evil")})
	pushed := s.hub.Deliveries()
	s.repo.Comment("alice", n, "lockstep apply")
	s.deliverLastFirst(len(pushed))
	answer := s.repo.Comments(n)[2].Body
	s.expect("the answer", answer, "**Not applied**", "The plan is for `"+old[:7]+"`, but the pull request is at `"+s.repo.Head("b")[:7]+"` now.")
	s.settle()
	s.expect("the status", s.status(n), s.repo.Head("b")[:7], "evil")
}

// deliverLastFirst sends the newest webhook before the others that wait, as GitHub may.
func (s *stage) deliverLastFirst(before int) {
	s.t.Helper()
	if _, err := s.hub.Redeliver(s.t.Context(), s.hub.Deliveries()[before]); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.data.Queue.Drain(s.t.Context(), localstore.Worker{Handle: s.pipeline.Handle, Abandon: s.pipeline.Abandon}); err != nil {
		s.t.Fatal(err)
	}
}

// TestEverythingTwice holds that each webhook and each message may come again, and the
// outcome is the same.
func TestEverythingTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	handle := s.pipeline.Handle
	twice := func(ctx context.Context, m pipeline.Message) error {
		return errors.Join(handle(ctx, m), handle(ctx, m))
	}
	drain := func() {
		t.Helper()
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range s.hub.Deliveries() {
			if answer, err := s.hub.Redeliver(t.Context(), id); err != nil || strings.Contains(answer, "queued") {
				t.Errorf("delivery %s again: %s, %v", id, answer, err)
			}
		}
		if _, err := s.data.Queue.Drain(t.Context(), localstore.Worker{Handle: twice, Abandon: s.pipeline.Abandon}); err != nil {
			t.Fatal(err)
		}
	}
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	drain()
	s.repo.Comment("alice", n, "lockstep apply")
	drain()
	want := []string{
		"push by alice: b: B", "pull request #1 by alice: B",
		"check lockstep on #1 by lockstep[bot]: queued, Looking for the projects that changed",
		"check lockstep/. on #1 by lockstep[bot]: queued, Queued for planning",
		"check lockstep on #1 by lockstep[bot]: queued, 1 project planning",
		"comment #1 on #1 by lockstep[bot]: ### `.`: queued for planning (`HEAD`)",
		"check lockstep/. on #1 by lockstep[bot]: in_progress, Planning",
		"check lockstep/. on #1 by lockstep[bot]: success, Ready to apply – 2 to add, 0 to change, 0 to destroy",
		"edit #1 on #1 by lockstep[bot]: ### `.`: ready to apply – 2 to add, 0 to change, 0 to destroy (`HEAD`)",
		"check lockstep on #1 by lockstep[bot]: neutral, 1 project ready to apply – 2 to add, 0 to change, 0 to destroy",
		"comment #2 on #1 by alice: lockstep apply",
		"reaction #2 on #1 by lockstep[bot]: eyes",
		"check lockstep/. on #1 by lockstep[bot]: queued, Queued – 2 to add, 0 to change, 0 to destroy",
		"check lockstep on #1 by lockstep[bot]: in_progress, 1 project applying – 2 to add, 0 to change, 0 to destroy",
		"edit #1 on #1 by lockstep[bot]: ### `.`: queued, requested by `alice` – 2 to add, 0 to change, 0 to destroy (`HEAD`)",
		"comment #3 on #1 by lockstep[bot]: `.` is being applied. The result will appear here.",
		"check lockstep/. on #1 by lockstep[bot]: in_progress, Applying – 2 to add, 0 to change, 0 to destroy",
		"check lockstep/. on #1 by lockstep[bot]: success, Applied – 2 added, 0 changed, 0 destroyed",
		"edit #1 on #1 by lockstep[bot]: ### `.`: applied by `alice` – 2 added, 0 changed, 0 destroyed (`HEAD`)",
		"check lockstep on #1 by lockstep[bot]: success, 1 project applied – 2 added, 0 changed, 0 destroyed",
		"edit #3 on #1 by lockstep[bot]: **Applied** `.`: 2 added, 0 changed, 0 destroyed.",
		"reaction #2 on #1 by lockstep[bot]: rocket",
	}
	var got []string
	for _, l := range s.hub.Lines() {
		got = append(got, strings.ReplaceAll(l, s.repo.Head("b")[:7], "HEAD"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMergeTwice holds the same of a merge that applies: one apply, one answer.
func TestMergeTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	n := s.pull("alice", "subnet", githubtest.Files{"net/subnet.tf": resource("subnet", "1")})
	s.repo.Merge("alice", n)
	for range 2 {
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
			again := m
			again.ID += "-again" // as if its record were gone
			return errors.Join(s.pipeline.Handle(ctx, m), s.pipeline.Handle(ctx, again), s.pipeline.Handle(ctx, m))
		})
	}
	s.expect("the answer", s.answer(n, "merge"), "**Applied** `net`: 2 added")
	if got := strings.Count(strings.Join(s.hub.Lines(), "\n"), "in_progress, Applying – "); got != 1 {
		t.Errorf("it was applied %d times:\n%s", got, strings.Join(s.hub.Lines(), "\n"))
	}
}

// TestWebhooks holds how the address of webhooks answers what is not right.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	url := s.address()
	post := func(method, event, delivery string, secret github.Secret, body string) int {
		t.Helper()
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(github.EventHeader, event)
		req.Header.Set(github.DeliveryHeader, delivery)
		req.Header.Set(github.SignatureHeader, github.Sign(secret, []byte(body)))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	const id = "00000000-0000-4000-8000-00000000abcd"
	for _, test := range []struct {
		name                    string
		method, event, delivery string
		secret                  github.Secret
		body                    string
		want                    int
	}{
		{"good", "POST", "ping", id, hush, "{}", 202},
		{"an unknown event", "POST", "teleport", id, hush, "{}", 202},
		{"not posted", "GET", "ping", id, hush, "", 405},
		{"forged", "POST", "ping", id, github.NewSecret("guess"), "{}", 401},
		{"no JSON", "POST", "pull_request", id, hush, "{", 400},
		{"no delivery", "POST", "ping", "", hush, "{}", 400},
		{"too large", "POST", "ping", id, hush, strings.Repeat(" ", github.MaxPayload+1), 413},
	} {
		if got := post(test.method, test.event, test.delivery, test.secret, test.body); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestManyErrors holds that the errors of a plan, and of an apply, which no comment can hold are kept whole, and that it says where.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	many := func(condition string) string {
		return "resource \"terraform_data\" \"x\" {\n  count = 300\n  lifecycle {\n    postcondition {\n      condition     = " + condition + "\n      error_message = \"" + strings.Repeat("long ", 60) + "${count.index}.\"\n    }\n  }\n}\n"
	}
	s := newStage(t, githubtest.Files{"main.tf": ""})
	s.pipeline.Where = func(a pipeline.Artifact) string { return "cat " + a.Key }
	n := s.pull("alice", "many", githubtest.Files{"main.tf": many("count.index < 0")})
	place := fmt.Sprintf("%d/%d/%%2E@default/", s.repo.Repo().ID, n)
	check := func(what, text, key string) {
		t.Helper()
		s.expect(what, text, "*Shortened to fit: ", "The full text: `cat "+place+key+"`.")
		all, err := s.data.Artifacts.Get(t.Context(), pipeline.Artifact{Key: place + key})
		if err != nil || strings.Count(string(all), "Error: ") != 300 || !strings.Contains(string(all), "299.") {
			t.Errorf("%s: all of it: %d errors, %v: %.300s", what, strings.Count(string(all), "Error: "), err, all)
		}
	}
	check("the plan", s.status(n), "1/full.txt")
	s.repo.Push("alice", "many", "Later", githubtest.Files{"main.tf": many("self.id == \"\"")})
	s.settle()
	check("the apply", s.say("alice", n, "lockstep apply"), "2/result-1.txt")
	s.repo.Close("alice", n)
	s.settle()
	check("its status once it is closed", s.status(n), "2/result-1.txt")
}

// TestBigPlan holds that a plan which no comment can hold is cut to fit, and applied
// in full.
func TestBigPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": ""})
	s.pipeline.Where = func(a pipeline.Artifact) string { return "cat " + a.Key }
	n := s.pull("alice", "many", githubtest.Files{"main.tf": "resource \"terraform_data\" \"x\" {\n  count = 3000\n  input = \"" + strings.Repeat("long ", 60) + "${count.index}\"\n}\n"})
	status := s.status(n)
	s.expect("the plan", status, "3000 to add", "*Shortened to fit: ", "; not listed: ", "To apply this plan")
	full := fmt.Sprintf("%d/%d/%%2E@default/1/full.txt", s.repo.Repo().ID, n)
	s.expect("the way to all of it", status, "The full text: `cat "+full+"`.")
	all, err := s.data.Artifacts.Get(t.Context(), pipeline.Artifact{Key: full})
	if err != nil || strings.Count(string(all), "# terraform_data.x[") != 3000 || len(all) < 1<<20 {
		t.Errorf("all of it: %d bytes, %v", len(all), err)
	}
	check := s.checkOf("many", "lockstep/.")
	s.expect("the check", check.Summary, "The full text: `cat "+full+"`.")
	if n := len(check.Text); n > github.MaxCheckText || n < github.MaxCheckText/2 {
		t.Errorf("the check's text has %d bytes", n)
	}
	if len(status) > github.MaxComment || len(status) < github.MaxComment/2 {
		t.Errorf("the comment has %d bytes", len(status))
	}
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "3000 added")
}

// TestGone holds that a message about what is not there any more comes to an end.
func TestGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	m := pipeline.Message{ID: "00000001", Pull: pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: 99}, Kind: pipeline.Pushed, Action: "opened"}
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Errorf("a pull request that is gone: %v", err)
	}
	m.ID, m.Pull.Installation = "00000002", 1
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Errorf("an installation that is gone: %v", err)
	}
}

// TestClosing holds that saved plans do not outlive their pull request.
func TestClosing(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	if got := artifacts(t, s); len(got) != 4 {
		t.Errorf("artifacts of an open pull request: %q", got)
	}
	s.repo.Close("alice", n)
	s.settle()
	if got := usable(artifacts(t, s)); len(got) != 0 {
		t.Errorf("artifacts of a closed pull request: %q", got)
	}
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "The pull request is closed.", "Reopen it")
	s.expect("the plan's text", s.status(n), "closed, not applied", "terraform_data.b will be created")
	s.expect("the plan's text", s.checkOf("b", "lockstep/.").Text, "terraform_data.b will be created")
}

// usable are the artifacts that are no texts for people.
func usable(all []string) []string {
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, ".md") })
}

func artifacts(t *testing.T, s *stage) []string {
	t.Helper()
	var out []string
	root := filepath.Join(filepath.Dir(s.data.States), "artifacts")
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoSecretIsSaid holds that neither what is sensitive nor our own secrets are in
// any comment, record or message, plans' own place apart.
func TestNoSecretIsSaid(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.pipeline.Secrets = []github.Secret{hush, github.NewSecret("t0ken-in-a-branch-name")}
	const secret = "correct horse battery staple"
	n := s.pull("alice", "b", githubtest.Files{
		"terraform.tfvars": "password = \"" + secret + "\"\n",
		"b.tf": `variable "password" {
  sensitive = true
}

resource "terraform_data" "b" {
  input = var.password
  lifecycle {
    postcondition {
      condition     = self.output == "other"
      error_message = "It is not right: t0ken-in-a-branch-name."
    }
  }
}

output "shown" {
  value     = "is ${var.password}"
  sensitive = true
}

resource "terraform_data" "leak" {
  input = "correct horse battery" == nonsensitive(var.password) ? 1 : "the value ${nonsensitive(var.password)} as it is"
}
`,
	})
	s.expect("the plan", s.status(n), "(sensitive value)", "the value (sensitive value) as it is")
	s.expect("the answer", s.say("alice", n, "lockstep apply"), "It is not right: [secret].")
	var all bytes.Buffer
	for _, c := range s.repo.Comments(n) {
		all.WriteString(c.Body)
	}
	for _, dir := range []string{"records", "queue"} {
		filepath.WalkDir(filepath.Join(filepath.Dir(s.data.States), dir), func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, _ := os.ReadFile(p)
				all.Write(data)
			}
			return nil
		})
	}
	for _, x := range []string{secret, "t0ken-in-a-branch-name", "hush"} {
		if strings.Contains(all.String(), x) {
			t.Errorf("%q is there for all to see", x)
		}
	}
}
