package template

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

const file = "../../../template.yaml"

// TestTemplateCanBeMade holds that CloudFormation can make template.yaml's resources one
// after the other.
func TestTemplateCanBeMade(t *testing.T) {
	x := templates.ReadTemplate(t, file)
	for _, p := range Problems(x) {
		t.Error(p)
	}
	order, err := Order(x)
	if err != nil {
		t.Fatal(err)
	}
	if len(order) < len(x.Resources) {
		t.Errorf("of %d resources only %d are made", len(x.Resources), len(order))
	}
	for _, pair := range [][2]string{
		{"PlanRole", "Key"}, {"Key", "Artifacts"}, {"Artifacts", "PlanArtifacts"}, {"PlanArtifacts", "PlanFunction"},
		{"EventsDead", "Events"}, {"WebhookLog", "WebhookFunction"}, {"JanitorFunction", "JanitorFunctionEventInvokeConfig"},
	} {
		if slices.Index(order, pair[0]) > slices.Index(order, pair[1]) {
			t.Errorf("%s is made after %s", pair[0], pair[1])
		}
	}
	t.Logf("%d resources, in this order: %s", len(order), strings.Join(order, " "))
}

// changed returns template.yaml with one place changed.
func changed(t *testing.T, old, new string) templates.Template {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(data), old, new, 1)
	if wrong == string(data) {
		t.Fatalf("%q is not in the template", old)
	}
	name := filepath.Join(t.TempDir(), "template.yaml")
	if err := os.WriteFile(name, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	return templates.ReadTemplate(t, name)
}

func TestProblems(t *testing.T) {
	conditional := "  Records:\n    Condition: HasStateTable\n"
	for name, test := range map[string]struct{ old, new, want string }{
		"the key's role names the key": {
			"Resource: !Ref AppKeySecretArn\n", "Resource: [!Ref AppKeySecretArn, !GetAtt Key.Arn]\n", "a cycle: Key needs PlanRole needs Key",
		},
		"a longer cycle": {
			"  PlanArtifacts:\n", "  PlanArtifacts:\n    DependsOn: PlanEvents\n", "a cycle: PlanArtifacts needs PlanEvents needs PlanFunction needs PlanArtifacts",
		},
		"a cycle by DependsOn":    {"  Events:\n    Type", "  Events:\n    DependsOn: PlanEvents\n    Type", "a cycle: "},
		"a cycle by Sub":          {"GroupName: !Sub \"/aws/lambda/${AWS::StackName}-plan\"", "GroupName: !Sub \"/aws/lambda/${PlanFunction}\"", "needs PlanLog needs PlanFunction needs"},
		"itself":                  {"  Events:\n    Type", "  Events:\n    DependsOn: Events\n    Type", "a cycle: Events needs Events"},
		"a reference":             {"!Ref Records", "!Ref Record", "there is no resource or parameter Record"},
		"a parameter":             {"!Ref PlanMemory", "!Ref PlanMemories", "there is no resource or parameter PlanMemories"},
		"a name in a text":        {"${WebhookLog.Arn}", "${WebhookLogs.Arn}", "there is no resource or parameter WebhookLogs"},
		"a pseudo parameter":      {"${AWS::Partition}", "${AWS::Part}", "there is no resource or parameter AWS::Part"},
		"a condition":             {"- HasStateTable", "- HasStatesTable", "there is no condition HasStatesTable"},
		"a resource's condition":  {"  Records:\n", "  Records:\n    Condition: HasRecords\n", "there is no condition HasRecords"},
		"a dependency":            {"DependsOn: WebhookLog", "DependsOn: WebhookLogs", "there is no resource WebhookLogs"},
		"an unused parameter":     {"!Ref ApplyMemory", "1024", "ApplyMemory: is used by nothing"},
		"a parameter not asked":   {"BuildTimeout, Eph", "Eph", "BuildTimeout is in 0 groups"},
		"a group's parameter":     {"BuildTimeout, Eph", "BuildTimeouts, BuildTimeout, Eph", "there is no parameter BuildTimeouts"},
		"missing at times":        {"  Records:\n", conditional, "Records is there under the condition HasStateTable only"},
		"missing for an output":   {"  ApplyLog:\n", "  ApplyLog:\n    Condition: HasAlarmTopic\n", "ApplyLog is there under the condition HasAlarmTopic only"},
		"a condition of resource": {"!Equals [!Ref StateTable, \"\"]", "!Equals [!Ref Records, \"\"]", "a condition is known before Records is made"},
		"rights come later":       {"DependsOn: [PlanLog, PlanArtifacts, PlanBuilds]", "DependsOn: PlanLog", "PlanFunction: it can begin before PlanBuilds is there"},
		"rights of many":          {"  KeyAlias:\n", "  More:\n    Type: AWS::IAM::Policy\n    Properties:\n      PolicyName: more\n      Roles: [!Ref PlanRole]\n      PolicyDocument: { Statement: [] }\n\n  KeyAlias:\n", "PlanFunction: it can begin before More is there"},
		"the log comes later":     {"/aws/lambda/${AWS::StackName}-janitor", "/aws/lambda/${AWS::StackName}-webhook", "WebhookFunction: it can begin before JanitorLog is there"},
		"a name that SAM gives":   {"  Records:\n", "  JanitorFunctionEventInvokeConfig:\n    Type: AWS::SQS::Queue\n  Records:\n", "SAM makes a resource of this name"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Problems(changed(t, test.old, test.new)), "\n")
			if !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
