package environments

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// parsed parses the one block of a text, and returns it with its errors, a line each.
func parsed(t *testing.T, name, body string) (Environment, string) {
	t.Helper()
	f, ds := parsing.Config([]byte(fmt.Sprintf("environment %q {\n%s\n}\n", name, body)), "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	content, ds := grammar.Contents("lockstep.hcl", f.Body)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	e, ds := Parse(content.Blocks[0])
	var lines []string
	for _, d := range ds {
		lines = append(lines, fmt.Sprintf("%d: %s: %s", d.Subject.Start.Line, d.Summary, d.Detail))
	}
	return e, strings.Join(lines, "\n")
}

const roles = "plan_role = \"arn:aws:iam::123456789012:role/p\"\napply_role = \"arn:aws:iam::123456789012:role/x/a\"\n"

// TestParseRefuses is a table of mistakes: each has its line and the remedy, and leaves nothing that
// could be granted.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"plan_rol = \"x\"": "2: Unsupported argument: An argument named \"plan_rol\" is not expected here. Did you mean \"plan_role\"? An environment block can have plan_role, apply_role,",
		"plan_role = \"arn:aws:iam::123456789012:role/p\"":     "1: One role is missing: An environment needs both plan_role and apply_role, or neither",
		"apply_role = \"arn:aws:iam::123456789012:role/p\"":    "1: One role is missing",
		"plan_role = \"admin\"\napply_role = \"admin\"":        "3: Invalid value: The argument \"apply_role\" must be the ARN of a role",
		"plan_role = \"arn:aws:iam::123456789012:user/x\"":     "2: Invalid value: The argument \"plan_role\" must be the ARN of a role",
		"plan_role = \"arn:aws:iam::123456789012:role/x y\"":   "2: Invalid value",
		"plan_role = \"arn:aws:iam::123456789012:role/x\\ny\"": "2: Invalid value",
		"plan_role = null":                         "2: Invalid value: The argument \"plan_role\" must be a text, not null.",
		"plan_role = 1":                            "2: Invalid value: The argument \"plan_role\" must be a text.",
		"plan_role = var.x":                        "2: Variables not allowed",
		"external_id = \"abc\"":                    "2: External ID without a role",
		roles + "external_id = \"a b\"":            "4: Invalid value: The argument \"external_id\" must be",
		roles + "external_id = \"\"":               "4: Invalid value",
		"deployment = \"OU (a)\"":                  "2: Invalid value: The argument \"deployment\" must be the name of a deployment",
		"region = \"Frankfurt\"":                   "2: Invalid value: The argument \"region\" must be the name of a region",
		"region = \"us-east-1.evil.com\"":          "2: Invalid value",
		"variables = [1]":                          "2: Invalid value: The argument \"variables\" must be values by names: { NAME = ... }.",
		"variables = { a = f(1) }":                 "2: Function calls not allowed",
		"env = { A = 1 }":                          "2: Invalid value: The argument \"env\" must be texts by names",
		"env = { A = null }":                       "2: Invalid value",
		"env = {\n  \"A=B\" = \"x\"\n}":            "3: Invalid name of an environment variable: The name \"A=B\"",
		"env = {\n  B = \"x\"\n  \"1\" = \"x\"\n}": "4: Invalid name of an environment variable",
		"env = { TF_VAR_x = \"1\" }":               "2: Variable in env: Write the value into variables = { x = ... }, or a secret value into secrets.",
		"env = { AWS_SECRET_ACCESS_KEY = \"x\" }":  "2: Credentials in env",
		"env = { aws_access_key_id = \"x\" }":      "2: Credentials in env",
		"env = { A = \"x\\ny\" }":                  "2: Invalid value: The value of A contains control characters.",
		"secrets = { A = \"arn:aws:secretsmanager:us-east-1:123456789012:secret:x\" }":                      "1: Secrets without a role",
		roles + "secrets = { TF_VAR_x = \"hunter2hunter2\" }":                                               "4: Invalid name of a secret: The secret TF_VAR_x must be the ARN of a secret in Secrets Manager",
		roles + "secrets = { A = \"arn:aws:s3:::bucket\" }":                                                 "4: Invalid name of a secret",
		roles + "secrets = { A = \"arn:aws:ssm:us-east-1:123456789012:document/x\" }":                       "4: Invalid name of a secret",
		roles + "secrets = { AWS_SESSION_TOKEN = \"arn:aws:ssm:us-east-1:123456789012:parameter/x\" }":      "4: Credentials in secrets",
		roles + "env = { A = \"x\" }\nsecrets = { A = \"arn:aws:ssm:us-east-1:123456789012:parameter/x\" }": "5: Two values of one variable",
		roles + "secrets = { \"a-b\" = \"arn:aws:ssm:us-east-1:123456789012:parameter/x\" }":                "4: Invalid name of an environment variable",
		"runner = \"lambda\"":                    "2: Invalid value: The argument \"runner\" can be \"codebuild\" only.",
		"runner = \"codebuild\"\nregion = \"x\"": "3: Invalid value",
		"image = \"x@sha256:1\"":                 "2: Image without builds: Only builds have an image. Add runner = \"codebuild\"",
		"runner = \"codebuild\"\nimage = \"123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools:v1\"":                                      "3: Image without a digest: A tag can name another image tomorrow.",
		"runner = \"codebuild\"\nimage = \"docker.io/tools@sha256:" + strings.Repeat("a1", 32) + "\"":                                       "3: Invalid value: The argument \"image\" must be an image in ECR with its digest",
		"runner = \"codebuild\"\nimage = \"123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools@sha256:" + strings.Repeat("a1", 31) + "\"": "3: Invalid value",
		"branches = []":                                       "2: No branches: The list is empty",
		"branches = [\n  \"main\",\n  \"[\"\n]":               "4: Invalid pattern: \"[\" is not a pattern of branches",
		"branches = [\"" + strings.Repeat("{a,a}", 9) + "\"]": "2: Invalid pattern",
		"branches = [" + strings.Repeat("\"a\", ", 101) + "]": "2: Too many patterns",
		"nested {\n}": "2: Unsupported block type",
	} {
		e, got := parsed(t, "production", body)
		if !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s\nwant %s", body, got, want)
		}
		if g, err := e.Grant("main"); err == nil || g.Name() != "" || g.Region() != "" || g.Runner() != (Runner{}) || len(g.Env()) > 0 {
			t.Errorf("%s: is granted", body)
		}
	}
	for _, name := range []string{"", "a b", "-x", strings.Repeat("x", 101), "a/b", "a\nb"} {
		if _, got := parsed(t, name, ""); !strings.Contains(got, "1: Invalid name of an environment") {
			t.Errorf("the name %q: %s", name, got)
		}
	}
	if e, got := parsed(t, "production", "runner = \"codebuild\""); got != "" || e.rights.runner != (Runner{Name: CodeBuild, At: "lockstep.hcl:2"}) {
		t.Errorf("a runner: %s, %+v", got, e.rights.runner)
	}
	image := "123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools/iac@sha256:" + strings.Repeat("a1", 32)
	if e, got := parsed(t, "production", "runner = \"codebuild\"\nimage = \""+image+"\""); got != "" || e.rights.runner != (Runner{CodeBuild, "lockstep.hcl:2", image}) {
		t.Errorf("an image: %s, %+v", got, e.rights.runner)
	}
	if e, got := parsed(t, "production", roles); got != "" || e.Name != "production" {
		t.Errorf("the roles of the table: %s", got)
	}
}
