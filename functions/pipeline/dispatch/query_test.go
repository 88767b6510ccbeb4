package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A queriedEngine notes the jobs of queries.
type queriedEngine struct {
	jobs.Engine
	mu   sync.Mutex
	jobs []jobs.Job
	none bool // nothing is found
}

func (e *queriedEngine) Query(_ context.Context, j jobs.Job, room int) (comment.Queried, string, error) {
	e.mu.Lock()
	e.jobs = append(e.jobs, j)
	none := e.none
	e.mu.Unlock()
	if none {
		return comment.Queried{Dir: j.Dir, Lists: []comment.QueriedList{{Address: "list.x.all"}}}, "", nil
	}
	return comment.Queried{Dir: j.Dir, Lists: []comment.QueriedList{{Address: "list.x.all", Found: 1}}, Config: map[bool]string{true: "import {}"}[room > 0]}, "", nil
}

// TestQueryOpensAPull follows a query that opens a pull request with what it finds: once for each command, not beside an open one, into
// the base branch of the pull request with the command, and never from a fork or by somebody without rights.
func TestQueryOpensAPull(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "net/imports.tf": "", "lockstep.hcl": netProject + "allow {\n  branches = [\"rel*\"]\n  forks = true\n}\n"})
	e := &queriedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	s.repo.Push("bob", "release", "Release", githubtest.Files{"net/main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "new/main.tf": resource("c", "1"), "lockstep.hcl": netProject + "project \"new\" {\n  dir = \"new\"\n}\n"})
	s.repo.Retarget("alice", n, "release")
	s.settle()
	const command = "lockstep query -p net -pull-request"
	s.expect("without the permission", s.say("alice", n, command), "**Queried** `net`", "**Failed to open a pull request**", "permission to write contents")
	if len(s.repo.Pulls()) != 1 || len(s.repo.Files("main")) == 0 {
		t.Fatal("there is a pull request")
	}
	s.hub.Accepts("contents", "write")
	made := n + 1
	s.expect("a query", s.say("alice", n, command), fmt.Sprintf("Opened #%d with the configuration and `import` blocks of 1 object, in `net/imports_2.tf`", made))
	p := s.repo.Pulls()[made-1]
	_, after := s.repo.Changes(made)
	if p.Into != "release" || p.Author != "lockstep[bot]" || p.Title != "Import 1 object into net" || !strings.Contains(p.Body, fmt.Sprintf("`alice` asked for this pull request in #%d", n)) ||
		len(after) != 1 || !strings.HasSuffix(after["net/imports_2.tf"], "\n\nimport {}") {
		t.Errorf("%+v, %v", p, after)
	}
	s.expect("its plan", s.status(made), "`net`")
	s.expect("beside an open one", s.say("alice", n, command), fmt.Sprintf("#%d, from an earlier query, is still open", made))
	s.expect("of a new project", s.say("alice", n, "lockstep query -p new -pull-request"), "**Not queried** `new`", "`release` does not have this project")
	s.expect("a stranger", s.say("mallory", n, command), "**Not queried**", "`mallory` has the permission `read`")
	_, f, head := s.theirs(githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", f, "lockstep plan "+head)
	s.expect("a fork", s.say("alice", f, command), "**Not queried** `net`")
	s.repo.Close("alice", made)
	s.settle()
	s.expect("a second one", s.say("alice", n, command), fmt.Sprintf("Opened #%d", f+1))
	e.none = true
	s.repo.Close("alice", f+1)
	s.settle()
	s.expect("nothing found", s.say("alice", n, command), "there is nothing to import, and Lockstep opens no pull request")
	if got := len(s.repo.Pulls()); got != f+1 {
		t.Errorf("%d pull requests", got)
	}
}

// TestQueryOpensAPullOnce holds that a query whose process dies after it has opened a pull request opens one pull request.
func TestQueryOpensAPullOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	s.pipeline.Engine = &queriedEngine{Engine: s.pipeline.Engine}
	s.hub.Accepts("contents", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	died := 0
	off := s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		err := do(ctx)
		if err == nil && strings.HasPrefix(x.Call, "propose ") && died == 0 {
			died++
			return errDown
		}
		return err
	})
	s.expect("a query", s.say("alice", n, "lockstep query -p net -pull-request"), fmt.Sprintf("Opened #%d", n+1))
	off()
	if got := len(s.repo.Pulls()); got != n+1 || died != 1 {
		t.Errorf("%d pull requests, %d deaths", got, died)
	}
}

// TestQuery holds who may query a project: whoever may plan it. The query of a fork has no rights to have, and one of a closed pull
// request, by somebody without rights, or against a requirement of plans, is refused and never begun.
func TestQuery(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + forksAllowed + "require \"plan\" {\n  not_labels = [\"hold\"]\n}\n"})
	e := &queriedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("a query", s.say("alice", n, "lockstep query -p net"), "**Queried** `net`: the state does not have 1 of 1 object.")
	s.expect("with configuration", s.say("alice", n, "lockstep query -p net -generate"), "import {}")
	if len(e.jobs) != 2 || e.jobs[0].Snapshot != nil {
		t.Fatalf("%+v", e.jobs)
	}
	s.expect("another project", s.say("alice", n, "lockstep query -p app"), "**Not queried**", "`app`")
	s.expect("a stranger", s.say("mallory", n, "lockstep query -p net"), "**Not queried**", "`mallory` has the permission `read`")
	s.repo.Label("bob", n, "hold")
	s.expect("against a requirement", s.say("alice", n, "lockstep query -p net"), "**Not queried** `net`", "hold")
	s.repo.Unlabel("bob", n, "hold")
	s.repo.Close("alice", n)
	s.settle()
	s.expect("a closed one", s.say("alice", n, "lockstep query -p net"), "**Not queried**")
	_, f, head := s.theirs(githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", f, "lockstep plan "+head)
	s.expect("a fork", s.say("alice", f, "lockstep query -p net"), "**Not queried** `net`")
	if len(e.jobs) != 2 {
		t.Errorf("%d queries were begun", len(e.jobs))
	}
}

// TestShowInPrivate holds that everybody who can read a private repository sees its states by comment, again and again, and may do nothing
// else; and that the permission is that of the moment at which the state is read.
func TestShowInPrivate(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1") + "output \"one\" {\n  value = \"first\"\n}\n", "lockstep.hcl": netProject})
	s.repo.SetPrivate()
	s.repo.Grant("rita", "read")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	for range 3 {
		s.expect("a reader", s.say("rita", n, "lockstep output"), `one = "first"`)
		s.expect("a reader", s.say("rita", n, "lockstep show -p net"), "**State** of `net`: 2 objects.")
	}
	for _, command := range []string{"lockstep plan", "lockstep apply", "lockstep query -p net", "lockstep unlock -p net"} {
		s.expect(command, s.say("rita", n, command), "`rita` has the permission `read` on this repository, but the command needs `write`")
	}
	id := s.repo.Comment("rita", n, "lockstep output")
	m := s.held(pipeline.ToQuery)
	s.repo.Grant("rita", "none")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	got := s.answerTo(n, id)
	s.expect("without the permission", got, "**Not shown**", "but the command needs `read`")
	s.without("without the permission", got, "first")
}

// TestShow holds who sees outputs and objects of a state by comment in a public repository: whoever may plan the project. Nobody sees those of a fork's pull
// request, and each command of a comment has an answer of its own.
func TestShow(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1") + "output \"one\" {\n  value = \"first\"\n}\noutput \"two\" {\n  value = \"second\"\n}\n", "lockstep.hcl": netProject + forksAllowed})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("before an apply", s.say("alice", n, "lockstep output"), "**Outputs** of `net`, as of the last apply: 0 outputs.")
	s.say("alice", n, "lockstep apply")
	s.expect("two commands", s.say("alice", n, "lockstep output one\nlockstep output two\nlockstep show -p net"), `one = "first"`, `two = "second"`, "**State** of `net`: 2 objects.", "terraform_data.a\nterraform_data.b\n")
	s.expect("an object", s.say("alice", n, "lockstep show terraform_data.b"), "# terraform_data.b:")
	s.expect("no object", s.say("alice", n, "lockstep show terraform_data.c"), "**Failed to show** the state of `net`.", "The state has no object of terraform_data.c.")
	s.expect("another project", s.say("alice", n, "lockstep show -p app"), "**Not shown**", "`app`")
	s.expect("a stranger", s.say("mallory", n, "lockstep output"), "**Not shown**", "`mallory` has the permission `read`")
	_, f, head := s.theirs(githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", f, "lockstep plan "+head)
	for _, command := range []string{"lockstep output", "lockstep show -p net"} {
		answer := s.say("alice", f, command)
		s.expect("a fork", answer, "**Not shown** `net`")
		if strings.Contains(answer, "first") || strings.Contains(answer, "terraform_data") {
			t.Errorf("a fork is shown %s", answer)
		}
	}
}
