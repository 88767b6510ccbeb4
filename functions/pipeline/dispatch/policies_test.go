package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/policytrial"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// noPublic is a policy against an input, with a warning about another one.
const noPublic = `package main

deny contains msg if {
	some r in input.resource_changes
	r.change.after.input == "public"
	msg := sprintf("%s is public", [r.address])
}

warn contains msg if {
	some r in input.resource_changes
	r.change.after.input == "open"
	msg := sprintf("%s is open", [r.address])
}
`

// judgedBy are files with one project, a policy block with a body, and policies.
func judgedBy(body, policy string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf":     resource("a", "1"),
		"lockstep.hcl":    "project \"net\" {\n  dir = \"net\"\n}\npolicy \"network\" {\n" + body + "\n}\n",
		"policy/net.rego": policy,
	}
}

// TestPolicies is a team with policies: the verdict is shown with the plan, a denial holds the apply, and a
// policy that has changed since judges the plan first.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := newStage(t, judgedBy("", noPublic))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "public"), "net/c.tf": resource("c", "open")})
	const denied = "**denied** by policy `network`"
	s.expect("the status", s.status(n), denied, "    - `terraform_data.b is public`\n    - warnings: `terraform_data.c is open`\n")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", denied, "      - `terraform_data.b is public`\n      - warnings: `terraform_data.c is open`\n")
	s.repo.Push("alice", "b", "Close", githubtest.Files{"net/b.tf": resource("b", "private")})
	s.settle()
	s.expect("the status then", s.status(n), "ready to apply", "met: a plan that passes the policy `network` (warnings: `terraform_data.c is open`)")
	s.repo.Push("bob", "main", "Stricter", githubtest.Files{"policy/net.rego": strings.ReplaceAll(noPublic, "warn contains", "deny contains")})
	s.expect("after the policy was tightened", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "the policy has changed since the plan: comment `lockstep plan`")
	s.say("alice", n, "lockstep plan")
	s.expect("planned again", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`terraform_data.c is open`")
	s.repo.Push("alice", "b", "Close more", githubtest.Files{"net/c.tf": resource("c", "shut")})
	s.settle()
	s.expect("all is well", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 3 added")
}

// TestPoliciesOfTheBase holds that a pull request which removes a policy, or its directory, is judged by it.
func TestPoliciesOfTheBase(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]githubtest.Files{
		"the block":        {"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"},
		"the file":         {"policy/net.rego": "package main\n\ndeny contains \"never\" if false\n"},
		"the directory":    {"policy/net.rego": githubtest.Deleted, "other/net.rego": noPublic},
		"the project":      {"lockstep.hcl": "project \"other\" {\n  dir = \"net\"\n}\n"},
		"the namespace":    {"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\npolicy \"network\" {\n  namespaces = [\"other\"]\n}\n"},
		"by an exception":  {"policy/x.rego": "package main\n\nexception contains [\"\"] if true\n"},
		"by its data file": {"policy/data.json": "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, judgedBy("", noPublic))
			changes["net/b.tf"] = resource("b", "public")
			n := s.pull("alice", "b", changes)
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "`terraform_data.b is public`")
		})
	}
}

// TestPoliciesThatDecideNothing holds that nothing is applied by policies which cannot be relied upon.
func TestPoliciesThatDecideNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, policy, want string }{
		"a mistake":      {"", "package main\n\ndeny contains x if {\n", "`net.rego:4: unexpected eof token`"},
		"no rules":       {"", "package other\n\ndeny contains \"x\" if false\n", "the package main has no rule deny"},
		"no directory":   {"  dir = \"rules\"", noPublic, "the base branch has no directory rules"},
		"no data":        {"  data = [\"lists\"]", noPublic, "the base branch has no directory lists"},
		"another":        {"  rego = \"v0\"", noPublic, "net.rego:4: unexpected identifier token"},
		"a division":     {"", "package main\n\ndeny contains \"x\" if {\n\t1 / count(input.nothing) > 1\n\tcount(input.resource_changes) / 0 > 1\n}\ndeny contains \"y\" if count(input.resource_changes) / 0 > 1\n", "divide by zero"},
		"a wrong result": {"", "package main\n\ndeny := true\n", "net.rego:3: deny is true instead of a set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, judgedBy(c.body, c.policy))
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the status", s.status(n), "**blocked** by policy `network`", c.want, "the policy is broken and blocks the apply: fix it on the base branch")
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", c.want)
			s.repo.Push("bob", "main", "Mend", githubtest.Files{"policy/net.rego": noPublic, "lockstep.hcl": judgedBy("", noPublic)["lockstep.hcl"]})
			s.say("alice", n, "lockstep plan")
			s.expect("once it is mended", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
		})
	}
}

// TestPolicyData holds that data is read from each of its directories on, as conftest does with its option, here and in another
// repository; that what is in the policies' own directory is data from that one on; and that other data wants another judgement.
func TestPolicyData(t *testing.T) {
	t.Parallel()
	const policy = "package main\n\ndeny contains msg if {\n\tsome r in input.resource_changes\n\tr.change.after.input in data.shut\n\tmsg := sprintf(\"%s %s\", [data.words.is.shut, r.address])\n}\n"
	files := githubtest.Files{
		"policy/net.rego": policy, "policy/words/is.json": `{"is": {"shut": "closed:"}}`, "policy/data/lists.yaml": "shut: [public]\n", "policy/open/lists.yaml": "shut: [nobody]\n", "lists/more/ports.json": `{"nobody": "reads it"}`,
		"lists/no.rego": "package main\n\ndeny contains \"no\" if true\n",
	}
	for _, elsewhere := range []bool{false, true} {
		body := "  dir = \"policy\"\n  data = [\"lists\", \"policy/data\"]"
		if elsewhere {
			body += "\n  repository = \"acme/policies\""
		}
		s := newStage(t, judgedBy(body, policy))
		home := s.repo
		if elsewhere {
			home = s.hub.AddRepository("acme", "policies", githubtest.Files{"README.md": "here"})
		}
		home.Push("bob", "main", "Policies", files)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "public")})
		s.expect("the status", s.status(n), "**denied** by policy `network`: `closed: terraform_data.b`")
		s.repo.Push("bob", "main", "Others", judgedBy(strings.Replace(body, "policy/data", "policy/open", 1), policy))
		s.say("alice", n, "lockstep plan")
		s.expect("by other data", s.status(n), "met: a plan that passes the policy `network`")
		s.repo.Push("bob", "main", "These", judgedBy(body, policy))
		home.Push("bob", "main", "Open", githubtest.Files{"policy/data/lists.yaml": "shut: [secret]\n"})
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "the policy has changed since the plan: comment `lockstep plan`")
		s.say("alice", n, "lockstep plan")
		s.expect("planned again", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	}
}

// TestPolicyMessagesHaveNoSecrets holds that a message which quotes a sensitive value shows it to nobody.
func TestPolicyMessagesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{
		"a denial":  "package main\n\ndeny contains msg if {\n\tmsg := sprintf(\"it is %s\", [input.variables.key.value])\n}\n",
		"a warning": "package main\n\nwarn contains msg if {\n\tmsg := sprintf(\"it is %s\", [input.variables.key.value])\n}\n",
		"a mistake": "package main\n\ndeny contains msg if {\n\tmsg := to_number(input.variables.key.value)\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, judgedBy("", policy))
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": "variable \"key\" {\n  default   = \"hunter-2-hunter\"\n  sensitive = true\n}\n" + resource("b", "1")})
			status := s.status(n)
			s.expect("the status", status, "policy `network`", "(sensitive value)")
			if all := status + s.say("alice", n, "lockstep apply"); strings.Contains(all, "hunter-2") {
				t.Error(all)
			}
		})
	}
}

// TestJudgedOnceLocked holds that the plan in hand is judged again with the state locked, and not what its record
// has: whoever may write records cannot hide a denial.
func TestJudgedOnceLocked(t *testing.T) {
	t.Parallel()
	s := newStage(t, judgedBy("", noPublic))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "public")})
	now := s.run(n)
	if len(now.Plan.Content.Judgements) != 1 {
		t.Fatal(now.Plan.Content)
	}
	now.Plan.Content = &runs.Content{Judgements: []runs.Judgement{{Name: "network", ID: now.Plan.Content.Judgements[0].ID}}}
	robber{stage: s}.writeRun(now)
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`terraform_data.b is public`")
}

// TestPolicyOverride is a policy that its owners may lift.
func TestPolicyOverride(t *testing.T) {
	t.Parallel()
	s := newStage(t, judgedBy("  override = [\"acme/security\"]", noPublic))
	s.hub.SetTeam("acme", "security", "zoe")
	s.repo.Grant("zoe", "write")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "public")})
	const because = "lockstep override --reason \"a test page\""
	s.expect("by its author", s.say("alice", n, because), "**Not overridden** `net`")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`terraform_data.b is public`")
	s.expect("by security", s.say("zoe", n, because), "**Requirements overridden** for the plan of `net` by `zoe`: `a test page`.")
	s.expect("its apply then", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestPoliciesElsewhere is a team whose policies are in a repository of their own: its branch counts as it is now, for all that the
// base branch names it, and whatever a pull request names.
func TestPoliciesElsewhere(t *testing.T) {
	t.Parallel()
	files := judgedBy("  repository = \"acme/policies\"\n  dir = \"rego\"", "package main\n")
	s := newStage(t, files)
	rules := s.hub.AddRepository("acme", "policies", githubtest.Files{"rego/net.rego": noPublic, "lax/net.rego": "package main\n"})
	s.hub.AddRepository("acme", "lax", githubtest.Files{"rego/net.rego": "package main\n"})
	n := s.pull("alice", "b", githubtest.Files{
		"net/b.tf": resource("b", "open"), "net/c.tf": resource("c", "2"),
		"lockstep.hcl": strings.Replace(files["lockstep.hcl"], "acme/policies", "acme/lax", 1),
	})
	s.expect("the status", s.status(n), "met: a plan that passes the policy `network` (warnings: `terraform_data.b is open`)")
	rules.Push("carol", "main", "Stricter", githubtest.Files{"rego/net.rego": strings.ReplaceAll(noPublic, "warn contains", "deny contains")})
	s.expect("after the policy was tightened", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "the policy has changed since the plan: comment `lockstep plan`")
	s.say("alice", n, "lockstep plan")
	s.expect("planned again", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "`terraform_data.b is open`")
	s.repo.Push("alice", "b", "Shut", githubtest.Files{"net/b.tf": resource("b", "shut")})
	s.settle()
	s.expect("all is well", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 3 added")
}

// TestPoliciesElsewhereUnread holds that nothing is applied by policies that cannot be read, and that no repository of another account
// is asked for them.
func TestPoliciesElsewhereUnread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"no repository":      {`repository = "acme/none"`, "there is no repository acme/none with the branch or the commit main, or the App is not installed on it"},
		"no branch":          {"repository = \"acme/policies\"\n  ref = \"gone\"", "with the branch or the commit gone"},
		"no commit":          {"repository = \"acme/policies\"\n  ref = \"" + strings.Repeat("a", 40) + "\"", "with the branch or the commit aaaaaaaa"},
		"no directory":       {"repository = \"acme/policies\"\n  dir = \"rules\"", "has no directory rules"},
		"of another account": {`repository = "evil/policies"`, "policies come from repositories of acme only, and evil/policies is none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, judgedBy("  "+c.body, noPublic))
			for _, owner := range []string{"acme", "evil"} {
				s.hub.AddRepository(owner, "policies", githubtest.Files{"policy/net.rego": noPublic})
			}
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", c.want)
		})
	}
}

// TestPoliciesBrokenByThePullRequest holds that a pull request which breaks policies is told so before its merge, as is one with
// mistakes in its settings, whether it changes a project or not; and that others are not.
func TestPoliciesBrokenByThePullRequest(t *testing.T) {
	t.Parallel()
	const with, halved = "project \"net\" {\n  dir = \"net\"\n}\npolicy \"network\" {\n}\n", "package main\n\ndeny contains x if {\n"
	const decide = "Failed: broken policies"
	for name, c := range map[string]struct {
		files githubtest.Files
		want  []string // none: nothing is wrong
	}{
		"a mistake":            {githubtest.Files{"policy/net.rego": halved}, []string{decide, "- `network`, in `policy`: `net.rego:4: unexpected eof token`"}},
		"a file with one":      {githubtest.Files{"policy/more/b.rego": halved}, []string{"`more/b.rego:4: unexpected eof token`"}},
		"data":                 {githubtest.Files{"policy/x.json": "{"}, []string{decide, "x.json"}},
		"no directory":         {githubtest.Files{"lockstep.hcl": with + "policy \"new\" {\n  dir = \"rules\"\n}\n"}, []string{"- `new`, in `rules`: `the repository has no directory rules`"}},
		"its directory leaves": {githubtest.Files{"policy/net.rego": githubtest.Deleted}, []string{"- `network`, in `policy`: `the repository has no directory policy`"}},
		"another version":      {githubtest.Files{"lockstep.hcl": strings.Replace(with, "{\n}", "{\n  rego = \"v0\"\n}", 1)}, []string{"unexpected identifier token"}},
		"tests alone":          {githubtest.Files{"policy/net_test.rego": "package"}, nil},
		"documents":            {githubtest.Files{"README.md": "words"}, nil},
		"other settings":       {githubtest.Files{"lockstep.hcl": with + "automerge {\n}\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, judgedBy("", noPublic))
			s.pipeline.TryPolicies = policytrial.Changed
			n := s.pull("alice", "b", c.files)
			if c.want == nil {
				s.headIs("the check", "b", "success No project is affected")
				return
			}
			s.headIs("the check", "b", "failure Failed: broken policies")
			s.expect("its page", s.checkOf("b", "lockstep").Summary, c.want[len(c.want)-1], "Fix them before you merge.")
			s.expect("the status", s.status(n), c.want...)
			s.lacks("its page", s.checkOf("b", "lockstep").Summary, "nothing to plan")

			s.repo.Push("alice", "b", "With a project", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.settle()
			s.headIs("with a plan", "b", "failure Failed: broken policies")
			s.expect("with a plan", s.status(n), c.want[len(c.want)-1], "ready to apply")
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
			s.headIs("applied", "b", "failure Failed: broken policies")

			files := judgedBy("", noPublic)
			s.repo.Push("alice", "b", "Mend", githubtest.Files{
				"lockstep.hcl": files["lockstep.hcl"], "policy/net.rego": noPublic, "policy/x.json": "{}", "policy/x.rego": "package main\n", "policy/more/b.rego": "package main\n",
			})
			s.settle()
			s.headIs("mended", "b", "success 1 project up to date")
			s.without("mended", s.status(n), "decide nothing")
		})
	}

	s := newStage(t, judgedBy("  dir = \"rules\"", noPublic)) // the base branch's own mistake
	s.pipeline.TryPolicies = policytrial.Changed
	s.pull("alice", "b", githubtest.Files{"lockstep.hcl": judgedBy("  dir = \"rules\"", noPublic)["lockstep.hcl"] + "automerge {\n}\n"})
	s.headIs("a mistake of others", "b", "success No project is affected")
}

// TestPoliciesThatTakeTooMuch holds that policies which cannot be tried are told of, without our secrets, and that a pull request which
// changes none has none tried.
func TestPoliciesThatTakeTooMuch(t *testing.T) {
	t.Parallel()
	s := newStage(t, judgedBy("", noPublic))
	tried := 0
	s.pipeline.Secrets = []github.Secret{github.NewSecret("hunter2hunter2")}
	s.pipeline.TryPolicies = func(context.Context, string, jobs.PolicyTrial) ([]jobs.TriedPolicies, error) {
		tried++
		return nil, &jobs.DeathError{What: "Trying the policies", Why: "It took more than 1 GiB of memory, hunter2hunter2."}
	}
	n := s.pull("alice", "b", githubtest.Files{"policy/net.rego": "package main\n"})
	s.headIs("the check", "b", "failure Failed: broken policies")
	s.expect("the status", s.status(n), "**Policies not tested**", "**Interrupted: Trying the policies.** It took more than 1 GiB of memory")
	look, err := s.pipeline.Ledger().LastLook(t.Context(), s.ref(n)) // which the page of serve shows
	if err != nil {
		t.Fatal(err)
	}
	s.without("the status", s.status(n)+s.pages("b")+look.Policies, "hunter2")
	s.pull("alice", "c", githubtest.Files{"policies/net.rego": "package main\n", "net/b.tf": resource("b", "1")})
	if s.headIs("another one", "c", "neutral 1 project ready to apply"); tried != 1 {
		t.Errorf("policies are tried %d times", tried)
	}
}
