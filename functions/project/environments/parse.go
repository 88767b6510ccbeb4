package environments

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// These are patterns of the values that go into requests and environments.
var (
	namePattern = blocks.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-arns
	rolePattern = blocks.Pattern(`^arn:[a-z-]+:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}$`)
	// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
	externalPattern = blocks.Pattern(`^[\w+=,.@:/-]{2,1000}$`)
	// deploymentPattern has the names that a check run can show, in brackets.
	deploymentPattern = blocks.Pattern(`^[a-z0-9][a-z0-9-]{0,39}$`)
	regionPattern     = blocks.Pattern(`^[a-z]{2,4}(-[a-z]{2,9}){1,2}-[0-9]{1,2}$`)
	// GitHub allows any name; a name of this pattern needs no escapes. Source:
	// https://docs.github.com/en/rest/deployments/environments
	githubPattern = blocks.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_ ./-]{0,99}$`)
	// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecretsmanager.html,
	// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
	secretPattern = blocks.Pattern(`^arn:[a-z-]+:(secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[\w/+=.@-]{1,519}|ssm:[a-z0-9-]+:[0-9]{12}:parameter/[\w/.-]{1,1000})$`)
	// Source: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html
	imagePattern    = blocks.Pattern(`^[0-9]{12}\.dkr\.ecr\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?/[a-z0-9][a-z0-9._/-]{1,255}@sha256:[0-9a-f]{64}$`)
	variablePattern = blocks.Pattern(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)
)

// These are limits of an environment block: the numbers of variables, secrets and branch patterns, and the
// length of a pattern in bytes.
const (
	maxNames    = 200
	maxSecrets  = 50
	maxBranches = 100
	maxPattern  = 200
	maxBraces   = 4
)

// Parse parses an environment block. If there are errors, it returns an environment that cannot be granted,
// because half an environment could have the role of another account.
func Parse(b *hcl.Block) (Environment, hcl.Diagnostics) {
	values, ds := grammar.Read(grammar.Environment, b.Body)
	p := &parser{values: values, diags: ds, out: Environment{Name: b.Labels[0], At: b.DefRange}}
	if !namePattern().MatchString(p.out.Name) {
		p.errorf(b.LabelRanges[0], "Invalid name of an environment", "The name consists of letters, digits and the characters _ . -, begins with a letter, a digit or _, and has at most 100 bytes.")
	}
	p.out.Variables = values["variables"].JSON()
	for _, x := range []struct {
		name string
		into *string
		form func() *regexp.Regexp
		want string
	}{
		{"plan_role", &p.out.rights.planRole, rolePattern, aRole},
		{"apply_role", &p.out.rights.applyRole, rolePattern, aRole},
		{"external_id", &p.out.rights.externalID, externalPattern, "two or more letters, digits and the characters + = , . @ : / - _"},
		{"github", &p.out.rights.github, githubPattern, "the name of an environment of GitHub, such as \"production\""},
		{"region", &p.out.rights.region, regionPattern, "the name of a region, such as \"eu-central-1\""},
		{"deployment", &p.out.deployment, deploymentPattern, aDeployment},
	} {
		p.text(x.name, x.into, x.form, x.want)
	}
	p.out.Refresh = Refresh{Objects: Reads(values["refresh"].Text()), Data: Reads(values["refresh_data"].Text())}
	p.roles(b.DefRange)
	p.env()
	p.secrets(b.DefRange)
	if v, ok := values["runner"]; ok {
		p.out.rights.runner = Runner{Name: v.Text(), At: line(v.At)}
	}
	p.image()
	p.branches()
	if p.diags.HasErrors() {
		if CheckDeployment(p.out.deployment) != nil {
			p.out.deployment = "" // somebody has to report the error
		}
		return Environment{Name: p.out.Name, At: b.DefRange, Variables: p.out.Variables, deployment: p.out.deployment, broken: true}, p.diags
	}
	return p.out, p.diags
}

const aDeployment = "the name of a deployment: small letters, digits and -, at most 40, a letter or digit first"

// CheckDeployment returns an error, a sentence for people, if a text is not a valid name of a deployment. "" is
// valid.
func CheckDeployment(name string) error {
	if name != "" && !deploymentPattern().MatchString(name) {
		return fmt.Errorf("%q is not %s", name, aDeployment)
	}
	return nil
}

const aRole = "the ARN of a role: \"arn:aws:iam::123456789012:role/NAME\""

type parser struct {
	values map[string]grammar.Value
	diags  hcl.Diagnostics
	out    Environment
}

func (p *parser) errorf(at hcl.Range, summary, detail string, args ...any) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

func (p *parser) text(name string, into *string, form func() *regexp.Regexp, want string) {
	v, ok := p.values[name]
	if !ok {
		return
	}
	if *into = v.Text(); !form().MatchString(*into) {
		p.errorf(v.At, "Invalid value", "The argument %q must be %s.", name, want)
	}
}

// image reads the image of builds.
func (p *parser) image() {
	v, ok := p.values["image"]
	switch {
	case !ok:
	case p.out.rights.runner.Name != CodeBuild:
		p.errorf(v.At, "Image without builds", "Only builds have an image. Add runner = \"codebuild\", or remove image.")
	case !strings.Contains(v.Text(), "@"):
		p.errorf(v.At, "Image without a digest", "A tag can name another image tomorrow. Name the image by its digest: \"ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME@sha256:...\". The command `aws ecr describe-images --repository-name NAME` prints it.")
	default:
		p.text("image", &p.out.rights.runner.Image, imagePattern, "an image in ECR with its digest: \"123456789012.dkr.ecr.eu-central-1.amazonaws.com/tools@sha256:...\"")
	}
}

// roles reports an error if only one of the two roles is set. The deployment's role would then be used for the
// plans or for the applies. That role may belong to another account.
func (p *parser) roles(at hcl.Range) {
	r := p.out.rights
	switch {
	case (r.planRole == "") != (r.applyRole == ""):
		p.errorf(at, "One role is missing", "An environment needs both plan_role and apply_role, or neither. Add the missing one. Both can be the same role.")
	case r.externalID != "" && r.planRole == "":
		p.errorf(p.values["external_id"].At, "External ID without a role", "An external_id needs plan_role and apply_role. Add both, or remove external_id.")
	}
}

// secrets reads the names of secrets.
func (p *parser) secrets(at hcl.Range) {
	v, ok := p.values["secrets"]
	if !ok {
		return
	}
	for name, x := range v.Items() {
		p.out.rights.secrets = append(p.out.rights.secrets, Secret{name, x.Text(), line(x.At)})
		switch {
		case !variablePattern().MatchString(name):
			p.errorf(x.At, "Invalid name of an environment variable", "The name %q must consist of letters, digits and _, and must not begin with a digit.", name)
		case ours(name):
			p.errorf(x.At, "Credentials in secrets", "Lockstep sets %s from plan_role or apply_role. Remove it.", name)
		case p.out.rights.env[name] != "":
			p.errorf(x.At, "Two values of one variable", "The variable %s is in env and in secrets. Remove one of the two.", name)
		case !secretPattern().MatchString(x.Text()):
			// The value may be the secret itself, so the error does not repeat it.
			p.errorf(hcl.Range{Filename: x.At.Filename, Start: x.At.Start, End: x.At.Start}, "Invalid name of a secret", "The secret %s must be the ARN of a secret in Secrets Manager, \"arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME\", or of a parameter in SSM, \"arn:aws:ssm:REGION:ACCOUNT:parameter/NAME\". If the secret itself stands there, change it: whoever may read the repository has read it.", name)
		}
	}
	if n := len(p.out.rights.secrets); n > maxSecrets {
		p.errorf(v.At, "Too many secrets", "There are %d secrets, and at most %d are allowed, because each run reads all of them. Put several values into one secret, or write another environment.", n, maxSecrets)
	}
	if p.out.rights.planRole == "" {
		p.errorf(at, "Secrets without a role", "Lockstep reads secrets with plan_role and apply_role. Add both to the environment.")
	}
}

// ours reports whether an environment variable contains AWS credentials. Lockstep sets these itself, so a block
// must not.
func ours(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "AWS_ACCESS_KEY") || strings.HasPrefix(upper, "AWS_SECRET") || strings.HasPrefix(upper, "AWS_SESSION_TOKEN")
}

// env reads the variables of the environment.
func (p *parser) env() {
	v, ok := p.values["env"]
	if !ok {
		return
	}
	p.out.rights.env = map[string]string{}
	for name, x := range v.Items() {
		p.out.rights.env[name] = x.Text()
		switch upper := strings.ToUpper(name); {
		case !variablePattern().MatchString(name):
			p.errorf(x.At, "Invalid name of an environment variable", "The name %q must consist of letters, digits and _, and must not begin with a digit.", name)
		case strings.HasPrefix(upper, "TF_VAR_"):
			p.errorf(x.At, "Variable in env", "Write the value into variables = { %s = ... }, or a secret value into secrets.", name[len("TF_VAR_"):])
		case ours(name):
			p.errorf(x.At, "Credentials in env", "Lockstep sets %s from plan_role or apply_role. Remove it: no key belongs into the repository.", name)
		case strings.ContainsFunc(x.Text(), unicode.IsControl):
			p.errorf(x.At, "Invalid value", "The value of %s contains control characters.", name)
		}
	}
	if len(p.out.rights.env) > maxNames {
		p.errorf(v.At, "Too many variables", "There are %d variables in env, and at most %d are allowed.", len(p.out.rights.env), maxNames)
	}
}

func (p *parser) branches() {
	v := p.values["branches"]
	for _, x := range v.List() {
		s := x.Text()
		if s == "" || len(s) > maxPattern || strings.Count(s, "{") > maxBraces || !doublestar.ValidatePattern(s) {
			p.errorf(x.At, "Invalid pattern", "%q is not a pattern of branches: * stands for any name, ** for any names with slashes between, {a,b} for either. It has at most %d bytes and %d braces.", s, maxPattern, maxBraces)
		}
		p.diags = append(p.diags, blocks.NoBranch(s, x.At)...)
		p.out.branches = append(p.out.branches, s)
	}
	switch _, ok := p.values["branches"]; {
	case ok && len(p.out.branches) == 0 && !p.diags.HasErrors():
		p.errorf(v.At, "No branches", "The list is empty, so no pull request could use the environment. Name branches, or remove the argument.")
	case len(p.out.branches) > maxBranches:
		p.errorf(v.At, "Too many patterns", "There are %d patterns, and at most %d are allowed: ** stands for any branch.", len(p.out.branches), maxBranches)
	}
}
