package template

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// deployed returns the world of a template, and what there is to ask for in it.
func deployed(t *testing.T, x templates.Template) (*World, Catalogue) {
	t.Helper()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(string(text))
	if err != nil {
		t.Fatal(err)
	}
	w := Deploy(x, m)
	arns := map[string]string{}
	for name, r := range w.Resources {
		arns[name] = r.ARN
	}
	var c Catalogue
	templates.Ask(t, map[string]any{"list": map[string]any{"services": w.Services(), "resources": arns}}, &c)
	return w, c
}

// wrong returns what a template allows otherwise than the matrix, and how many requests for these actions were made;
// nil are all.
func wrong(t *testing.T, x templates.Template, actions []string) (out []string, made int) {
	t.Helper()
	w, c := deployed(t, x)
	out, asks := w.Idle(c), w.Asks(c)
	asks = slices.DeleteFunc(asks, func(a Ask) bool { return actions != nil && !slices.Contains(actions, a.Action) })
	var got []bool
	templates.Ask(t, map[string]any{"decide": map[string]any{
		"principals": w.Principals, "resources": w.Resources, "contexts": w.Contexts(), "asks": asks,
	}}, &got)
	for i, a := range asks {
		if a.Want != got[i] {
			out = append(out, fmt.Sprintf("%s: the matrix says %v, the template %v", a, a.Want, got[i]))
		}
	}
	return out, len(asks)
}

// TestRights holds that everybody may what the matrix says, and nobody anything else.
func TestRights(t *testing.T) {
	t.Parallel()
	found, made := wrong(t, templates.ReadTemplate(t, file), nil)
	for _, f := range found {
		t.Error(f)
	}
	t.Logf("%d requests were made", made)
}

// TestRightsFinds gives rights to names that only resemble those of the template's resources, all at once.
func TestRightsFinds(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, want := string(data), []string{}
	for _, test := range []struct{ old, new, want string }{
		{"Resource: !GetAtt Records.Arn", "Resource: !Sub \"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/records\"", "WebhookRole may dynamodb:GetItem on Records in delivery: the matrix says true"},
		{"function:${AWS::StackName}-apply\"", "function:${AWS::StackName}-other\"", "ApplyRole may lambda:GetFunction on ApplyFunction in called: the matrix says true"},
		{":secret:${AWS::StackName}/apps/*/github", ":secret:${AWS::StackName}*/apps/*/github", "PlanRole may secretsmanager:GetSecretValue on other-stacks-key in plain: the matrix says false"},
		{"Resource: !Sub \"${Artifacts.Arn}/*\"\n          # Without", "Resource: \"*\"\n          # Without", "PlanRole may s3:GetObject on states/ours in s3: the matrix says false"},
	} {
		if !strings.Contains(text, test.old) {
			t.Fatalf("%q is not in the template", test.old)
		}
		text, want = strings.Replace(text, test.old, test.new, 1), append(want, test.want)
	}
	found, _ := wrong(t, changed(t, string(data), text), []string{"dynamodb:GetItem", "lambda:GetFunction", "secretsmanager:GetSecretValue", "s3:GetObject"})
	for _, w := range want {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, w) }) {
			t.Errorf("%q is not said: %q", w, found)
		}
	}
}

// TestPolicyLint holds that policies name actions, resources and condition keys that there
// are, and that belong together.
func TestPolicyLint(t *testing.T) {
	t.Parallel()
	if said := lint(t, templates.ReadTemplate(t, file)); said != "" {
		t.Error(said)
	}
}

func lint(t *testing.T, x templates.Template) string {
	t.Helper()
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(string(text))
	if err != nil {
		t.Fatal(err)
	}
	type statement struct {
		At        string         `json:"at"`
		Statement map[string]any `json:"statement"`
		Resource  string         `json:"resource,omitempty"`
	}
	var in []statement
	w := Deploy(x, m)
	for _, d := range w.Policies {
		for _, s := range d.Resolved["Statement"].([]any) {
			x := statement{At: d.Name, Statement: s.(map[string]any)}
			if d.Kind != templates.RolePolicies && (x.Statement["Resource"] == nil || x.Statement["Resource"] == "*") {
				x.Resource = w.Resources[d.On[0]].ARN
			}
			in = append(in, x)
		}
	}
	var out []string
	templates.Ask(t, map[string]any{"lint": in}, &out)
	return strings.Join(out, "\n")
}

func TestPolicyLintFinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, want string }{
		"an action":           {"Action: sts:AssumeRole\n", "Action: sts:AssumeRoles\n", "there is no action sts:AssumeRoles"},
		"a service":           {"Action: secretsmanager:GetSecretValue", "Action: secretmanager:GetSecretValue", "there is no service secretmanager"},
		"another's resource":  {"Action: sqs:SendMessage\n                Resource: [!GetAtt Events.Arn]", "Action: sqs:SendMessage\n                Resource: [!GetAtt Records.Arn]", "sqs:SendMessage is for none of"},
		"a bucket's object":   {"Action: s3:ListBucket\n            Resource: !GetAtt Artifacts.Arn", "Action: s3:ListBucket\n            Resource: !Sub \"${Artifacts.Arn}/*\"", "s3:ListBucket is for none of"},
		"a resource too much": {"Resource: [!GetAtt Applies.Arn]", "Resource: [!GetAtt Applies.Arn, !GetAtt Records.Arn]", "none of its actions is for"},
		"a condition key":     {"dynamodb:LeadingKeys: [delivery]", "dynamodb:LeadingKey: [delivery]", "knows no condition key dynamodb:LeadingKey"},
		"another's key":       {"{ s3:x-amz-server-side-encryption: aws:kms }", "{ kms:ViaService: aws:kms }", "knows no condition key kms:ViaService"},
		"a global key":        {"aws:SourceAccount:", "aws:SourceAccounts:", "knows no condition key aws:SourceAccounts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if said := lint(t, changed(t, test.old, test.new)); !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}
