package dispatch_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// requiring are files with one project and the requirements of a body.
func requiring(command, body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf":  resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nrequire \"" + command + "\" {\n" + body + "\n}\n",
	}
}

// onPage is the status of the project of a pull request, as on a page.
func (s *stage) onPage(number int) string {
	s.t.Helper()
	p, err := runstatus.Project(s.t.Context(), s.records, s.run(number), s.run(number).Spec.Head)
	if err != nil {
		s.t.Fatal(err)
	}
	return comment.Check{ProjectStatus: p}.Summary(github.MaxCheckText)
}

// TestTeamGate is a team with two reviewers: what is missing is shown with the plan, each attempt
// is answered with the tree, and approvals count for the commit that is planned.
func TestTeamGate(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  by = [\"acme/dev\"]\n  approvals = 1\n  approved_by = [\"acme/sre\"]\n  draft = false"))
	s.hub.SetTeam("acme", "sre", "bob", "alice")
	s.hub.SetTeam("acme", "dev", "alice")
	s.repo.Grant("carol", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "**needs approval**", "**not met**: an approval of the planned commit by `acme/sre`", "checked at the apply: a request by `acme/dev`", "Approve the pull request. Then, to apply this plan, comment `lockstep apply`")
	const missing = "**not met**: an approval of the planned commit by `acme/sre`"
	s.expect("the page", s.onPage(n), "**needs approval**", missing)
	s.expect("without a review", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing)
	s.repo.Review("alice", n, github.Approved, "")
	s.expect("approved by the author", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing, "`alice` is an author of the change")
	s.repo.Review("carol", n, github.Approved, "")
	s.expect("approved by somebody else", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing, "`carol` is not in `")
	s.repo.Review("sneaky[bot]", n, github.Approved, "")
	s.expect("approved by an App", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing, "`sneaky[bot]` is an App")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("the status then", s.status(n), "ready to apply", "met: an approval of the planned commit by `acme/sre` (approved by `bob`")
	s.expect("the check then", s.pages("b"), "met: an approval of the planned commit by `acme/sre` (approved by `bob`")
	s.expect("the page then", s.onPage(n), "ready to apply", "met: an approval of the planned commit by `acme/sre` (approved by `bob`")
	s.expect("asked for by another", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "a request by `acme/dev` (`bob` is not in `acme/dev`)")
	s.repo.Push("alice", "b", "More", githubtest.Files{"net/b.tf": resource("b", "2")})
	s.settle()
	s.expect("after a push", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing, "`bob` approved an earlier commit")
	s.repo.Review("bob", n, github.Approved, "")
	s.expect("all of it", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
}

// TestLockedAndMissing holds that a plan which is blocked, by a lock or the apply of another pull request, shows the requirements
// that are missing as well, wherever it is shown.
func TestLockedAndMissing(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 1"))
	s.repo.Grant("carol", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	other := s.pull("carol", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	const missing, lock = "**not met**: an approval of the planned commit", "Locked by #2: `carol` has locked the state"
	places := func(when, state, head, why string, more ...string) {
		t.Helper()
		for name, text := range map[string]string{"the status": s.status(n), "the check": s.checkOf("b", "lockstep/net").Summary, "the required check": s.checkOf("b", "lockstep").Summary, "the page": s.onPage(n)} {
			s.expect(when+", "+name, text, why, missing)
			s.expect(when+", "+name, text, state)
		}
		s.expect(when+", the check", s.checkOf("b", "lockstep/net").Summary, more...)
		s.headIs(when, "b", "action_required 1 project "+head+" – 2 to add, 0 to change, 0 to destroy")
	}
	s.say("carol", other, "lockstep lock --reason \"it moves\"")
	places("locked", "**locked by #2**", "locked by another pull request", lock, "Then comment `lockstep apply -p net` on this pull request. The requirements have to be met, too.")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("approved", s.checkOf("b", "lockstep/net").Summary, lock, "met: an approval of the planned commit", "Then comment `lockstep apply -p net`")
	s.say("carol", other, "lockstep unlock")
	s.repo.Push("alice", "b", "More", githubtest.Files{"net/b.tf": resource("b", "2")})
	s.repo.Review("bob", other, github.Approved, "")
	s.settle()
	s.expect("the apply of the other", s.say("carol", other, "lockstep apply"), "**Applied** `net`")
	places("behind an apply", "**blocked** by #2, which is applied and not merged", "blocked", "#2 was applied to `net` and is not merged yet", "The requirements have to be met, too.")
}

// TestRequirementsOfTheBase holds that a pull request which removes a requirement, or renames what it is
// about, has to fulfil it.
func TestRequirementsOfTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  projects = [\"net\"]\n  approvals = 1"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": "project \"other\" {\n  dir = \"net\"\n}\n"})
	s.expect("the status", s.status(n), "| `other` |", "**needs approval**")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `other`", "**not met**: an approval")

	m := s.pull("alice", "c", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
	s.expect("without the block", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "**not met**: an approval")
	s.repo.Push("bob", "main", "Broken", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nrequire \"apply\" {\n  aprovals = 1\n}\n"})
	s.expect("a requirement that cannot be read", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "settings on the base branch without errors")
}

// TestBrokenAlike holds that errors of the settings, which the base branch and the pull request have alike, are told once, and those
// of the base branch alone as its own.
func TestBrokenAlike(t *testing.T) {
	t.Parallel()
	const broken = "project \"net\" {\n  dir = \"net\"\n}\nrequire \"apply\" {\n  aprovals = 1\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": broken})
	s.unchecked = true
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	m := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1"), "lockstep.hcl": strings.Replace(broken, "aprovals", "approvals", 1)})
	s.expect("with the same errors", s.status(n), "An argument named \"aprovals\"", "Requirements for the apply, from `lockstep.hcl` on the base branch:")
	s.expect("with none", s.status(m), "An argument named \"aprovals\"", "Requirements for the apply, from `lockstep.hcl` on the base branch:")
	for number, text := range map[int]string{n: s.status(n), m: s.status(m)} {
		if strings.Count(text, "An argument named") != 1 {
			t.Errorf("#%d tells the error more than once:\n%s", number, text)
		}
	}
}

// TestPlanGate holds that a plan is a command with requirements, too, and that a push is no way around
// them.
func TestPlanGate(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("plan", "  by = [\"acme/sre\"]"))
	s.hub.SetTeam("acme", "sre", "bob")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	if got := s.check("b"); strings.Contains(got, "1 to add") {
		t.Errorf("it was planned:\n%s", got)
	}
	s.expect("the status", s.status(n), "the projects could not be determined", "a request by `acme/sre`")
	s.expect("by somebody else", s.say("alice", n, "lockstep plan"), "**Not planned** `net`", "a request by `acme/sre` (`alice` is not in `acme/sre`)")
	s.expect("by one of them", s.say("bob", n, "lockstep plan"), "**Planned** `net`")
}

// TestCommandGates holds that each command can have requirements, those that plan under another name and plan's options that mean
// the same as well, and that a plan which lacks them needs none of these.
func TestCommandGates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ of, said, not string }{
		{"import", "lockstep import terraform_data.b x -p net", "**Not planned** `net`"},
		{"state mv", "lockstep state mv terraform_data.a terraform_data.c -p net", "**Not planned** `net`"},
		{"state rm", "lockstep state rm terraform_data.a -p net", "**Not planned** `net`"},
		{"taint", "lockstep taint terraform_data.a", "**Not planned** `net`"},
		{"taint", "lockstep plan -replace=terraform_data.a", "**Not planned** `net`"},
		{"untaint", "lockstep untaint terraform_data.a -p net", "**Not planned** `net`"},
		{"invoke", "lockstep invoke action.lab_notify.a -p net", "**Not planned** `net`"},
		{"invoke", "lockstep plan -invoke=action.lab_notify.a -p net", "**Not planned** `net`"},
		{"drift", "lockstep drift", "**Not planned** `net`"},
		{"drift", "lockstep plan -refresh-only", "**Not planned** `net`"},
		{"lock", "lockstep lock --reason \"it burns\"", "**Not locked** `net`"},
		{"stop", "lockstep stop", "**Not cancelled** `net`"},
	} {
		t.Run(test.of, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, requiring(test.of, "  by = [\"acme/sre\"]"))
			s.hub.SetTeam("acme", "sre", "bob")
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("by somebody else", s.say("alice", n, test.said), test.not, "a request by `acme/sre` (`alice` is not in `acme/sre`)")
			if got := s.say("bob", n, test.said); strings.Contains(got, "acme/sre") {
				t.Errorf("by one of them: %s", got)
			}
			s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
		})
	}
	s := newStage(t, requiring("retry", "  by = [\"acme/sre\"]"))
	s.hub.SetTeam("acme", "sre", "bob")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "resource \"terraform_data\" \"b\" {\n  input = local.nothing\n}\n"})
	s.expect("a retry by somebody else", s.say("alice", n, "lockstep retry"), "**Not planned** `net`", "a request by `acme/sre`")
	s.expect("a retry by one of them", s.say("bob", n, "lockstep retry"), "local.nothing")
}

// TestStopWithoutSettings holds that settings which cannot be read are in the way of no stop.
func TestStopWithoutSettings(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("stop", "  aprovals = 1"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("a stop", s.say("alice", n, "lockstep stop"), "No plan or apply of this pull request is in progress.")
	s.expect("a lock", s.say("alice", n, "lockstep lock --reason x"), "settings on the base branch without errors")
}

// TestPlanGateOfOne holds that the check of a head with a project that may not be planned says so, and fails until somebody has it
// planned, whatever becomes of the others; and that it does not pass after the merge.
func TestPlanGateOfOne(t *testing.T) {
	t.Parallel()
	files := githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\nrequire \"plan\" {\n  projects = [\"net\"]\n  by = [\"acme/sre\"]\n}\n"}
	s := newStage(t, files)
	s.hub.SetTeam("acme", "sre", "bob")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	const denied = "failure Denied: not all projects may be planned"
	s.headIs("after a push", "b", denied)
	s.expect("its page", s.checkOf("b", "lockstep").Summary, "a request by `acme/sre`", "| `app` | 2 to add")
	s.say("alice", n, "lockstep plan -p app")
	s.headIs("after a plan of the other one", "b", denied)
	s.expect("its page then", s.checkOf("b", "lockstep").Summary, "a request by `acme/sre`")
	s.say("bob", n, "lockstep plan -p net")
	s.headIs("once it is planned", "b", "neutral 2 projects ready to apply – 4 to add, 0 to change, 0 to destroy")
	two := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.repo.Merge("alice", two)
	s.settle()
	s.headIs("after the merge", "c", denied)
}

// TestPlanGateFollows holds that the refusal of a plan follows the facts, and that the project is planned once nobody has to ask
// for it.
func TestPlanGateFollows(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("plan", "  approvals = 1\n  labels = [\"ok\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("before the review", s.status(n), "the projects could not be determined", "**not met**: an approval", "these labels: `ok`")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	got := s.status(n)
	if s.expect("after the review", got, "the projects could not be determined", "these labels: `ok`"); strings.Contains(got, "**not met**: an approval") {
		t.Errorf("the approval is there:\n%s", got)
	}
	if page := s.checkOf("b", "lockstep").Summary; strings.Contains(page, "**not met**: an approval") {
		t.Errorf("the approval is there, and the check says:\n%s", page)
	}
	s.say("bob", n, "lockstep help") // which is no reason to look away
	s.repo.Label("bob", n, "ok")
	s.settle()
	s.expect("once all is there", s.status(n), "ready to apply", "2 to add", "ready to apply")
	s.headIs("once all is there", "b", "neutral 1 project ready to apply – 2 to add, 0 to change, 0 to destroy")
}

// TestPlanGateByTheClock holds the same of facts that no webhook tells.
func TestPlanGateByTheClock(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("plan", "  labels = [\"ok\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Push("bob", "main", "No labels", githubtest.Files{"lockstep.hcl": netProject})
	s.settle()
	s.roundAt(s.hub.Now().Add(2*time.Hour), reconcile.Found{Decisions: 1})
	s.expect("after a round", s.status(n), "ready to apply")
}

// TestPlanGateOfAMerge holds that a project which the merge should have applied, and which nobody could have planned, is in the
// issue about what is left, and that a retry by somebody who may is for it.
func TestPlanGateOfAMerge(t *testing.T) {
	t.Parallel()
	files := onMergeNet()
	files["app/main.tf"] = resource("a", "1")
	files["lockstep.hcl"] += "project \"app\" {\n  dir = \"app\"\n  apply = \"merge\"\n}\nrequire \"plan\" {\n  projects = [\"net\"]\n  by = [\"acme/sre\"]\n}\n"
	s := newStage(t, files)
	s.hub.SetTeam("acme", "sre", "bob")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.repo.Merge("alice", n)
	s.settle()
	issues := s.repo.Issues()
	if len(issues) != 1 || !issues[0].Open {
		t.Fatalf("no issue is about it: %+v", issues)
	}
	s.expect("the issue", issues[0].Body, "| **merged, not applied** | `net` | no plan |", "For a new plan of what is not applied, comment `lockstep retry` on")
	if strings.Contains(issues[0].Body, "`app`") {
		t.Errorf("the applied project is in the issue:\n%s", issues[0].Body)
	}
	s.expect("by one who may not", s.say("alice", n, "lockstep retry"), "**Not planned** `net`", "a request by `acme/sre` (`alice` is not in `acme/sre`)")
	s.expect("by one who may", s.say("bob", n, "lockstep retry"), "**Planned** `net`: 2 to add")
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
	if issues = s.repo.Issues(); len(issues) != 1 || issues[0].Open {
		t.Errorf("the issue is not closed: %+v", issues)
	}
}

// TestPlanGateOfAMergeAtOnce holds the same of a head that nobody had looked at.
func TestPlanGateOfAMergeAtOnce(t *testing.T) {
	t.Parallel()
	files := onMergeNet()
	files["lockstep.hcl"] += "require \"plan\" {\n  by = [\"acme/sre\"]\n}\n"
	s := newStage(t, files)
	s.hub.SetTeam("acme", "sre", "bob")
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.repo.Merge("alice", n)
	s.settle()
	if issues := s.repo.Issues(); len(issues) != 1 || !issues[0].Open || !strings.Contains(issues[0].Body, "| **merged, not applied** | `net` | no plan |") {
		t.Fatalf("no issue is about it: %+v", issues)
	}
	s.expect("by one who may", s.say("bob", n, "lockstep retry"), "**Planned** `net`: 2 to add")
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
}

// TestPlanGateOfOpenPlans holds that a plan which was permitted is made again by itself: nobody asks for that.
func TestPlanGateOfOpenPlans(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("plan", "  by = [\"acme/sre\"]"))
	s.hub.SetTeam("acme", "sre", "bob")
	one := s.pull("alice", "a", githubtest.Files{"net/a.tf": resource("x", "1")})
	two := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("bob", one, "lockstep plan")
	s.say("bob", two, "lockstep plan")
	s.expect("the apply of one", s.say("alice", one, "lockstep apply"), "**Applied** `net`")
	s.repo.Merge("alice", one)
	s.settle()
	if got := s.status(two); strings.Contains(got, "could not be checked") || !strings.Contains(got, "1 to add") {
		t.Errorf("the open plan was not made again:\n%s", got)
	}
}

// TestCodeowners holds that the owners are those of the base branch, whatever the pull request has.
func TestCodeowners(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  codeowners = true")
	files[".github/CODEOWNERS"] = "# all\n*.md @carol\n/net/ @acme/net bob@example.org\n/net/free.tf\n"
	s := newStage(t, files)
	s.hub.SetTeam("acme", "net", "bob")
	s.repo.Grant("carol", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "net/free.tf": resource("c", "1"), ".github/CODEOWNERS": "* @carol\n"})
	s.repo.Review("carol", n, github.Approved, "")
	s.expect("by an owner of its own making", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "0 of 1 files approved", "`net/b.tf` needs the approval of `acme/net` or `bob@example.org`")
	s.repo.Review("bob", n, github.Approved, "")
	s.expect("by the owner", s.say("alice", n, "lockstep apply"), "**Applied** `net`")

	s.repo.Merge("alice", n)
	s.settle()
	s.repo.Push("bob", "main", "Odd", githubtest.Files{".github/CODEOWNERS": "net/[ab].tf @bob\n/net/ @carol\n"})
	m := s.pull("alice", "c", githubtest.Files{"net/d.tf": resource("d", "1")})
	s.repo.Review("bob", m, github.Approved, "")
	s.expect("a line that is not valid", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "`net/d.tf` needs the approval of `carol`", "CODEOWNERS has an invalid line, which GitHub ignores: `.github/CODEOWNERS line 1`")
	s.repo.Push("bob", "main", "Misspelt", githubtest.Files{".github/CODEOWNERS": "/net/ @acme/nte @mallory @carol\n"})
	s.settle()
	answer := s.say("alice", m, "lockstep apply")
	s.expect("owners that are none", answer, "`net/d.tf` needs the approval of `acme/nte` or `mallory` or `carol`",
		"CODEOWNERS names `acme/nte`, who does not exist or cannot write to the repository", "CODEOWNERS names `mallory`, who does not exist or cannot write to the repository")
	if strings.Contains(answer, "`carol`, an owner") {
		t.Errorf("an owner who may write is none:\n%s", answer)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/codeowners/errors") {
			http.Error(w, `{"message":"No."}`, http.StatusForbidden)
			return true
		}
		return false
	}
	s.expect("nobody knows who they are", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "`net/d.tf` needs the approval of `acme/nte` or `mallory` or `carol`")
}

// TestCodeownersElsewhere holds that the owners of a project are asked about what comes from none of its files: from a command,
// from settings, and from a module that nobody owns.
func TestCodeownersElsewhere(t *testing.T) {
	t.Parallel()
	const net, app = "project \"net\" {\n  dir = \"net\"\n}\n", "project \"app\" {\n  dir = \"app\"\n}\nrequire \"apply\" {\n  codeowners = true\n}\n"
	settings := func(more string) githubtest.Files {
		return githubtest.Files{"net/README.md": "more", "lockstep.hcl": strings.Replace(net, "dir = \"net\"\n", more, 1) + app}
	}
	configuration := resource("a", "1") + "variable \"x\" {\n  default = \"1\"\n}\n" + strings.Replace(resource("v", ""), "\"\"", "var.x", 1) + "module \"m\" {\n  source = \"../m\"\n}\n"
	for what, c := range map[string]struct {
		change     githubtest.Files
		plan       string
		workspaces []string // of net, that are to be applied; none for the only one
	}{
		"a destruction of what is not touched":  {change: githubtest.Files{"app/x.tf": resource("x", "1")}, plan: "lockstep plan -destroy -p net"},
		"a replacement of what is not touched":  {change: githubtest.Files{"README.md": "x"}, plan: "lockstep taint terraform_data.a -p net"},
		"a destruction of what is touched":      {change: githubtest.Files{"net/free.tf": resource("x", "1")}, plan: "lockstep plan -destroy -p net"},
		"a variable in the settings":            {change: settings("dir = \"net\"\n  variables = { x = \"9\" }\n")},
		"files of variables in the settings":    {change: settings("dir = \"net\"\n  var_files = [\"free.tfvars\"]\n").With(githubtest.Files{"net/free.md": "x", "free.tfvars": "x = \"8\"\n"})},
		"a module":                              {change: githubtest.Files{"m/m.tf": resource("m", "2")}},
		"a removal by the settings":             {change: githubtest.Files{"lockstep.hcl": app}},
		"another workspace":                     {change: settings("dir = \"net\"\n  workspace = \"w\"\n"), workspaces: []string{"w", "default"}},
		"another directory, and the same state": {change: settings("dir = \"new\"\n").With(githubtest.Files{"new/main.tf": resource("new", "1")})},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": configuration, "m/m.tf": resource("m", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": net + app,
				".github/CODEOWNERS": "/net/ @carol\n*.md\nfree.tf\n"})
			s.repo.Grant("carol", "write")
			first := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.repo.Review("carol", first, github.Approved, "")
			s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`")
			s.repo.Merge("alice", first)
			s.settle()
			n := s.pull("alice", "b", c.change)
			if c.plan != "" {
				s.say("alice", n, c.plan)
			}
			for _, w := range append(c.workspaces, "")[:max(1, len(c.workspaces))] {
				s.expect("its apply", s.say("alice", n, strings.TrimSuffix("lockstep apply -p net -w "+w, " -w ")), "**Not applied** `net", "`net/*.tf` needs the approval of `carol`")
			}
		})
	}
}

// TestPullGate is a pull request with every rule about it, and the attacks on them.
func TestPullGate(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  mergeable = true\n  up_to_date = true\n  resolved = true\n  checks = [\"ci by buildkite\"]\n  labels = [\"go\"]\n  not_labels = [\"hold\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	done := func(name string, c github.Conclusion) github.Check {
		return github.Check{Name: name, SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: c, Title: "t", Summary: "s"}
	}
	s.repo.Protect("blocked", []githubtest.Required{{Name: "lockstep/net"}, {Name: "build"}}, nil)
	s.repo.Label("mallory", n, "go")
	s.repo.Label("bob", n, "hold")
	talk := s.repo.Discuss("bob", n)
	s.repo.AddCheck("github-actions", done("ci", github.ConcludedSuccess))
	s.repo.AddCheck("github-actions", done("lockstep/net", github.ConcludedSuccess))
	s.expect("nothing is there", s.say("alice", n, "lockstep apply"), "**Not applied** `net`",
		"`build` is missing", "1 open", "`ci by buildkite` was reported by another App, `github-actions`", "`go` was added by `mallory`, who cannot write to the repository", "a pull request without the labels `hold` (it has `hold`)")
	s.repo.AddCheck("buildkite", done("ci", github.ConcludedSuccess))
	s.repo.SetStatus(s.repo.Head("b"), "build", "success")
	s.repo.Resolve("bob", n, talk)
	s.repo.Unlabel("mallory", n, "go")
	s.repo.Label("bob", n, "go")
	s.repo.Unlabel("mallory", n, "hold")
	s.repo.Push("bob", "main", "Other", githubtest.Files{"docs/x.md": "x"})
	s.repo.Protect("clean", []githubtest.Required{{Name: "lockstep/net"}, {Name: "build"}}, nil)
	s.expect("behind", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**not met**: a branch that is up to date with the base branch", "`hold` was removed by `mallory`, who cannot write to the repository", "met: a pull request that GitHub would merge")
	s.repo.Push("alice", "b", "Merge", githubtest.Files{"docs/x.md": "x"})
	s.repo.Label("bob", n, "hold")
	s.repo.Unlabel("bob", n, "hold")
	s.settle()
	s.expect("a new head without checks", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`ci by buildkite` is missing")
}

// TestBlockedByAnother holds that a merge which something else than our own required check blocks is none that could be: before
// and after people are told, and whatever is looked at again.
func TestBlockedByAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  mergeable = true"))
	s.repo.Protect("blocked", []githubtest.Required{{Name: "lockstep"}}, nil)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	for range 3 {
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**not met**: a pull request that GitHub would merge, apart from Lockstep's own checks")
		s.expect("the status", s.status(n), "**not met**: a pull request that GitHub would merge")
		if c := s.checkOf("b", "lockstep"); c.Conclusion != github.ConcludedNeutral {
			t.Errorf("the check hides the block, it is %s:\n%s", c.Conclusion, s.check("b"))
		}
	}
	s.repo.Protect("clean", []githubtest.Required{{Name: "lockstep"}}, nil)
	s.expect("its apply without", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestAlternativeNotForIt holds that an alternative which is not about the pull request does not stand for the one that is
// missing: neither the check of the head passes, nor that of a merge group.
func TestAlternativeNotForIt(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"comment", "merge"} {
		f := requiring("apply", "  alternative \"owners\" {\n    codeowners = true\n  }\n  alternative \"sre\" {\n    approvals = 1\n  }")
		f["lockstep.hcl"] = strings.Replace(f["lockstep.hcl"], "dir = \"net\"", "dir = \"net\"\n  apply = \""+on+"\"", 1)
		f[".github/CODEOWNERS"] = "/app/ @carol\n"
		s := newStage(t, f)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect("the status", s.status(n), "**needs approval**", "**not met**: one of these alternatives")
		s.expect("the checks", s.check("b"), "lockstep: action_required 1 project needs approval", "lockstep/net: action_required Needs approval")
		sha := s.repo.Enqueue("alice", n)
		s.settle()
		s.expect("the check of the group", s.group(sha), "completed action_required")
	}
}

// TestDecidedAgain holds that the check, the comment and the page follow what requirements are about, without a command:
// where the check is required, nobody could merge else.
func TestDecidedAgain(t *testing.T) {
	t.Parallel()
	passed := func(s *stage, name string) {
		s.repo.AddCheck("buildkite", github.Check{Name: name, SHA: s.repo.Head("b"), ExternalID: "x", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess, Title: "t", Summary: "s"})
	}
	onMerge := func(body string) githubtest.Files {
		f := requiring("apply", body)
		f["lockstep.hcl"] = strings.Replace(f["lockstep.hcl"], "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1)
		return f
	}
	talk := 0
	for _, c := range []struct {
		name, body string
		draft      bool
		before     func(s *stage, n int)
		after      func(s *stage, n int)
		again      int // decisions that the janitor has made again
		want       github.Conclusion
	}{
		{name: "ready", body: "  draft = false", draft: true, after: func(s *stage, n int) { s.repo.Ready("alice", n) }, want: github.ConcludedSuccess},
		{name: "draft", body: "  draft = false", after: func(s *stage, n int) { s.repo.Draft("alice", n) }, want: github.ConcludedActionRequired},
		{name: "label", body: "  labels = [\"go\"]", after: func(s *stage, n int) { s.repo.Label("bob", n, "go") }, want: github.ConcludedSuccess},
		{name: "hold", body: "  not_labels = [\"hold\"]", after: func(s *stage, n int) { s.repo.Label("bob", n, "hold") }, want: github.ConcludedActionRequired},
		{name: "label removed", body: "  not_labels = [\"hold\"]", before: func(s *stage, n int) { s.repo.Label("bob", n, "hold") },
			after: func(s *stage, n int) { s.repo.Unlabel("bob", n, "hold") }, want: github.ConcludedSuccess},
		{name: "resolved", body: "  resolved = true", before: func(s *stage, n int) { talk = s.repo.Discuss("bob", n) },
			after: func(s *stage, n int) { s.repo.Resolve("bob", n, talk) }, want: github.ConcludedSuccess},
		{name: "check", body: "  checks = [\"ci/*\"]", after: func(s *stage, n int) { passed(s, "ci/unit") }, want: github.ConcludedSuccess},
		{name: "status", body: "  checks = [\"ci\"]", after: func(s *stage, n int) { s.repo.SetStatus(s.repo.Head("b"), "ci", "success") }, want: github.ConcludedSuccess},
		{name: "required check", body: "  mergeable = true", before: func(s *stage, _ int) { s.repo.Protect("blocked", []githubtest.Required{{Name: "build"}}, nil) },
			after: func(s *stage, _ int) {
				s.repo.Protect("clean", []githubtest.Required{{Name: "build"}}, nil)
				passed(s, "build")
			}, want: github.ConcludedSuccess},
		{name: "another check", body: "  checks = [\"ci\"]\n  labels = [\"go\"]", after: func(s *stage, _ int) { passed(s, "docs") }, want: github.ConcludedActionRequired},
		{name: "settings", body: "  approvals = 1", after: func(s *stage, n int) {
			without, _, _ := strings.Cut(onMerge("")["lockstep.hcl"], "require ")
			s.repo.Push("bob", "main", "Lift", githubtest.Files{"lockstep.hcl": without})
		}, again: 1, want: github.ConcludedSuccess},
		{name: "nothing", body: "  approvals = 1", after: func(*stage, int) {}, want: github.ConcludedActionRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, onMerge(c.body))
			s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
			open := s.repo.OpenPull
			if c.draft {
				open = s.repo.OpenDraft
			}
			n := open("alice", "B", "b")
			if c.before != nil {
				c.before(s, n)
			}
			s.settle()
			was := s.checkOf("b", "lockstep").Conclusion
			c.after(s, n)
			s.settle()
			if c.again > 0 {
				s.round(reconcile.Found{Decisions: c.again})
			}
			if c.again > 0 || was == c.want {
				s.round(reconcile.Found{}) // not in a circle
			}
			got := s.checkOf("b", "lockstep").Conclusion
			if got != c.want {
				t.Errorf("the check was %s, and is %s, want %s:\n%s", was, got, c.want, s.check("b"))
			}
			if waits := strings.Contains(s.status(n), "**not met**"); waits == (got == github.ConcludedSuccess) {
				t.Errorf("the check is %s, and the status\n%s", got, s.status(n))
			}
		})
	}
}

// TestDecidedByTheClock holds that the janitor comes back when a freeze ends, and once an hour for what nobody is told of.
func TestDecidedByTheClock(t *testing.T) {
	t.Parallel()
	end := time.Now().UTC().Truncate(time.Minute).Add(30 * time.Minute)
	s := newStage(t, requiring("apply", "  freeze = [\"2001-01-01/"+end.Format("2006-01-02T15:04")+": x\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "**waiting** for the end of the freeze")
	w := s.watched(n)
	if w.Until.Before(end) || w.Until.After(end.Add(5*time.Minute)) || len(w.Reports) > 0 {
		t.Errorf("the freeze ends at %v, and the watch is %+v", end, w)
	}
	now := w.At.Add(59 * time.Minute)
	if now.After(end) {
		now = end.Add(-time.Minute)
	}
	s.roundAt(now, reconcile.Found{})
	s.roundAt(w.Until, reconcile.Found{Decisions: 1})
	s.roundAt(w.Until, reconcile.Found{Decisions: 1}) // the clock of whoever decides is not so far
	s.repo.Push("bob", "main", "Lift", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nrequire \"apply\" {\n  permission = \"admin\"\n}\n"})
	s.roundAt(now, reconcile.Found{Decisions: 1})
	w = s.watched(n)
	s.roundAt(w.At.Add(59*time.Minute), reconcile.Found{})
	s.roundAt(w.At.Add(time.Hour), reconcile.Found{Decisions: 1})
	s.repo.Close("alice", n)
	s.settle()
	if all, err := s.records.List(t.Context(), pipeline.WatchDir(s.ref(n).Repo.ID, s.repo.Head("b"))); err != nil || len(all) > 0 {
		t.Errorf("a closed pull request is watched: %v, %v", all, err)
	}
}

// watched is the watch over the head of a pull request.
func (s *stage) watched(number int) pipeline.Watch {
	s.t.Helper()
	all, err := s.records.List(s.t.Context(), pipeline.WatchDir(s.ref(number).Repo.ID, s.run(number).Spec.Head))
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%d watches, %v", len(all), err)
	}
	w, err := pipeline.DecodeWatch(all[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// TestContentGate holds that the plan in hand is looked at, whatever its record has.
func TestContentGate(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  max_changes = 1\n  no_destroy = [\"terraform_*\"]"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("too much", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "a plan with at most 1 change (this plan has 2)")
	s.repo.Push("bob", "main", "More", githubtest.Files{"lockstep.hcl": requiring("apply", "  no_destroy = [\"terraform_*\"]")["lockstep.hcl"]})
	s.expect("enough", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", n)
	s.settle()
	m := s.pull("alice", "c", githubtest.Files{"net/b.tf": githubtest.Deleted})
	s.expect("destroys", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "a plan that keeps all objects of `terraform_*` (this plan destroys or replaces `terraform_data`)")
}

// TestRiskGate holds that the base branch decides which objects keep data, and that the plan in hand is looked at.
// A pull request cannot take a risk from the facts: not by its own settings, nor by a plan from before the settings.
func TestRiskGate(t *testing.T) {
	t.Parallel()
	const gate = "  no_risk = [\"stateful-destroy\"]"
	with := func(stateful string) githubtest.Files {
		files := requiring("apply", gate)
		files["lockstep.hcl"] = "stateful = [" + stateful + "]\n" + files["lockstep.hcl"]
		return files
	}
	s := newStage(t, with(`"terraform_*"`))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("no risk", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", n)
	s.settle()
	own := with("")
	own["net/b.tf"] = githubtest.Deleted
	m := s.pull("alice", "c", own)
	s.expect("its own settings", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "a plan without the risks `stateful-destroy` (the plan has the risk `stateful-destroy`: `terraform_data.b`)")
	s.expect("the comment", s.status(m), "- **Risk** `stateful-destroy`: destroys an object of the type `terraform_data` (`terraform_data.b`)")
	s.repo.Close("alice", m)
	s.settle()
	k := s.pull("alice", "d", githubtest.Files{"net/b.tf": githubtest.Deleted})
	s.repo.Push("bob", "main", "Less", with(`"acme_*"`))
	s.expect("settings since the plan", s.say("alice", k, "lockstep apply"), "**Not applied** `net`", "Lockstep has not looked for risks with the present settings: comment `lockstep plan`")
	s.say("alice", k, "lockstep plan")
	s.expect("with a new plan", s.say("alice", k, "lockstep apply"), "**Applied** `net`: 0 added, 0 changed, 1 destroyed")
}

// TestReadersOfAProject holds that a plan that destroys something names the projects that read the outputs.
func TestReadersOfAProject(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf":  resource("a", "1") + resource("b", "1") + "output \"id\" {\n  value = 1\n}\n",
		"app/main.tf":  resource("c", "1") + "variable \"id\" {}\n",
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n  inputs = {\n    id = project.net.outputs.id\n  }\n}\n",
	})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("d", "1")})
	s.expect("created", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.repo.Merge("alice", n)
	s.settle()
	m := s.pull("alice", "c", githubtest.Files{"net/b.tf": githubtest.Deleted})
	s.expect("destroyed", s.status(m), "The project `app` reads the outputs of this one.")
}

// TestGitHubIsDown holds that a failure of GitHub opens nothing: what passes is tried again, and what
// stays is told.
func TestGitHubIsDown(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  by = [\"acme/sre\"]\n  resolved = true"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("a team that nobody can see", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**unknown**: a request by `acme/sre`", "GitHub shows no such team", "Lockstep could not check all requirements")
	s.hub.SetTeam("acme", "sre", "alice")
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/graphql") {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	s.expect("conversations that we may not read", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "**unknown**: all conversations resolved")
	s.fault = nil
	s.expect("all is well", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// lately is an engine before whose applies something happens.
type lately struct {
	jobs.Engine
	meanwhile func()
}

func (e lately) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	e.meanwhile()
	return e.Engine.Apply(ctx, j, plan, permit)
}

// TestRequiredOnceLocked holds that requirements are decided on again with the state locked, by facts that are read then.
func TestRequiredOnceLocked(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*stage, int){
		"a label":       func(s *stage, n int) { s.repo.Label("bob", n, "hold") },
		"a dismissal":   func(s *stage, n int) { s.repo.Dismiss("carol", n, "bob") },
		"a right":       func(s *stage, n int) { s.repo.Grant("bob", "read") },
		"a requirement": func(s *stage, _ int) { s.repo.Push("bob", "main", "More", requiring("apply", "  approvals = 2")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, requiring("apply", "  approvals = 1\n  not_labels = [\"hold\"]"))
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.repo.Review("bob", n, github.Approved, "")
			s.settle()
			s.pipeline.Engine = lately{s.pipeline.Engine, func() { meanwhile(s, n) }}
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", " (`lockstep.hcl` on the base branch)", "**not met**")
		})
	}
}

// TestContentOnceLocked holds that the content of the plan counts, and not what its record has: whoever may
// write records cannot hide a destruction.
func TestContentOnceLocked(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  max_destroys = 0"))
	s.expect("the first apply", s.say("alice", s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")}), "lockstep apply"), "**Applied** `net`")
	s.repo.Merge("alice", 1)
	s.settle()
	n := s.pull("alice", "c", githubtest.Files{"net/b.tf": githubtest.Deleted})
	now := s.run(n)
	now.Plan.Content = &runs.Content{}
	robber{stage: s}.writeRun(now)
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "a plan that destroys at most 0 objects (this plan destroys 1)")
}

// TestOverride is a night with nobody to approve: who the settings name lifts the requirement, for the
// plan that is shown, and by a comment that stays as it is.
func TestOverride(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 2\n  override = [\"acme/leads\"]"))
	s.hub.SetTeam("acme", "leads", "zoe")
	s.repo.Grant("zoe", "write")
	const because = "lockstep override --reason \"the site is down\""
	early := s.repo.Comment("zoe", func() int {
		s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
		return s.repo.OpenPull("alice", "B", "b")
	}(), because)
	n := 1
	s.settle()
	s.expect("before there is a plan", s.answerTo(n, early), "**Not overridden**")
	s.expect("an override that was written before the plan", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "2 approvals")
	s.expect("without a reason", s.say("zoe", n, "lockstep override"), "**not understood**")
	s.expect("by somebody else", s.say("bob", n, because), "**Not overridden** `net`", "does not let `bob` override any requirement")
	s.expect("by a stranger", s.say("mallory", n, because), "**Not overridden**", "needs `write`")
	s.expect("of another project", s.say("zoe", n, because+" -p other"), "**Not overridden**")
	s.expect("so it is missing", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "2 approvals")
	s.repo.Review("zoe", n, github.Commented, because)
	s.repo.CommentOn("zoe", n, "net/b.tf", because)
	s.settle()
	said := 0
	for _, c := range s.repo.Comments(n) {
		if strings.Contains(c.Body, "**Not overridden**") && strings.Contains(c.Body, "Write the override as a new comment in the conversation.") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("a review and a line have %d answers that tell where an override counts", said)
	}
	id := s.repo.Comment("zoe", n, because)
	s.settle()
	s.expect("by whom the settings name", s.answerTo(n, id), "**Requirements overridden** for the plan of `net` by `zoe`: `the site is down`.")
	s.expect("the status", s.status(n), "**overridden** by `zoe`, `the site is down`", "ready to apply")
	s.repo.EditComment("bob", id, because+" -w default")
	s.expect("a comment that was edited", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "2 approvals")
	s.expect("again", s.say("zoe", n, because), "**Requirements overridden**")
	s.repo.Push("alice", "b", "More", githubtest.Files{"net/b.tf": resource("b", "2")})
	s.settle()
	s.expect("a plan that nobody has lifted anything for", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "2 approvals")
	s.expect("once more", s.say("zoe", n, because), "**Requirements overridden**")
	s.repo.Grant("zoe", "read")
	s.expect("by somebody who may not write any more", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "2 approvals")
	s.repo.Grant("zoe", "write")
	s.expect("all of it", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	trace := []string{"were **overridden** for this apply", "**overridden** by `zoe`, `the site is down`: the requirement at `lockstep.hcl:4`", "2 approvals of the planned commit"}
	s.expect("the status of the applied project", s.status(n), trace...)
	s.expect("its check", s.checkOf("b", "lockstep/net").Summary, trace...)
	s.expect("its page", s.onPage(n), trace...)
	s.repo.Push("alice", "b", "Still more", githubtest.Files{"net/b.tf": resource("b", "3")})
	s.settle()
	s.without("the next plan", s.status(n)+s.onPage(n), "overridden", "lifted")
}

// TestOverrideThatIsGone holds that an override whose comment is edited or deleted lifts nothing any more in status and check either.
func TestOverrideThatIsGone(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(s *stage, id int64){
		"edited":  func(s *stage, id int64) { s.repo.EditComment("bob", id, "nothing") },
		"deleted": func(s *stage, id int64) { s.repo.DeleteComment("bob", id) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := onMerge()
			f["lockstep.hcl"] += "require \"apply\" {\n  labels = [\"go\"]\n  override = [\"acme/leads\"]\n}\n"
			s := newStage(t, f)
			s.hub.SetTeam("acme", "leads", "zoe")
			s.repo.Grant("zoe", "write")
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			id := s.repo.Comment("zoe", n, "lockstep override --reason \"fire\"")
			s.settle()
			s.expect("the status", s.status(n), "**overridden** by `zoe`")
			s.expect("the check", s.check("b"), "success")
			end(s, id)
			s.settle()
			s.without("the status then", s.status(n), "**lifted**")
			s.expect("the status then", s.status(n), "**not met**")
			s.without("the checks then", s.check("b")+s.pages("b"), "success", "lifted")
		})
	}
}

// TestNoTraceOfAnOverride holds that an apply whose requirements were fulfilled in the end tells of no override.
func TestNoTraceOfAnOverride(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 1\n  override = [\"zoe\"]"))
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("an override", s.say("zoe", n, "lockstep override --reason \"known\""), "**Requirements overridden**")
	s.repo.Review("bob", n, github.Approved, "")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.without("the applied project", s.status(n)+s.onPage(n)+s.pages("b"), "overridden", "lifted")
}

// TestRequiredOnMerge holds that the check of the head is no invitation to a merge that cannot be applied,
// and that such a merge applies nothing.
func TestRequiredOnMerge(t *testing.T) {
	t.Parallel()
	files := requiring("apply", "  approvals = 1")
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "dir = \"net\"", "dir = \"net\"\n  apply = \"merge\"", 1)
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	head := func() string {
		for _, c := range s.repo.Checks(s.repo.Head("b")) {
			if c.Name == "lockstep" {
				return string(c.Conclusion) + " " + c.Title
			}
		}
		return ""
	}
	s.expect("the check before the review", head(), "action_required 1 project needs approval")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("and after it", head(), "success")
	s.repo.Dismiss("carol", n, "bob")
	s.settle()
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("a merge without", s.answer(n, "merge"), "**Not applied** `net`", "an approval of the planned commit", "Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then.")
}

// TestPlanOverrideApply holds that commands of one comment are answered in words that were typed.
func TestPlanOverrideApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 2\n  override = [\"acme/leads\"]"))
	s.hub.SetTeam("acme", "leads", "zoe")
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	got := s.say("zoe", n, "lockstep plan\nlockstep override --reason \"down\"\nlockstep apply")
	s.expect("the override", got, "**Not overridden** `net`", "The plan is not ready yet.", "comment `lockstep override`", "comment `lockstep apply`.")
	if strings.Contains(got, "There is no plan") {
		t.Errorf("there is one:\n%s", got)
	}
}
