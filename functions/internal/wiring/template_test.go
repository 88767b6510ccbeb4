package wiring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const templateFile = "../../../template.yaml"

// logical is the name that a function has in the template.
func (f Function) logical() string { return strings.ToUpper(string(f[:1])) + string(f[1:]) }

// named returns what a Ref or a GetAtt names.
func named(v any) string {
	m, _ := v.(map[string]any)
	if s, ok := m["Ref"].(string); ok {
		return s
	}
	s, _ := m["Fn::GetAtt"].(string)
	name, _, _ := strings.Cut(s, ".")
	return name
}

// TestVariables holds that each function finds in its environment what it reads, and
// nothing else.
func TestVariables(t *testing.T) {
	x := templates.ReadTemplate(t, templateFile)
	for _, f := range functions {
		properties := x.Resources[f.logical()+"Function"].Properties
		vars := properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		var got []string
		for name := range vars {
			got = append(got, name)
		}
		want := variablesOf(f)
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s reads - and is given +:\n%s", f, d)
		}
		if want := "dist/" + string(f) + ".zip"; properties["CodeUri"] != want {
			t.Errorf("the code of %s is %v, and make build makes %s", f, properties["CodeUri"], want)
		}
		if named(properties["Role"]) != f.logical()+"Role" {
			t.Errorf("%s has another's role, %v", f, properties["Role"])
		}
	}
}

// TestBuildVariables holds that a build, which runs a function's program, finds in its environment what that reads, but for
// the project of builds: it starts none.
func TestBuildVariables(t *testing.T) {
	for _, f := range []Function{Plan, Apply} {
		testBuildVariables(t, f)
	}
}

func testBuildVariables(t *testing.T, f Function) {
	x := templates.ReadTemplate(t, templateFile)
	want := append(variablesOf(f), "LOCKSTEP_BUILD_MINUTES")
	want = slices.DeleteFunc(want, func(name string) bool { return name == "LOCKSTEP_BUILD_PROJECT" })
	apply := x.Resources[f.logical()+"Function"].Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
	var got []string
	for _, v := range x.Resources[f.logical()+"Build"].Properties["Environment"].(map[string]any)["EnvironmentVariables"].([]any) {
		name := v.(map[string]any)["Name"].(string)
		got = append(got, name)
		if d := cmp.Diff(apply[name], v.(map[string]any)["Value"]); apply[name] != nil && name != "LOCKSTEP_MIRROR" && d != "" {
			t.Errorf("%s: the function has - and the build +:\n%s", name, d)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a build reads - and is given +:\n%s", d)
	}
}

// TestQueues holds which function takes which queue, and how.
func TestQueues(t *testing.T) {
	x := templates.ReadTemplate(t, templateFile)
	type edge struct{ Queue, Function string }
	want := []edge{
		{"Applies", "ApplyFunction"}, {"AppliesDead", "JanitorFunction"}, {"Events", "PlanFunction"},
		{"EventsDead", "JanitorFunction"}, {"Plans", "PlanFunction"}, {"PlansDead", "JanitorFunction"},
	}
	var got []edge
	for name, r := range x.Resources {
		switch r.Type {
		case "AWS::Lambda::EventSourceMapping":
			got = append(got, edge{named(r.Properties["EventSourceArn"]), named(r.Properties["FunctionName"])})
			if d := cmp.Diff([]any{"ReportBatchItemFailures"}, r.Properties["FunctionResponseTypes"]); d != "" {
				t.Errorf("%s does not report failures of single messages", name)
			}
		case "AWS::SQS::Queue":
			if r.Properties["FifoQueue"] != true {
				t.Errorf("%s is no FIFO queue", name)
			}
			// Lambda accepts no queue that shows a message while it is handled.
			if r.Properties["VisibilityTimeout"].(int) < 900 {
				t.Errorf("%s shows messages after %v s", name, r.Properties["VisibilityTimeout"])
			}
			redrive, _ := r.Properties["RedrivePolicy"].(map[string]any)
			if strings.HasSuffix(name, "Dead") {
				break
			}
			if named(redrive["deadLetterTargetArn"]) != name+"Dead" || redrive["maxReceiveCount"] != pipeline.QueueName(strings.ToLower(name)).Receives() {
				t.Errorf("dead letters of %s: %v", name, redrive)
			}
		}
	}
	slices.SortFunc(got, func(a, b edge) int { return strings.Compare(a.Queue, b.Queue) })
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// checkTemplates has templates checked against AWS' description of resource types.
func checkTemplates(t *testing.T, files ...string) (string, error) {
	t.Helper()
	modules := filepath.Dir(statebackendtest.Part(t, "npm", "resources", "node_modules", "yaml-cfn"))
	node, err := exec.LookPath("node")
	if err != nil {
		statebackendtest.Missing(t, "node, which checks the template, is not installed")
	}
	args := append([]string{"../../../.ci/template.mjs", modules}, files...)
	out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
	return string(out), err
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	if out, err := checkTemplates(t, templateFile); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTemplateCheck holds that the check finds what is wrong.
func TestTemplateCheck(t *testing.T) {
	t.Parallel()
	right, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files, want []string
	for name, test := range map[string]struct{ old, new, want string }{
		"a property":           {"TargetFunctionArn:", "TargetFunction:", "there is no property TargetFunction"},
		"a missing property":   {"TargetFunctionArn:", "TargetFunction:", "TargetFunctionArn is missing"},
		"a property below":     {"NoncurrentDays:", "Days:", "there is no property Days"},
		"a type":               {"AWS::SQS::QueuePolicy", "AWS::SQS::Policy", "there is no resource type AWS::SQS::Policy"},
		"a reference":          {"!Ref Records", "!Ref Record", "Ref of Record, which is nothing"},
		"an attribute":         {"!GetAtt Key.Arn", "!GetAtt Key.ARN", "has no attribute ARN"},
		"a name in a text":     {"${WebhookLog.Arn}", "${WebhookLogs.Arn}", "GetAtt of WebhookLogs, which is no resource"},
		"a condition":          {"- HasStateTable", "- HasStatesTable", "there is no condition HasStatesTable"},
		"an unused parameter":  {"!Ref ApplyMemory", "1024", "ApplyMemory: is used by nothing"},
		"a kind of value":      {"VisibilityTimeout: 960", "VisibilityTimeout: soon", "must be an integer"},
		"a kind of value, too": {"FifoQueue: true", "FifoQueue: [true]", "must be true or false"},
		"a dependency":         {"DependsOn: WebhookLog", "DependsOn: WebhookLogs", "DependsOn WebhookLogs, which is no resource"},
		"a value of a list":    {"AuthType: NONE", "AuthType: ALL", "ALL is not"},
		"too much":             {"MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 1209601", "1209601 is not what it may be: 60 to 1209600"},
		"a parameter's limit":  {"MaxValue: 10240", "MaxValue: 20480", "PlanFunction.MemorySize: 20480 is not what it may be: 128 to 10240"},
		"a parameter's choice": {"AllowedValues: [7, 14,", "AllowedValues: [7, 15,", "RetentionInDays: 15 is not what it may be"},
		"a pattern":            {"AliasName: !Sub \"alias/", "AliasName: !Sub \"aliases/", "aliases/lockstep is not what it may be"},
		"a name that is long":  {"${AWS::StackName}-janitor\"\n      Description", "${AWS::StackName}-janitor-of-everything-that-was-missed-and-of-everything-that-died\"\n      Description", "JanitorFunction.FunctionName: lockstep-janitor-of"},
		"a value below":        {"KeyType: HASH", "KeyType: FIRST", "FIRST is not"},
		"a concurrency":        {"MaximumConcurrency: 2 ", "MaximumConcurrency: 1 ", "1 is not what it may be: 2 to 1000"},
		"no YAML":              {"Resources:", "Resources", "it is not readable"},
	} {
		wrong := strings.Replace(string(right), test.old, test.new, 1)
		if wrong == string(right) {
			t.Fatalf("%s: %q is not in the template", name, test.old)
		}
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		files, want = append(files, file), append(want, test.want)
	}
	out, err := checkTemplates(t, files...)
	if err == nil {
		t.Error("nothing is wrong")
	}
	for i, file := range files {
		found := ""
		for line := range strings.Lines(out) {
			if said, ok := strings.CutPrefix(line, file+": "); ok {
				found += said
			}
		}
		if !strings.Contains(found, want[i]) {
			t.Errorf("%s: it says %q, want %q", filepath.Base(file), found, want[i])
		}
	}
}
