package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// onlyShadow are settings with which Lockstep only plans, beside Atlantis.
const onlyShadow = "defaults {\n  mode = \"shadow\"\n}\nshadow {\n  tool   = \"atlantis\"\n  author = \"acme-atlantis[bot]\"\n}\n"

// atlantisPlan is a comment of Atlantis about a plan that creates objects.
func atlantisPlan(dir string, addresses ...string) string {
	text := ""
	for _, a := range addresses {
		text += fmt.Sprintf("  # %s will be created\n+   resource \"terraform_data\" \"x\" {\n    }\n\n", a)
	}
	return fmt.Sprintf("Ran Plan for dir: `%s` workspace: `default`\n\n```diff\nTerraform will perform the following actions:\n\n%sPlan: %d to add, 0 to change, 0 to destroy.\n```\n\n* :arrow_forward: To **apply** this plan, comment:\n  ```shell\n  atlantis apply -d %s\n  ```\n", dir, text, len(addresses), dir)
}

// quiet counts the writes on GitHub other than those of check runs, and of the access token.
func (s *stage) quiet() *[]string {
	var out []string
	s.answered = func(r *http.Request, _ int) {
		if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/check-runs") && !strings.Contains(r.URL.Path, "/access_tokens") && r.URL.Path != "/graphql" {
			out = append(out, r.Method+" "+r.URL.Path)
		}
	}
	return &out
}

// shadowed returns the records of a pull request's plans in shadow mode.
func (s *stage) shadowed(n int) []shadow.Record {
	s.t.Helper()
	all, err := ledger.Ledger{Records: s.records}.Shadows(s.t.Context(), s.ref(n))
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// theirApply writes the state of a project as another tool does, with objects whose input is "1".
func (s *stage) theirApply(dir string, serial int, names ...string) {
	s.t.Helper()
	var resources []string
	for _, name := range names {
		resources = append(resources, fmt.Sprintf(`{"mode":"managed","type":"terraform_data","name":%q,"provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":%q,"input":{"value":"1","type":"string"},"output":{"value":"1","type":"string"},"triggers_replace":null}}]}`, name, name))
	}
	at := executor.LocalState(s.data.States, s.ref(1).Repo.ID, dir, "default")
	if err := os.MkdirAll(at, 0o700); err != nil {
		s.t.Fatal(err)
	}
	text := fmt.Sprintf(`{"version":4,"terraform_version":"1.11.4","serial":%d,"lineage":"theirs","outputs":{},"resources":[%s]}`, serial, strings.Join(resources, ","))
	if err := os.WriteFile(filepath.Join(at, "terraform.tfstate"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestShadowMode is the story of a repository in which Atlantis applies. Lockstep plans, reads the comments of Atlantis,
// compares, and writes one neutral check. Commands for Lockstep and for Atlantis change nothing.
func TestShadowMode(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "web/main.tf": "", "lockstep.hcl": onlyShadow + "allow {\n  commands = [\"atlantis\"]\n}\n"})
	writes := s.quiet()
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1") + resource("b", "1"), "web/a.tf": resource("a", "1")})
	if got := s.check("b"); got != "shadow lockstep shadow: neutral Shadow mode: 2 plans wait for Atlantis\n" {
		t.Errorf("the checks after the push:\n%s", got)
	}
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("net", "terraform_data.a", "terraform_data.b"))
	s.settle()
	s.expect("the check", s.pages("b"), "neutral, Shadow mode: 1 plan agrees with Atlantis, 1 plan waits for Atlantis", "| `net` | 2 to add, 0 to change, 0 to destroy | agrees |", "| `web` | 1 to add, 0 to change, 0 to destroy | waiting for a comment of the other tool, or for the merge |")
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("web", "terraform_data.z"))
	s.settle()
	s.expect("the check", s.pages("b"), "Shadow mode: 1 plan differs from Atlantis, 1 plan agrees with Atlantis", "### `web`", "- `terraform_data.a`: Lockstep `create`, Atlantis `nothing`. Compare the variables", "- `terraform_data.z`: Lockstep `nothing`, Atlantis `create`.")

	before := s.repo.Comments(n)
	for _, text := range []string{"lockstep apply", "lockstep plan", "lockstep help", "lockstep unlock", "lockstep nonsense", "atlantis apply", "atlantis plan -d net", "lockstep lock -reason \"x\""} {
		s.repo.Comment("alice", n, text)
		s.settle()
	}
	s.repo.Comment("mallory", n, "lockstep apply")
	s.settle()
	for i, c := range s.repo.Comments(n) {
		if len(c.Reactions) > 0 || i >= len(before) && c.Author == s.repo.Comments(n)[0].Author && strings.Contains(c.Author, "lockstep") {
			t.Errorf("a reaction or an answer: %+v", c)
		}
	}
	s.repo.Merge("alice", n)
	s.settle()
	if len(*writes) > 0 {
		t.Errorf("Lockstep has written more than check runs: %q", *writes)
	}
	if states, _ := filepath.Glob(filepath.Join(executor.LocalState(s.data.States, s.ref(1).Repo.ID, "*", "default"), "*")); len(states) > 0 {
		t.Errorf("Lockstep has written states: %q", states)
	}
	if got := s.check("b"); strings.Count(got, "\n") != 1 {
		t.Errorf("the checks after the merge:\n%s", got)
	}
	for _, r := range s.shadowed(n) {
		want := map[string]shadow.Verdict{"net": shadow.Agree, "web": shadow.Differ}[r.Project]
		if r.Verdict != want || r.Comment == 0 || r.Repo != "acme/infra" || r.Pull != n || r.Began.IsZero() || r.Planned.Before(r.Began) {
			data, _ := json.Marshal(r)
			t.Errorf("%s: %s", r.Project, data)
		}
	}
}

// TestShadowLies holds that a comment of another author does not count, and that a lie of the author ends as a difference.
func TestShadowLies(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": onlyShadow})
	s.pipeline.Secrets = []github.Secret{github.NewSecret("swordfish")}
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1")})
	s.repo.Comment("mallory", n, atlantisPlan("net", "terraform_data.a"))
	s.repo.Comment("other-atlantis[bot]", n, atlantisPlan("net", "terraform_data.a"))
	s.settle()
	if got := s.shadowed(n)[0]; got.Verdict != shadow.Unknown || got.Comment != 0 {
		t.Errorf("comments of others count: %+v", got)
	}
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("net", "terraform_data.<b>`@alice`</b>"))
	s.settle()
	page := s.pages("b")
	s.expect("the check", page, "neutral, Shadow mode: 1 plan differs from Atlantis")
	if !strings.Contains(page, "``terraform_data.<b>`@alice`</b>``") {
		t.Errorf("the address is not quoted:\n%s", page)
	}
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("net", "terraform_data.swordfish"))
	s.settle()
	data, err := json.Marshal(s.shadowed(n))
	if text := string(data) + s.pages("b"); err != nil || strings.Contains(text, "swordfish") || !strings.Contains(text, "terraform_data.") {
		t.Errorf("a secret: %s, %v", text, err)
	}
}

// TestShadowOldComments holds that a plan that was posted before the push is not compared with the plan of the new head.
func TestShadowOldComments(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-time.Hour)
	s := newStageAt(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": onlyShadow}, func() time.Time { return now })
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1")})
	now = now.Add(time.Minute)
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("net", "terraform_data.a"))
	s.settle()
	now = now.Add(time.Minute)
	s.repo.Push("alice", "b", "more", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.settle()
	if got := s.check("b"); got != "shadow lockstep shadow: neutral Shadow mode: 1 plan waits for Atlantis\n" {
		t.Errorf("the old comment is compared:\n%s", got)
	}
	now = now.Add(90 * time.Second)
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("net", "terraform_data.a", "terraform_data.b"))
	s.settle()
	s.expect("the check", s.pages("b"), "Shadow mode: 1 plan agrees with Atlantis", "| 1m30s |")
}

// TestShadowState holds that a plan without a comparable comment is compared with the state after the merge.
func TestShadowState(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		apply []string
		want  string
	}{
		"applied":     {[]string{"a", "b"}, "agree "},
		"partly":      {[]string{"a"}, "differ terraform_data.b: not in the state"},
		"not applied": {nil, "unknown nobody has applied the plan yet: the state has not changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": "defaults {\n  mode = \"shadow\"\n}\n"})
			writes := s.quiet()
			n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1"), "net/b.tf": resource("b", "1")})
			s.expect("the check", s.check("b"), "neutral Shadow mode: 1 plan waits for the other tool")
			if x.apply != nil {
				s.theirApply("net", 1, x.apply...)
			}
			s.repo.Merge("alice", n)
			s.settle()
			r := s.shadowed(n)[0]
			got := fmt.Sprint(r.Verdict, " ", r.Why)
			for _, d := range r.Differences {
				got += d.Address + ": " + d.Theirs
			}
			if got != x.want || len(*writes) > 0 {
				t.Errorf("%q, want %q; writes: %q", got, x.want, *writes)
			}
		})
	}
}

// TestShadowBesideActive is a repository in which Lockstep applies one project, and Atlantis another one. The two do not mix.
func TestShadowBesideActive(t *testing.T) {
	t.Parallel()
	const beside = "project \"net\" {\n  dir = \"net\"\n}\nproject \"web\" {\n  dir  = \"web\"\n  mode = \"shadow\"\n}\nautomerge {\n}\nshadow {\n  tool   = \"atlantis\"\n  author = \"acme-atlantis[bot]\"\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": "", "web/main.tf": "", "lockstep.hcl": beside})
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1"), "web/a.tf": resource("a", "1")})
	s.expect("the checks", s.check("b"), "head lockstep: neutral 1 project ready to apply", "lockstep/net: success", "shadow lockstep shadow: neutral Shadow mode: 1 plan waits for Atlantis")
	s.without("the checks", s.check("b"), "lockstep/web")
	s.without("the status", s.status(n), "web")
	s.expect("a plan", s.say("alice", n, "lockstep plan -p web"), "`web` is in shadow mode: another tool applies it, and Lockstep only compares the plans.")
	s.expect("an apply", s.say("alice", n, "lockstep apply -p web"), "`web` is in shadow mode")
	before := len(s.repo.Comments(n))
	s.repo.Comment("alice", n, "atlantis apply -d web")
	s.repo.Comment("acme-atlantis[bot]", n, atlantisPlan("web", "terraform_data.a"))
	s.settle()
	if got := s.repo.Comments(n); len(got) != before+2 {
		t.Errorf("Lockstep answers Atlantis: %+v", got[before:])
	}
	s.expect("the check", s.check("b"), "Shadow mode: 1 plan agrees with Atlantis")
	s.repo.Push("bob", "main", "A machine user", githubtest.Files{"lockstep.hcl": strings.Replace(beside, "acme-atlantis[bot]", "acme-robot", 1)})
	s.settle()
	before = len(s.repo.Comments(n))
	s.repo.Comment("acme-robot", n, atlantisPlan("web", "terraform_data.other"))
	s.settle()
	if got := s.repo.Comments(n); len(got) != before+1 {
		t.Errorf("Lockstep answers Atlantis: %+v", got[before:])
	}
	s.expect("the check", s.check("b"), "Shadow mode: 1 plan differs from Atlantis")
	s.hub.Accepts("contents", "write")
	s.expect("the apply of net", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	if s.merged(n) {
		t.Error("Lockstep has merged a pull request that Atlantis still applies")
	}
	one := s.pull("alice", "c", githubtest.Files{"web/b.tf": resource("b", "1")})
	before = len(s.repo.Comments(one))
	s.repo.Comment("alice", one, "lockstep apply")
	s.settle()
	if got := s.repo.Comments(one); len(got) != before+1 {
		t.Errorf("Lockstep answers on a pull request with projects in shadow mode only: %+v", got)
	}
}

// TestShadowAfterActive holds that a plan that Lockstep made before the base branch put the project into shadow mode is never
// applied.
func TestShadowAfterActive(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "db/main.tf": "", "lockstep.hcl": netProject + "project \"db\" {\n  dir = \"db\"\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1")})
	s.expect("the plan", s.status(n), "ready to apply")
	s.repo.Push("bob", "main", "Shadow", githubtest.Files{"lockstep.hcl": strings.Replace(netProject, "\n}", "\n  mode = \"shadow\"\n}", 1) + "project \"db\" {\n  dir = \"db\"\n}\n"})
	s.settle()
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`net` is in shadow mode")
	s.expect("a lock", s.say("alice", n, "lockstep lock -p net -reason \"x\""), "`net` is in shadow mode")
	s.repo.Merge("alice", n)
	s.settle()
	if _, err := os.Stat(filepath.Join(executor.LocalState(s.data.States, s.ref(1).Repo.ID, "net", "default"), "terraform.tfstate")); err == nil {
		t.Error("Lockstep has written the state")
	}
}

// TestShadowRenamed holds that a pull request cannot take a project out of shadow mode: not by its own settings, and not by
// another name or directory.
func TestShadowRenamed(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]githubtest.Files{
		"settings":  {"lockstep.hcl": netProject + "project \"db\" {\n  dir = \"db\"\n}\n", "net/a.tf": resource("a", "1")},
		"name":      {"lockstep.hcl": strings.Replace(netProject, "\"net\" {", "\"other\" {", 1) + "project \"db\" {\n  dir = \"db\"\n}\n", "net/a.tf": resource("a", "1")},
		"directory": {"lockstep.hcl": strings.Replace(netProject, "dir = \"net\"", "dir = \"moved\"", 1) + "project \"db\" {\n  dir = \"db\"\n}\n", "moved/a.tf": resource("a", "1"), "moved/backend.tf": "terraform {\n  backend \"local\" {\n  }\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": "", "db/main.tf": "", "lockstep.hcl": strings.Replace(netProject, "\n}", "\n  mode = \"shadow\"\n}", 1) + "project \"db\" {\n  dir = \"db\"\n}\n"})
			n := s.pull("alice", "b", files)
			s.repo.Comment("alice", n, "lockstep apply")
			s.settle()
			for _, c := range s.repo.Comments(n) {
				if strings.Contains(c.Body, "**Applied**") || strings.Contains(c.Body, "ready to apply") {
					t.Errorf("a pull request takes its project out of shadow mode:\n%s", c.Body)
				}
			}
		})
	}
}

// TestShadowFork holds that a pull request from a fork is not planned in shadow mode, and that nobody gets a comment about that.
func TestShadowFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": onlyShadow})
	writes := s.quiet()
	_, n, head := s.theirs(githubtest.Files{"net/a.tf": resource("a", "1")})
	s.settle()
	var got []string
	for _, c := range s.repo.Checks(head) {
		got = append(got, fmt.Sprint(c.Name, ": ", c.Conclusion, " ", c.Title))
	}
	if strings.Join(got, "\n") != "lockstep shadow: neutral Shadow mode: Lockstep plans nothing here" || len(*writes) > 0 || len(s.shadowed(n)) > 0 {
		t.Errorf("checks %q, writes %q", got, *writes)
	}
}

// TestShadowCrowd holds that 30 projects in shadow mode cost few requests: the comments are read and the check is written some
// times, and not for each project.
func TestShadowCrowd(t *testing.T) {
	t.Parallel()
	base, change := githubtest.Files{"lockstep.hcl": onlyShadow}, githubtest.Files{}
	for i := range 30 {
		base[fmt.Sprintf("p%02d/main.tf", i)] = ""
		change[fmt.Sprintf("p%02d/a.tf", i)] = resource("a", "1")
	}
	s := newStage(t, base)
	lists, checks := 0, 0
	s.answered = func(r *http.Request, _ int) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/comments") && r.Method == http.MethodGet:
			lists++
		case strings.Contains(r.URL.Path, "/check-runs") && r.Method != http.MethodGet:
			checks++
		}
	}
	s.pull("alice", "b", change)
	s.expect("the check", s.check("b"), "lockstep shadow: neutral Shadow mode: 30 plans wait for Atlantis")
	if lists > 10 || checks > 10 {
		t.Errorf("%d lists of comments and %d writes of the check", lists, checks)
	}
}

// TestShadowEnds holds that Lockstep speaks again once the base branch has ended shadow mode, on pull requests that were opened
// before, too.
func TestShadowEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": onlyShadow})
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1")})
	s.repo.Push("bob", "main", "Active", githubtest.Files{"lockstep.hcl": netProject})
	s.settle()
	s.expect("an apply without a plan", s.say("alice", n, "lockstep apply"), "**Not applied**")
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`: 1 to add")
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestShadowRerun holds that a plan that has failed is made once more with the button "Re-run", and one that has not is not.
func TestShadowRerun(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "web/main.tf": "", "lockstep.hcl": onlyShadow})
	writes := s.quiet()
	broken, counted := &unknowing{Engine: s.pipeline.Engine, project: "net"}, &unknowing{project: "web", known: true}
	counted.Engine = broken
	s.pipeline.Engine = counted
	s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1"), "web/a.tf": resource("a", "1")})
	s.expect("the check", s.pages("b"), "| `net` | failed |", "The plan of Lockstep failed:", "Invalid count argument")
	broken.known = true
	s.repo.Rerequest("alice", s.checkOf("b", "lockstep shadow").ID)
	s.settle()
	s.expect("the check", s.pages("b"), "| `net` | 1 to add, 0 to change, 0 to destroy |")
	if counted.plans != 1 || broken.plans != 2 || len(*writes) > 0 {
		t.Errorf("%d plans of web and %d of net; writes %q", counted.plans, broken.plans, *writes)
	}
}

// TestShadowRemoved holds that the merge of a pull request that removes the last project in shadow mode does not let Lockstep
// destroy its objects: not at once, and not by a command that names the project.
func TestShadowRemoved(t *testing.T) {
	t.Parallel()
	for name, landed := range map[string]bool{"planned": false, "merged at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const db = "project \"db\" {\n  dir = \"db\"\n}\n"
			s := newStage(t, githubtest.Files{"net/a.tf": resource("a", "1"), "db/main.tf": "", "lockstep.hcl": strings.Replace(netProject, "\n}", "\n  mode = \"shadow\"\n}", 1) + db})
			s.theirApply("net", 1, "a")
			files := githubtest.Files{"net/a.tf": githubtest.Deleted, "lockstep.hcl": db}
			n := 0
			if !landed {
				n = s.pull("alice", "b", files)
			} else {
				s.repo.Push("alice", "b", "work", files)
				n = s.repo.OpenPull("alice", "work", "b")
			}
			s.repo.Merge("alice", n)
			s.settle()
			for _, text := range []string{"lockstep plan", "lockstep plan -p net", "lockstep apply", "lockstep apply -p net"} {
				s.repo.Comment("alice", n, text)
				s.settle()
			}
			for _, c := range s.repo.Comments(n) {
				if strings.Contains(c.Body, "1 to destroy") || strings.Contains(c.Body, "**Applied**") {
					t.Errorf("Lockstep destroys what another tool applies:\n%s", c.Body)
				}
			}
		})
	}
}

// TestShadowRemovedAutomerge holds that Lockstep does not merge a pull request that removes a project in shadow mode: the other
// tool has to destroy its objects first.
func TestShadowRemovedAutomerge(t *testing.T) {
	t.Parallel()
	const db = "project \"db\" {\n  dir = \"db\"\n}\nautomerge {\n}\n"
	s := newStage(t, githubtest.Files{"net/a.tf": resource("a", "1"), "db/main.tf": "", "lockstep.hcl": strings.Replace(netProject, "\n}", "\n  mode = \"shadow\"\n}", 1) + db})
	s.hub.Accepts("contents", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": githubtest.Deleted, "db/b.tf": resource("b", "1"), "lockstep.hcl": db})
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `db`")
	if s.merged(n) {
		t.Error("Lockstep has merged a pull request that another tool still applies")
	}
}

// TestShadowMergedAtOnce holds that Lockstep is silent about a pull request that is merged before Lockstep has looked at it, if
// all projects are in shadow mode.
func TestShadowMergedAtOnce(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]githubtest.Files{
		"changed": {"net/a.tf": resource("a", "1")},
		"removed": {"net/main.tf": githubtest.Deleted},
		"outside": {"README": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("m", "1"), "web/main.tf": "", "lockstep.hcl": onlyShadow})
			writes := s.quiet()
			s.repo.Push("alice", "b", "Change", files)
			n := s.repo.OpenPull("alice", "Change", "b")
			s.repo.Merge("alice", n)
			s.settle()
			s.repo.Comment("alice", n, "lockstep plan")
			s.settle()
			if len(*writes) > 0 || len(s.repo.Comments(n)) != 1 {
				t.Errorf("Lockstep is not silent: %q\n%+v", *writes, s.repo.Comments(n))
			}
			for _, c := range s.repo.Checks(s.repo.Head("b")) {
				if c.Name != "lockstep shadow" {
					t.Errorf("a check: %s %s", c.Name, c.Title)
				}
			}
		})
	}
}

// TestShadowUnseen holds that Lockstep is silent about a pull request of a repository with projects in shadow mode only, whose first
// event was lost or given up.
func TestShadowUnseen(t *testing.T) {
	t.Parallel()
	files := githubtest.Files{"net/main.tf": "", "lockstep.hcl": onlyShadow}
	check := func(t *testing.T, s *stage, writes []string) {
		t.Helper()
		if got := s.check("b"); strings.Contains("\n"+got, "\nhead ") || len(writes) > 0 {
			t.Errorf("the check %q; other writes %q", got, writes)
		}
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, files)
		writes := s.quiet()
		s.hub.LoseDeliveries(1)
		n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1")})
		s.repo.Close("alice", n)
		s.settle()
		check(t, s, *writes)
	})
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, files)
		writes := s.quiet()
		s.repo.Push("alice", "b", "Change", githubtest.Files{"net/a.tf": resource("a", "1")})
		s.repo.OpenPull("alice", "Change", "b")
		if _, err := s.hub.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if m.Kind == pipeline.Pushed {
				return s.pipeline.Abandon(ctx, m, "its process died")
			}
			return s.pipeline.Handle(ctx, m)
		})
		check(t, s, *writes)
	})
}
