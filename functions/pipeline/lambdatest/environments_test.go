//go:build linux

package lambdatest_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// twoAccounts has roles in two accounts that trust the deployment for a repository, with external
// IDs of their own.
func (r *road) twoAccounts() string {
	text := ""
	for _, x := range [][2]string{{"production", "222222222222"}, {"staging", "333333333333"}} {
		name, account := x[0], x[1]
		plan := r.account.AddRoleOf(account, "lockstep-plan", lambdatest.Trust{ExternalID: "id-" + name, Repository: "acme/infra"})
		apply := r.account.AddRoleOf(account, "lockstep-apply", lambdatest.Trust{ExternalID: "id-" + name, Repository: "acme/infra"})
		secret, word := "arn:aws:secretsmanager:eu-west-1:"+account+":secret:token", "arn:aws:ssm:eu-west-1:"+account+":parameter/word"
		r.account.KeepFor(secret, horse+name, plan, apply)
		r.account.KeepFor(word, horse+"word", plan, apply)
		text += fmt.Sprintf("environment %q {\n  plan_role   = %q\n  apply_role  = %q\n  external_id = %q\n  variables   = { where = %[1]q }\n", name, plan, apply, "id-"+name)
		text += fmt.Sprintf("  secrets = {\n    TF_VAR_token = %q\n    LAB_WORD = %q\n  }\n}\n", secret, word)
	}
	return text
}

// horse begins the secrets of environments.
const horse = "correct-horse-battery-staple-"

// where is a configuration with a variable that lockstep.hcl sets, and a partial backend.
const where = "terraform {\n  backend \"s3\" {\n  }\n}\nvariable \"where\" {\n  default = \"nowhere\"\n}\noutput \"where\" {\n  value = \"${var.where} ${nonsensitive(length(var.token))}\"\n}\nvariable \"token\" {\n  sensitive = true\n  default = \"none\"\n}\n"

func declared(name, environment string) string {
	return fmt.Sprintf("project %q {\n  dir = %[1]q\n%s  backend_config = {\n    bucket         = \"states\"\n    key            = \"%[1]s/partial.tfstate\"\n    region         = \"us-east-1\"\n    dynamodb_table = \"locks\"\n    use_path_style = true\n  }\n}\n", name, environment)
}

// TestEnvironments plans and applies three projects, in two accounts and in the deployment's own:
// each has the roles, the variables and the state of its environment, and no pull request has others.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	lock, mirrored := lab(t)
	r := newRoad(t, githubtest.Files{}, mirrored, func(o *lambdatest.StackOptions) {
		o.Parameters["PlanRolePattern"], o.Parameters["ApplyRolePattern"] = "arn:aws:iam::*:role/lockstep-plan", "arn:aws:iam::*:role/lockstep-apply"
	})
	accounts := r.twoAccounts()
	const production, staging = "  environment = \"production\"\n", "  environment = \"staging\"\n"
	settings := accounts + declared("prod", production) + declared("stage", staging) + declared("own", "")
	base := githubtest.Files{"lockstep.hcl": settings}
	for _, name := range []string{"prod", "stage", "own"} {
		base[name+"/main.tf"], base[name+"/.terraform.lock.hcl"] = where, lock
	}
	r.repo.Push("alice", "main", "settings", base)
	changes := githubtest.Files{}
	for _, name := range []string{"prod", "stage", "own"} {
		changes[name+"/thing.tf"] = labThing(name, "")
	}
	n := r.pull("things", changes)
	r.expect("the plans", r.status(n), `where = "production 39"`, `where = "staging 36"`, `where = "nowhere 4"`)
	if r.nowhere(horse); len(r.artifacts()) == 0 {
		t.Error("there are no artifacts to search")
	}
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `own`")
	r.expect("the status", r.status(n), "3 added")
	if got, want := r.roles(), "own apply only we know it, own plan only we know it, prod 222222222222:role/lockstep-apply id-production, prod 222222222222:role/lockstep-plan id-production, stage 333333333333:role/lockstep-apply id-staging, stage 333333333333:role/lockstep-plan id-staging"; got != want {
		t.Errorf("roles were assumed: %s\nwant %s", got, want)
	}
	for _, name := range []string{"prod", "stage", "own"} {
		if got := r.state(name + "/partial.tfstate"); !strings.Contains(got, "lab_thing") {
			t.Errorf("the state of %s: %s", name, got)
		}
	}

	r.nowhere(horse)
	before := len(r.account.Assumed())
	// A role of another account, an environment of another project, and one that is new.
	evil := r.account.AddRoleOf("444444444444", "lockstep-plan", lambdatest.Trust{})
	for branch, test := range map[string]struct{ settings, want string }{
		"swapped": {accounts + declared("prod", staging) + declared("stage", staging) + declared("own", ""), `the environment "staging" (lockstep.hcl`},
		"new": {settings[:len(settings)-len(declared("own", ""))] + fmt.Sprintf("environment \"evil\" {\n  plan_role  = %q\n  apply_role = %[1]q\n}\n", evil) + declared("own", "  environment = \"evil\"\n"),
			`the environment "evil" (lockstep.hcl`},
	} {
		r.expect(branch, r.status(r.pull(branch, githubtest.Files{"lockstep.hcl": test.settings})), test.want, "the base branch gives it", "lockstep.hcl:")
	}
	if got := r.account.Assumed()[before:]; slices.ContainsFunc(got, func(a lambdatest.AssumedRole) bool { return a.Tags["project"] != "" }) {
		t.Errorf("pull requests got roles: %v", got)
	}
	// A changed role counts once it is merged, and changes no plan before.
	changed := r.pull("changed", githubtest.Files{"lockstep.hcl": strings.Replace(settings, "222222222222:role/lockstep-plan", "444444444444:role/lockstep-plan", 1), "prod/thing.tf": labThing("prod", "") + labThing2})
	r.expect("the plan", r.status(changed), "2 to add")
	if got := r.account.Assumed(); got[len(got)-1].Role != "arn:aws:iam::222222222222:role/lockstep-plan" {
		t.Errorf("the plan has the role %s", got[len(got)-1].Role)
	}
	r.repo.Push("alice", "main", "settings", githubtest.Files{"lockstep.hcl": strings.Replace(settings, "id-production", "id-of-another", 1)})
	again := r.pull("again", githubtest.Files{"prod/thing.tf": labThing("prod", "") + labThing2})
	r.expect("a role that does not trust", strings.Join(strings.Fields(r.status(again)), " "), "assume the role arn:aws:iam::222222222222:role/lockstep-plan", "trust policy", "AccessDenied")
}

const labThing2 = "resource \"lab_thing\" \"more\" {\n  name = \"more\"\n}\n"

// nowhere holds that a text is in no log, on no page of GitHub, in no artifact, record or state and in
// no file that a function has left.
func (r *road) nowhere(text string) {
	r.t.Helper()
	look := func(where string, data []byte) {
		if bytes.Contains(data, []byte(text)) {
			r.t.Errorf("%q is in %s", text, where)
		}
		if archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
			for _, f := range archive.File {
				if inner, err := f.Open(); err == nil {
					data, _ := io.ReadAll(inner)
					if bytes.Contains(data, []byte(text)) {
						r.t.Errorf("%q is in %s: %s", text, where, f.Name)
					}
				}
			}
		}
	}
	look("the log", []byte(r.log.String()))
	for _, e := range r.hub.Edits() {
		look("an edit on GitHub", []byte(e.Text))
	}
	for _, key := range r.artifacts() {
		look("the artifact "+key, []byte(r.object(r.stack.Ref("Artifacts"), key)))
	}
	for _, name := range []string{"prod", "stage", "own"} {
		look("the state of "+name, []byte(r.state(name+"/partial.tfstate")))
	}
	for _, f := range r.stack.Functions {
		for _, dir := range f.Disks() {
			filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && d.Name() != "terraform-provider-lab" {
					data, _ := os.ReadFile(path)
					look("the file "+path, data)
				}
				return nil
			})
		}
	}
}

// roles are those that were assumed for projects, each once and sorted, with the external IDs.
func (r *road) roles() string {
	var out []string
	for _, a := range r.account.Assumed() {
		role := strings.TrimPrefix(strings.TrimPrefix(a.Role, "arn:aws:iam::"), lambdatest.AccountID+":role/")
		out = append(out, a.Tags["project"]+" "+role+" "+a.ExternalID)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}
