package docs

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A stack is what the documentation has of template.yaml.
type stack struct {
	Metadata struct {
		Interface struct {
			ParameterGroups []struct {
				Label struct {
					Default string `yaml:"default"`
				} `yaml:"Label"`
				Parameters []string `yaml:"Parameters"`
			} `yaml:"ParameterGroups"`
		} `yaml:"AWS::CloudFormation::Interface"`
	} `yaml:"Metadata"`
	Parameters map[string]struct {
		Type          string  `yaml:"Type"`
		Description   string  `yaml:"Description"`
		Default       *string `yaml:"Default"`
		MinValue      *int    `yaml:"MinValue"`
		MaxValue      *int    `yaml:"MaxValue"`
		AllowedValues []any   `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
	Resources map[string]struct {
		Type       string    `yaml:"Type"`
		Properties yaml.Node `yaml:"Properties"`
	} `yaml:"Resources"`
	Outputs map[string]struct {
		Description string `yaml:"Description"`
	} `yaml:"Outputs"`
}

// readStack reads template.yaml.
func readStack(t *testing.T) (s stack) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, "template.yaml")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAlarms holds that each alarm of the template has a section in operate/alarms, to which its description leads.
func TestAlarms(t *testing.T) {
	t.Parallel()
	const at = "https://github.com/lockstep-iac/lockstep/blob/main/cmd/docs/operate/alarms.md#"
	all, found := Read(), 0
	for name, r := range ordered(readStack(t).Resources) {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		found++
		var alarm struct {
			Description string `yaml:"AlarmDescription"`
		}
		if err := r.Properties.Decode(&alarm); err != nil {
			t.Fatal(err)
		}
		if anchor := page.Slug(name); !strings.HasSuffix(strings.TrimSuffix(alarm.Description, "."), at+anchor) {
			t.Errorf("%s: its description does not lead to %s%s: %s", name, at, anchor, alarm.Description)
		} else if _, err := all.Find("operate/alarms#" + anchor); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if found == 0 {
		t.Error("the template has no alarms")
	}
}

// TestReference generates the pages whose sources are no tables of code.
func TestReference(t *testing.T) {
	t.Run("template", func(t *testing.T) {
		golden.File(t, "reference/template.md", templatePage(t))
	})
	t.Run("compatibility", func(t *testing.T) {
		golden.File(t, "reference/compatibility.md", compatibilityPage(t))
	})
	t.Run("threats", func(t *testing.T) {
		golden.File(t, "reference/threats.md", threatsPage(t))
	})
}

// templatePage is the page of the parameters and outputs of template.yaml.
func templatePage(t *testing.T) string {
	s := readStack(t)
	var b strings.Builder
	b.WriteString("# Stack: parameters and outputs\n\nThis page lists the parameters and outputs of `template.yaml`, the CloudFormation stack of a deployment on AWS.\n\n" +
		"`lockstep deploy` sets the parameters that it needs. Change one with `lockstep deploy -parameter NAME=VALUE`.\n")
	listed := 0
	for _, g := range s.Metadata.Interface.ParameterGroups {
		fmt.Fprintf(&b, "\n## %s\n", g.Label.Default)
		for _, name := range g.Parameters {
			p, ok := s.Parameters[name]
			if !ok || p.Description == "" {
				t.Errorf("template.yaml: the parameter %s of a group is not there, or has no description", name)
			}
			listed++
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", name, literal(p.Description))
			value := map[string]string{"Number": "a number", "String": "a text"}[p.Type]
			switch {
			case p.AllowedValues != nil:
				value = "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(p.AllowedValues), " ", ", "), "[]")
			case p.MinValue != nil && p.MaxValue != nil:
				value += fmt.Sprintf(" from %d to %d", *p.MinValue, *p.MaxValue)
			case p.MinValue != nil:
				value += fmt.Sprintf(" from %d", *p.MinValue)
			}
			standard := "Required"
			if p.Default != nil {
				standard = "Default: `" + *p.Default + "`"
				if *p.Default == "" {
					standard = "Default: empty"
				}
			}
			fmt.Fprintf(&b, "Value: %s. %s.\n", value, standard)
		}
	}
	if listed != len(s.Parameters) {
		t.Errorf("template.yaml: %d parameters of %d are in a group", listed, len(s.Parameters))
	}
	b.WriteString("\n## Outputs\n\n| output | meaning |\n|---|---|\n")
	for name, o := range ordered(s.Outputs) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, literal(o.Description))
	}
	return b.String()
}

// literal returns a text whose characters have no meaning in Markdown.
func literal(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;").Replace(strings.TrimSpace(text))
}

// ordered yields a map by its keys.
func ordered[V any](m map[string]V) func(func(string, V) bool) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return func(yield func(string, V) bool) {
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// tested are the programs and servers that the tests use. Each version is that of a pin: the group of a pattern in a file.
var tested = []struct {
	title, about string
	pins         []pin
}{
	{"Programs that drive Terraform", "These programs work with `lockstep` under the name `terraform` on the PATH. Tests compare the results with those of Terraform 1.11.", []pin{
		{"Terragrunt", ".ci/parts", `TERRAGRUNT=v(\S+)`},
		{"Atlantis", ".ci/parts", `ATLANTIS=v(\S+)`},
		{"Terratest", "cmd/clients/testdata/terratest/go.mod", `gruntwork-io/terratest v(\S+)`},
		{"CDK for Terraform", ".ci/parts", `CDKTF=(\S+)`},
		{"terraform-ls", ".ci/parts", `TERRAFORM_LS=v(\S+)`},
		{"terraform-exec", "go.mod", `hashicorp/terraform-exec v(\S+)`},
		{"terraform-plugin-testing", providers, `hashicorp/terraform-plugin-testing v(\S+)`},
	}},
	{"Servers", "The tests use these servers in the place of AWS and GitHub. [S3-compatible servers](../guide/states.md#use-an-s3-compatible-server) has more of them.", []pin{
		{"versitygw (S3)", ".ci/parts", `VERSITYGW=v(\S+)`},
		{"dynoxide (DynamoDB)", ".ci/parts", `DYNOXIDE=(\S+)`},
		{"dynalite (DynamoDB)", ".ci/parts", `DYNALITE=(\S+)`},
		{"fauxqs (SQS)", ".ci/parts", `FAUXQS=(\S+)`},
		{"local-kms (KMS)", "statebackend/kms/kmstest/testdata/server/go.mod", `nsmithuk/local-kms v(\S+)`},
		{"goaws (SNS)", "functions/pipeline/lambdatest/testdata/sns/go.mod", `Admiral-Piett/goaws v(\S+)`},
		{"AWS Lambda runtime interface emulator", ".ci/parts", `LAMBDA_RIE=v(\S+)`},
		{"emulate (GitHub)", ".ci/parts", `EMULATE=(\S+)`},
	}},
	{"Providers", "The tests use these providers, and providers made with these libraries. Lockstep speaks the plugin protocols 5 and 6.", []pin{
		{"hashicorp/time", ".ci/parts", `PROVIDER_TIME=(\S+)`},
		{"hashicorp/local", ".ci/parts", `PROVIDER_LOCAL=(\S+)`},
		{"terraform-plugin-framework", providers, `hashicorp/terraform-plugin-framework v(\S+)`},
		{"terraform-plugin-sdk", providers, `hashicorp/terraform-plugin-sdk/v2 v(\S+)`},
	}},
}

// providers pins what the providers of the tests are made with.
const providers = "engine/provider/testdata/providers/go.mod"

// A pin is the version of one of them.
type pin struct{ name, file, pattern string }

// compatibilityPage is the page of versions that tests use.
func compatibilityPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Compatibility\n\nThis page lists the programs, servers and providers that Lockstep's tests use, with their versions.\n\n" +
		"Lockstep reads the configuration language and the states of Terraform 1.16 and earlier. Other versions of these programs may work, but no test has tried them.\n" +
		"No test has run on AWS or GitHub itself.\n")
	for _, part := range tested {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| name | version |\n|---|---|\n", part.title, part.about)
		for _, p := range part.pins {
			m := regexp.MustCompile(`\b` + p.pattern).FindStringSubmatch(read(t, p.file))
			if m == nil {
				t.Errorf("%s: %s has no pin %s", p.name, p.file, p.pattern)
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |\n", p.name, m[1])
		}
	}
	b.WriteString("\n## Never tried on AWS\n\nThis list has each part of AWS that a deployment uses, and which server replaces it in the tests.\n\n| part of AWS | in the tests | only on AWS |\n|---|---|---|\n")
	for _, x := range untried {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x[0], x[1], x[2])
	}
	return b.String()
}

// untried are the parts of AWS, the servers that replace them in the tests, and what only AWS itself can show.
var untried = [][3]string{
	{"S3", "versitygw", "Object Lock of a real bucket, encryption by the bucket's key, limits of requests by prefix"},
	{"DynamoDB", "dynoxide, dynalite", "deletion of items whose time is over, throttling"},
	{"SQS, and its triggers of functions", "fauxqs, and a trigger of ours", "how fast AWS raises the number of functions that work at once"},
	{"Lambda", "a runtime of ours, which freezes and kills; AWS' runtime interface emulator", "memory and CPU that AWS gives, and how long a start takes"},
	{"the address of the webhook function", "a server of ours, by AWS' description of the event", "limits of requests"},
	{"KMS", "local-kms, with a policy of ours", "policies of keys, grants, throttling"},
	{"SNS", "goaws, with a policy of ours", "delivery to subscribers in other accounts and by other protocols"},
	{"STS, IAM", "a server of ours, which enforces roles, session policies and trust; a simulator of policies", "permission boundaries and policies of an organization"},
	{"Secrets Manager, Systems Manager", "a server of ours, by AWS' description of the requests", "rotation"},
	{"EventBridge Scheduler", "a call of the function by the test, with the rights and the input of the template's schedule; schedules by AWS' description", "that the schedule calls the function"},
	{"CodeBuild", "a server of ours, which runs the project's own script", "the images of AWS, the network of a build"},
	{"CloudFormation", "a reader of the template, checked against AWS' description of each resource; a server of ours for `lockstep deploy`", "creating, updating and deleting the stack"},
	{"CloudWatch", "nothing: alarms, metrics and the dashboard are compared with AWS' description of their formats", "all of it"},
}

// threatsPage is the page of threats.
func threatsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Threats\n\nThis page lists the attacks and accidents that Lockstep defends against.\n\n" +
		"For each threat, tests weaken every defence in turn and check that an attack is noticed then. [Security model](../explain/security.md) describes the defences.\n")
	for line := range strings.Lines(read(t, "functions/internal/threats/testdata/threats.txt")) {
		line = strings.TrimSpace(line)
		name, sentence, ok := strings.Cut(line, ": ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !ok || name == "open" {
			t.Errorf("threats.txt: %s: a threat without a defence is none for readers", line)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", strings.ToUpper(name[:1])+name[1:], literal(sentence))
	}
	return b.String()
}
